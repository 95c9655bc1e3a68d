// deft new ROBOT OBJECT…: a scene that runs.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "command.hpp"
#include "deft/authoring/robot_facts.hpp"
#include "deft/authoring/scene_draft.hpp"
#include "deft/core/resources.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/solvers/status.hpp"
#include "json.hpp"
#include "options.hpp"

namespace deft::cli {
namespace {

using solvers::Status;

constexpr int kTrialSteps = 10;

struct NewOptions {
  OutputOptions output;
  authoring::DraftRequest request;
  bool force = false;
};

/// Ten steps from the start with the commands held. @returns the status of the first that failed, or of the last.
Status try_out(const scene::Scene& scene) {
  const auto model = dynamics::make_step_model(scene);
  dynamics::State state = dynamics::initial_state(*model);
  Eigen::VectorXd u(scene.nu());
  scene.command(0, model->h(), u);
  dynamics::StepResult result;
  for (int k = 0; k < kTrialSteps; ++k) {
    model->step(state.q, u, result);
    if (!solvers::usable(result.status)) break;
    state.q = result.q_next;
  }
  return result.status;
}

int run(const NewOptions& options) {
  apply(options.output);
  const authoring::DraftRequest& request = options.request;
  const std::string ending = std::filesystem::path(request.out).extension().string();
  for (const char* model : {".sdf", ".urdf", ".xml", ".mjcf"})
    if (ending == model)
      throw InputError({request.out, 0, 0},
                       fmt::format("'{}' is an ending of model files; scenes end in .yaml", ending));
  if (std::filesystem::exists(request.out) && !options.force)
    throw InputError({request.out, 0, 0}, "is there already; choose another with --out, or replace it with --force");
  const std::filesystem::path folder = std::filesystem::absolute(request.out).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw InputError({request.out, 0, 0}, fmt::format("there is no folder '{}'", folder.string()));
  Diagnostics diagnostics;
  const std::string text = authoring::draft_scene(request, diagnostics);
  io::publish_text(request.out, text);

  Diagnostics checked;
  const scene::Scene scene = io::load_scene(
      request.out, {.package_paths = request.package_paths, .bundled_scenes = request.bundled_scenes}, checked);
  const Status status = try_out(scene);
  std::vector<Diagnostic> warnings(checked.all().begin(), checked.all().end());
  for (const Diagnostic& found : diagnostics.all())
    if (found.where.file == request.out) warnings.push_back(found);
  print(warnings, options.output);
  const bool plans = !request.goal.empty();
  const auto objects = std::count_if(scene.objects().begin(), scene.objects().end(),
                                     [](const scene::Object& object) { return !object.is_base; });
  const std::string next = fmt::format("deft {} {}", plans ? "plan" : "view", request.out);
  if (options.output.json) {
    print_json({{"file", request.out},
                {"robot", scene.robots()[0].name},
                {"joints", scene.robots()[0].nu},
                {"hand", authoring::robot_facts(scene, 0).is_hand},
                {"objects", objects},
                {"steps", std::string(solvers::to_string(status))},
                {"warnings", warnings.size()},
                {"next", next}});
  } else {
    fmt::print("wrote {}: robot '{}' with {} joints, {} object{}; {} steps: {}\nnext: {}\n", request.out,
               scene.robots()[0].name, scene.robots()[0].nu, objects, objects == 1 ? "" : "s", kTrialSteps,
               solvers::to_string(status), next);
  }
  return solvers::usable(status) ? kDone : kNumericalFailure;
}

}  // namespace

Command add_new(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("new", "Write a scene that runs: a robot, objects within its reach, and a goal");
  const auto options = std::make_shared<NewOptions>();
  authoring::DraftRequest& request = options->request;
  request.bundled_scenes = resource("scenes");
  command->add_option("ROBOT", request.robot, "A model file (URDF, SDFormat, MJCF), or the name of a bundled robot")
      ->required();
  command->add_option("OBJECT", request.objects, "Model files, or names of bundled objects");
  command->add_option("--out", request.out, "The scene file")->required()->type_name("FILE");
  command->add_option("--goal", request.goal, "Of the first object: 'turn x|y|z DEGREES', 'move X Y Z' or 'lift H' [m]")
      ->type_name("TEXT");
  command
      ->add_option(
          "--frequency", request.frequency,
          "Where the model states no drives: how fast a joint swings with the object at its end [Hz] (default 10)")
      ->type_name("HZ")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--base", request.base,
                   "The robot's base: fixed to the world, or floating (default: as its file says)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, authoring::Base>{
          {"fixed", authoring::Base::kFixed}, {"floating", authoring::Base::kFloating}}));
  command->add_flag("--force", options->force, "Replace the file");
  command->footer(fmt::format("Robots: {}.\nObjects: {}.",
                              fmt::join(authoring::bundled_robots(resource("scenes")), ", "),
                              fmt::join(authoring::bundled_objects(resource("scenes")), ", ")));
  add_package_path(*command, request.package_paths);
  add_output_options(*command, options->output);
  return {command, [options] { return run(*options); }};
}

}  // namespace deft::cli
