// deft export SCENE --to FORMAT: a scene as models of other programs.

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "command.hpp"
#include "deft/exporters/mjcf_export.hpp"
#include "deft/exporters/sdf_export.hpp"
#include "deft/exporters/urdf_export.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "json.hpp"
#include "options.hpp"

namespace deft::cli {
namespace {

using exporters::Exported;

struct Format {
  const char* name;
  Exported (*write)(const scene::Scene& scene, const std::string& folder);
};
constexpr std::array kFormats{Format{"mjcf", exporters::export_mjcf}, Format{"sdf", exporters::export_sdf},
                              Format{"directives", exporters::export_directives},
                              Format{"urdf", exporters::export_urdf}};

struct ExportOptions {
  OutputOptions output;
  SceneOptions scene;
  std::string to, out;
  bool force = false;
};

/// A scene that does not load says so: names of inline bodies, on which servos and formulas depend, become those of
/// models.
void check(const std::string& file, Exported& exported) {
  Diagnostics diagnostics;
  try {
    io::load_scene(file, {}, diagnostics);
  } catch (const InputError& error) {
    exported.notes.push_back(fmt::format("{} needs your hand: {}", file, error.what()));
  }
}

int run(const ExportOptions& options) {
  apply(options.output);
  Diagnostics diagnostics;
  const scene::Scene scene = load(options.scene, options.output, diagnostics);
  const std::string folder = io::make_run_folder(options.out, scene.spec().name, options.force);
  Exported exported;
  for (const Format& format : kFormats)
    if (options.to == format.name) exported = format.write(scene, folder);
  for (const std::string& file : exported.files)
    if (file.ends_with(".deft.yaml")) check(file, exported);
  if (options.output.json) {
    print_json({{"files", exported.files}, {"notes", exported.notes}});
    return kDone;
  }
  if (!options.output.quiet)
    for (const std::string& note : exported.notes) fmt::print(stderr, "note: {}\n", note);
  fmt::print("wrote {}", exported.files.front());
  if (exported.files.size() > 1) fmt::print(" and {} files beside it", exported.files.size() - 1);
  fmt::print("\n");
  return kDone;
}

}  // namespace

Command add_export(CLI::App& app) {
  CLI::App* command = app.add_subcommand("export", "Write a scene as models of other programs");
  const auto options = std::make_shared<ExportOptions>();
  add_scene_options(*command, options->scene, true);
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  command->add_option("--to", options->to, "Format of the models")->required()->check(CLI::IsMember(names));
  command->add_option("--out", options->out, "Folder, made if it is not there")->required()->type_name("DIR");
  command->add_flag("--force", options->force, "Write into a folder that is not empty");
  add_output_options(*command, options->output);
  return {command, [options] { return run(*options); }};
}

}  // namespace deft::cli
