// deft optimize RUN|SCENE: a plan improved segment by segment, in several worlds at once, into a run folder.

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>

#include "command.hpp"
#include "deft/core/log.hpp"
#include "deft/core/version.hpp"
#include "deft/execution/plan_folder.hpp"
#include "deft/execution/tracked_run.hpp"
#include "deft/io/runs/plan_file.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/plan_optimizer.hpp"
#include "deft/planning/planner.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "options.hpp"
#include "plan_report.hpp"
#include "progress.hpp"
#include "run_log.hpp"
#include "run_page.hpp"

namespace deft::cli {
namespace {

namespace fs = std::filesystem;

struct OptimizeOptions {
  OutputOptions output;
  SceneOptions scene;  // its `scene` is a run folder or a scene file
  std::string goal, out;
  std::optional<double> time_limit_s;
  bool seed_given = false, force = false;
};

/// A scene with the goal of the plan.
struct GoalProblem {
  scene::Scene scene;
  scene::GoalSpec goal;
  Diagnostics warnings;
};

/// Whether the path names a run and not a scene.
bool is_run(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) || path.extension() == ".h5";
}

/// The goal of that name. @throws InputError that lists the goals.
scene::GoalSpec goal_of(const scene::Scene& scene, const std::string& name, const std::string& file) {
  const auto& goals = scene.spec().goals;
  if (goals.empty()) throw InputError({file, 0, 0}, "has no goals; add them as `goals:`");
  std::string valid;
  for (const scene::GoalSpec& goal : goals) {
    if (name.empty() || goal.target.name == name) return goal;
    valid += (valid.empty() ? "" : ", ") + goal.target.name;
  }
  throw InputError({}, fmt::format("--goal {}: the scene has no such goal; valid: {}", name, valid));
}

SceneOptions scene_options_of(const OptimizeOptions& options, const std::string& scene) {
  SceneOptions scene_options = options.scene;
  scene_options.scene = scene;
  if (options.time_limit_s)
    scene_options.settings.push_back(fmt::format("optimize.time_limit_s={}", *options.time_limit_s));
  return scene_options;
}

/// The goal that is asked for, else `stored`, else the scene's first. @throws InputError as goal_of.
GoalProblem load_problem(const OptimizeOptions& options, const std::string& file, const std::string& stored) {
  Diagnostics diagnostics;
  scene::Scene scene = load(scene_options_of(options, file), options.output, diagnostics);
  scene::GoalSpec goal = goal_of(scene, options.goal.empty() ? stored : options.goal, file);
  return {std::move(scene), std::move(goal), std::move(diagnostics)};
}

/// The plan of a run folder, simulated again with the scene as `--with` and `--set` change it.
planning::Plan plan_of_run(const GoalProblem& problem, const io::StoredPlan& stored, const std::string& run_path) {
  const dynamics::Trajectory motion = io::read_run(run_path).trajectory;
  execution::require_steps(motion, run_path);
  const scene::Scene exact = planning::planning_scene(problem.scene);
  if (exact.names_q() != motion.names_q || exact.names_u() != motion.names_u)
    throw InputError({run_path, 0, 0}, "its coordinates or commands have other names than those of the scene");
  const double h = motion.t[1] - motion.t[0];
  if (std::abs(h - exact.settings().step.h.value_or(0)) > 1e-9)
    throw InputError({run_path, 0, 0}, fmt::format("has steps of {} s, the scene has step.h: {}", h,
                                                   exact.settings().step.h.value_or(0)));
  const auto vector_of = [](const std::vector<double>& values) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())));
  };
  std::vector<Eigen::VectorXd> commands;
  for (const std::vector<double>& u : motion.u) commands.push_back(vector_of(u));
  const planning::Goal goal(exact, problem.goal, exact.settings().plan.wrap_angles);
  return planning::check_plan(exact, goal, vector_of(motion.q.front()), std::move(commands), stored.segments);
}

