// deft check SCENE…: everything wrong or suspicious in scenes and model files, with what cures it.

#include <CLI/CLI.hpp>
#include <memory>

#include "check_json.hpp"
#include "command.hpp"
#include "deft/authoring/scene_checks.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/core/resources.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "json.hpp"
#include "options.hpp"

namespace deft::cli {
namespace {

constexpr const char* kFrictionCure = "mu: 0.5 on the body, or friction: {default: 0.5} for all that state none";

struct CheckOptions {
  OutputOptions output;
  std::vector<std::string> scenes, overlays, settings, package_paths;
  bool strict = false;
};

/// What was found in one scene: while it was read, and once it was built.
struct Found {
  std::vector<Diagnostic> diagnostics;
  std::vector<authoring::Finding> findings;
};

/// The errors of a failed build come with its exception.
Found check(const std::string& file, const CheckOptions& options) {
  Diagnostics diagnostics;
  Found found;
  try {
    const scene::Scene scene = io::load_scene(
        file, {options.overlays, options.settings, options.package_paths, resource("scenes")}, diagnostics);
    found.findings = authoring::check_scene(scene);
  } catch (const InputError& error) {
    if (!diagnostics.has_errors()) {
      found.diagnostics.assign(error.diagnostics().begin(), error.diagnostics().end());
      return found;
    }
  }
  found.diagnostics.assign(diagnostics.all().begin(), diagnostics.all().end());
  return found;
}

std::string_view word(Severity severity) { return severity == Severity::kError ? "error" : "warning"; }

Json entry(const Diagnostic& diagnostic) {
  const auto known = [](int place) { return place > 0 ? Json(place) : Json(nullptr); };
  const SourceLocation& where = diagnostic.where;
  const bool is_friction = diagnostic.kind.find("friction") != std::string::npos;
  return {{"file", where.file},
          {"line", known(where.line)},
          {"column", known(where.column)},
          {"message", diagnostic.message},
          {"kind", is_friction ? "friction" : "file"},
          {"severity", word(diagnostic.severity)},
          {"cure", is_friction ? Json(kFrictionCure) : Json(nullptr)}};
}

/// What each kind calls those whom it is about.
Json entry(const std::string& file, const authoring::Finding& finding, Severity severity) {
  Json one{{"file", file},         {"line", nullptr},
           {"column", nullptr},    {"message", finding.message},
           {"kind", finding.kind}, {"severity", word(severity)},
           {"cure", finding.cure}};
  if (finding.names.size() == 2)
    one["pair"] = finding.names;
  else
    one[finding.kind == "unreachable" ? "goal" : "joint"] = finding.names.at(0);
  for (const auto& [name, value] : finding.values) one[name] = number(value);
  return one;
}

/// What was found in all scenes: as JSON, and as lines for people in the order found.
struct Report {
  Json errors = Json::array(), warnings = Json::array();
  std::vector<std::string> lines;
};

Report check_all(const CheckOptions& options) {
  Report report;
  const auto list = [&](Severity severity, Json one, std::string line) {
    (severity == Severity::kError ? report.errors : report.warnings).push_back(std::move(one));
    report.lines.push_back(std::move(line));
  };
  for (const std::string& scene : options.scenes) {
    Found found = check(scene, options);
    for (Diagnostic& diagnostic : found.diagnostics) {
      if (options.strict) diagnostic.severity = Severity::kError;
      list(diagnostic.severity, entry(diagnostic), to_string(diagnostic));
    }
    const Severity severity = options.strict ? Severity::kError : Severity::kWarning;
    for (const authoring::Finding& finding : found.findings)
      list(severity, entry(scene, finding, severity),
           to_string({severity, {scene, 0, 0}, fmt::format("{}\n  cure: {}", finding.message, finding.cure), {}}));
  }
  return report;
}

int run(const CheckOptions& options) {
  apply(options.output);
  const auto [errors, warnings, lines] = check_all(options);
  if (options.output.json) {
    print_json({{"errors", errors}, {"warnings", warnings}});
  } else {
    for (const std::string& line : lines) fmt::print("{}\n", line);
    fmt::print("{} {}: {} errors, {} warnings\n", options.scenes.size(), options.scenes.size() == 1 ? "file" : "files",
               errors.size(), warnings.size());
  }
  return errors.empty() ? kDone : kBadInput;
}

}  // namespace

std::string check_json(const std::string& scene, const std::vector<std::string>& package_paths) {
  Report report = check_all({.output = {}, .scenes = {scene}, .package_paths = package_paths});
  for (Json& warning : report.warnings) report.errors.push_back(std::move(warning));
  return text_of(report.errors);
}

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
