// deft check SCENE…: everything wrong or suspicious in scenes and model files.

#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "json.hpp"
#include "options.hpp"

namespace deft::cli {
namespace {

struct CheckOptions {
  OutputOptions output;
  std::vector<std::string> scenes, overlays, settings, package_paths;
  bool strict = false;
};

/// What loading one scene found; the errors of a failed build come with its exception.
std::vector<Diagnostic> check(const std::string& scene, const CheckOptions& options) {
  Diagnostics diagnostics;
  try {
    io::load_scene(scene, {options.overlays, options.settings, options.package_paths, DEFT_SCENES_DIR}, diagnostics);
  } catch (const InputError& error) {
    if (!diagnostics.has_errors()) return {error.diagnostics().begin(), error.diagnostics().end()};
  }
  return {diagnostics.all().begin(), diagnostics.all().end()};
}

Json entry(const Diagnostic& diagnostic) {
  const auto known = [](int place) { return place > 0 ? Json(place) : Json(nullptr); };
  const SourceLocation& where = diagnostic.where;
  return {{"file", where.file},
          {"line", known(where.line)},
          {"column", known(where.column)},
          {"message", diagnostic.message}};
}

int run(const CheckOptions& options) {
  apply(options.output);
  Json errors = Json::array(), warnings = Json::array();
  std::vector<Diagnostic> all;
  for (const std::string& scene : options.scenes) {
    for (Diagnostic& found : check(scene, options)) {
      if (options.strict) found.severity = Severity::kError;
      (found.severity == Severity::kError ? errors : warnings).push_back(entry(found));
      all.push_back(std::move(found));
    }
  }
  if (options.output.json) {
    print_json({{"errors", errors}, {"warnings", warnings}});
  } else {
    for (const Diagnostic& found : all) fmt::print("{}\n", to_string(found));
    fmt::print("{} {}: {} errors, {} warnings\n", options.scenes.size(), options.scenes.size() == 1 ? "file" : "files",
               errors.size(), warnings.size());
  }
  return errors.empty() ? kDone : kBadInput;
}

}  // namespace

Command add_check(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("check", "Load scenes or model files and report everything wrong or suspicious");
  const auto options = std::make_shared<CheckOptions>();
  command->add_option("SCENE", options->scenes, "Scene or model files")->required();
  command->add_flag("--strict", options->strict, "Warnings count as errors");
  add_repeatable(*command, "--with", options->overlays, "Overlay merged over each scene", "FILE");
  add_repeatable(*command, "--set", options->settings, "One value of each scene, for example step.h=0.05", "KEY=VALUE");
  add_package_path(*command, options->package_paths);
  add_output_options(*command, options->output);
  return {command, [options] { return run(*options); }};
}

}  // namespace deft::cli
