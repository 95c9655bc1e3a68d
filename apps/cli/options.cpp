#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

#include "deft/core/log.hpp"
#include "deft/core/resources.hpp"
#include "deft/core/version.hpp"

namespace deft::cli {

void add_output_options(CLI::App& command, OutputOptions& options) {
  command.add_flag("--json", options.json, "One JSON object on standard output")->group("Output");
  command.add_flag("--quiet", options.quiet, "No progress and no warnings")->group("Output");
  command.add_flag("-v,--verbose", options.verbosity, "More log lines (twice: all)")->group("Output");
  command.set_version_flag("--version", std::string("deft ") + version(), "Print the version")->group("Output");
}

void apply(const OutputOptions& options) {
  const log::Level levels[] = {log::Level::kWarning, log::Level::kInfo, log::Level::kDebug};
  log::set_level(options.quiet ? log::Level::kError : levels[std::min(options.verbosity, 2)]);
}

void add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                    const std::string& help, const std::string& type) {
  // One value per mention: `--set step.h=0.05 SCENE` must leave the scene alone.
  command.add_option(name, values, help + " (may be repeated)")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name(type)
      ->group("Scene");
}

void add_package_path(CLI::App& command, std::vector<std::string>& package_paths) {
  add_repeatable(command, "--package-path", package_paths, "Folder in which package:// names are looked up first",
                 "DIR");
}

void add_scene_options(CLI::App& command, SceneOptions& options, bool scene_required) {
  command.add_option("SCENE", options.scene, "Scene file (deft, q_sys or Drake directives), or a model file")
      ->required(scene_required);
  add_override_options(command, options);
}

void add_override_options(CLI::App& command, SceneOptions& options) {
  add_repeatable(command, "--with", options.overlays, "Overlay merged over the scene, later ones win", "FILE");
  add_repeatable(command, "--set", options.settings, "One value of the scene, for example step.h=0.05", "KEY=VALUE");
  add_package_path(command, options.package_paths);
  command.add_option("--h", options.h, "Step length [s], step.h")->type_name("SECONDS")->group("Scene");
  command.add_option("--model", options.model, "Step model, step.model")->type_name("NAME")->group("Scene");
  command.add_option("--kappa", options.kappa, "Smoothing [1/J], inf = exact, step.kappa")
      ->type_name("NUMBER")
      ->group("Scene");
  command.add_option("--seed", options.seed, "Seed of everything random")->type_name("N")->group("Scene");
  command.add_option("--threads", options.threads, "Threads, 0 = one per core; results do not depend on it")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->group("Scene");
}

io::SceneFileOptions scene_file_options(const SceneOptions& options) {
  io::SceneFileOptions result{options.overlays, options.settings, options.package_paths, resource("scenes")};
  if (options.h) result.settings.push_back("step.h=" + *options.h);
  if (options.model) result.settings.push_back("step.model=" + *options.model);
  if (options.kappa) result.settings.push_back("step.kappa=" + *options.kappa);
  return result;
}

scene::Scene load(const SceneOptions& options, const OutputOptions& output, Diagnostics& diagnostics) {
  try {
    scene::Scene scene = io::load_scene(options.scene, scene_file_options(options), diagnostics);
    print(diagnostics.all(), output);
    return scene;
  } catch (const InputError& error) {
    std::vector<Diagnostic> warnings, errors;
    std::partition_copy(error.diagnostics().begin(), error.diagnostics().end(), std::back_inserter(warnings),
                        std::back_inserter(errors),
                        [](const Diagnostic& d) { return d.severity == Severity::kWarning; });
    print(warnings, output);
    if (errors.empty()) throw;
    throw InputError(errors);
  }
}

void print(std::span<const Diagnostic> diagnostics, const OutputOptions& output) {
  const std::vector<Diagnostic> lines = output.verbosity > 0
                                            ? std::vector<Diagnostic>(diagnostics.begin(), diagnostics.end())
                                            : gathered(diagnostics, "; -v lists them");
  for (const Diagnostic& diagnostic : lines) {
    if (diagnostic.severity == Severity::kError || !output.quiet) fmt::print(stderr, "{}\n", to_string(diagnostic));
  }
}

}  // namespace deft::cli
