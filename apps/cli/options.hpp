#pragma once
// Options that several commands share, and what they mean.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/io/scene/scene_file.hpp"

namespace CLI {
class App;
}

namespace deft::cli {

/// --json --quiet -v --version: every command.
struct OutputOptions {
  bool json = false;   // one JSON object on standard output
  bool quiet = false;  // neither progress nor warnings
  int verbosity = 0;   // how often -v was given; two count as everything
};
/// Adds these options to a command.
void add_output_options(CLI::App& command, OutputOptions& options);
/// Sets the level of log lines on standard error: errors only, warnings, information (-v), everything (-vv).
void apply(const OutputOptions& options);

/// SCENE, --with --set --package-path --h --model --kappa --seed --threads: commands on one scene.
struct SceneOptions {
  std::string scene;                                           // file; empty if it is optional and was left out
  std::vector<std::string> overlays, settings, package_paths;  // in the order given
  std::optional<std::string> h, model, kappa;                  // step.h [s], step.model, step.kappa [1/J], as written
  std::uint64_t seed = 0;                                      // of everything random
  int threads = 0;                                             // 0: one per core; results do not depend on it
};
/// Adds these options to a command.
void add_scene_options(CLI::App& command, SceneOptions& options, bool scene_required);
/// The same without SCENE, for commands whose scene comes with a run.
void add_override_options(CLI::App& command, SceneOptions& options);
/// An option that may be mentioned any number of times, each with one value.
void add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                    const std::string& help, const std::string& type);
/// --package-path, for commands that take several scenes and no overrides of the step.
void add_package_path(CLI::App& command, std::vector<std::string>& package_paths);

/// The options as io understands them; --h, --model and --kappa are the last settings.
io::SceneFileOptions scene_file_options(const SceneOptions& options);
/// Loads the scene; warnings go to standard error and are returned. @throws InputError with every error, once the
/// warnings are printed.
scene::Scene load(const SceneOptions& options, const OutputOptions& output, Diagnostics& diagnostics);

/// Diagnostics as lines on standard error, `file:12:5: warning: …`; warnings only when not --quiet, those of a kind as
/// one line unless -v.
void print(std::span<const Diagnostic> diagnostics, const OutputOptions& output);

}  // namespace deft::cli