/// The first plan at h of a scene.
planning::Plan first_plan(const OptimizeOptions& options, const GoalProblem& problem, double& planned_s) {
  const scene::Scene scene = problem.scene.with([](scene::SceneSettings& settings) { settings.plan.first = true; });
  planning::PlannerResult found = planning::make_plan(
      scene, problem.goal, {.seed = options.scene.seed, .threads = options.scene.threads, .stop = interrupted});
  planned_s = found.time_s;
  return std::move(found.plan);
}

std::string status_of(const planning::PlanOptimizerResult& result) {
  if (result.holds) return "Solved";
  if (interrupted()) return "Interrupted";
  return result.plan.success ? "NotHolding" : "NoPlan";
}

Json passes_of(const planning::PlanOptimizerResult& result) {
  Json rows = Json::array();
  for (const planning::OptimizerPass& pass : result.passes)
    rows.push_back({{"cost", number(pass.cost)},
                    {"holds", pass.holds},
                    {"cone_share", number(pass.cone_share)},
                    {"segments", pass.segments},
                    {"time_s", number(pass.time_s)}});
  return rows;
}

Json summarise(const planning::PlanOptimizerResult& result, double planned_s) {
  const planning::Plan& plan = result.plan;
  Json before = Json::array();
  for (const planning::Verdict& verdict : result.before) before.push_back(verdict_row(verdict));
  int segments = 0;
  for (const planning::Segment& segment : plan.segments) segments += !segment.transit;
  return {{"status", status_of(result)},
          {"success", result.holds},
          {"goal_error", error_of(plan.error)},
          {"holds", holds_of(plan)},
          {"held_before", result.held_before},
          {"before", before},
          {"cost_before", number(result.cost_before)},
          {"cost", number(result.cost)},
          {"passes", passes_of(result)},
          {"steps", plan.commands.size()},
          {"step_solves", result.solves},
          {"time_s", number(result.time_s)},
          {"planned_s", number(planned_s)},
          {"duration_s", number(static_cast<double>(plan.commands.size()) * plan.h)},
          {"segments", segments},
          {"regrasps", plan.regrasps}};
}

void print_for_people(const Json& summary) {
  const auto value = [](const Json& number) {
    return number.is_number() ? fmt::format("{:.3g}", number.get<double>()) : std::string("–");
  };
  fmt::print(
      "{}  goal {}\n  cost      {} -> {} squared tolerances in all worlds, {} passes in {} s\n  plan      {} "
      "steps, {} regrasps, {} s\n",
      summary["status"].get<std::string>(), summary["goal"].get<std::string>(), value(summary["cost_before"]),
      value(summary["cost"]), summary["passes"].size(), value(summary["time_s"]), summary["steps"].get<int>(),
      summary["regrasps"].get<int>(), value(summary["duration_s"]));
  print_verdicts(summary["holds"]);
  fmt::print("files\n");
  for (const Json& file : summary["files"]) fmt::print("  {}\n", file.get<std::string>());
}

/// Writes the folder of the result. @returns the whole summary.
Json write_folder(const OptimizeOptions& options, const GoalProblem& problem, const std::string& folder,
                  const planning::PlanOptimizerResult& result, double planned_s) {
  const auto file = [&](const char* name) { return (fs::path(folder) / name).string(); };
  {
    execution::PlanFolder published(folder, problem.scene, problem.goal.target.name, version());
    published.begin(options.scene.seed);
    published.finish(result.plan, result.nodes, options.scene.threads);
  }
  io::publish_text(file("plan.yaml"), io::plan_overlay(result.plan, problem.scene.names_u()));
  const io::Run stored = io::read_run(folder);
  write_page(file("run.html"), stored.header, stored.trajectory, io::read_plan(folder));
  Json summary = summarise(result, planned_s);
  summary["files"] = Json::array();
  for (const char* name : {"run.h5", "run.html", "summary.json", "config.yaml", "plan.yaml", "deft.log"})
    summary["files"].push_back(file(name));
  summary["goal"] = problem.goal.target.name;
  summary["seed"] = options.scene.seed;
  io::publish_text(file("summary.json"), text_of(summary, 1) + "\n");
  return summary;
}

planning::PlanOptimizerResult optimize(const OptimizeOptions& options, const GoalProblem& problem,
                                       const planning::Plan& plan) {
  Progress progress(!options.output.quiet);
  planning::PlanOptimizerOptions run{.seed = options.scene.seed, .threads = options.scene.threads, .stop = interrupted};
  run.on_segment = [&](int pass, int segment, double cost, double distance) {
    if (progress.due())
      progress.show(fmt::format("optimize  pass {}  segment {}  {:.3g} m from the goal  best cost {:.3g}  {:.1f} s",
                                pass, segment, distance, cost, progress.seconds()));
  };
  return planning::optimize_plan(problem.scene, problem.goal, plan, run);
}

int run(OptimizeOptions options) {
  apply(options.output);
  const fs::path path = options.scene.scene;
  std::optional<io::StoredPlan> stored;
  std::string file = options.scene.scene;
  if (is_run(path)) {
    stored = io::read_plan(path.string());
    if (!stored || !stored->success)
      throw InputError({path.string(), 0, 0}, "is not a run with a plan; valid: a folder of 'deft plan', or a scene");
    if (!options.seed_given) options.scene.seed = stored->header.seed;
    file = ((fs::is_directory(path) ? path : path.parent_path()) / "config.yaml").string();
  }
  const GoalProblem problem = load_problem(options, file, stored ? stored->header.goal : "");
  catch_interrupts();
  double planned_s = 0;
  const planning::Plan plan =
      stored ? plan_of_run(problem, *stored, path.string()) : first_plan(options, problem, planned_s);
  const std::string folder = io::make_run_folder(options.out, problem.scene.spec().name, options.force);
  io::publish_text((fs::path(folder) / "config.yaml").string(), problem.scene.spec().merged_yaml);
  const RunLog log((fs::path(folder) / "deft.log").string(),
                   fmt::format("optimize {} to {}", options.scene.scene, problem.goal.target.name),
                   problem.warnings.all(), options.output, false);
  const planning::PlanOptimizerResult result = optimize(options, problem, plan);
  const Json summary = write_folder(options, problem, folder, result, planned_s);
  log::info(fmt::format("{}, {} passes, {:.3g} s", summary["status"].get<std::string>(), result.passes.size(),
                        result.time_s));
  if (options.output.json)
    print_json(summary);
  else
    print_for_people(summary);
  if (interrupted() && !result.holds) return kInterrupted;
  return result.holds ? kDone : kNotReached;
}

}  // namespace

Command add_optimize(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "optimize", "Improve a plan segment by segment, in several worlds at once, until it holds in all of them");
  const auto options = std::make_shared<OptimizeOptions>();
  command
      ->add_option("plan", options->scene.scene,
                   "Run folder of a plan, or a scene, whose first plan is then made before")
      ->required()
      ->type_name("RUN|SCENE");
  add_override_options(*command, options->scene);
  command->add_option("--goal", options->goal, "Goal of the scene (default: the plan's, else the first)")
      ->type_name("NAME");
  command->add_option("--time-limit", options->time_limit_s, "Wall time [s] (default: optimize.time_limit_s)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1e-3, 1e9));
  command->add_option("--out", options->out, "Run folder (default out/NAME-YYYYMMDD-HHMMSS)")->type_name("DIR");
  command->add_flag("--force", options->force, "Replace the run in a folder that is not empty");
  add_output_options(*command, options->output);
  return {command, [options, command] {
            options->seed_given = command->count("--seed") > 0;
            return run(*options);
          }};
}

}  // namespace deft::cli
