// deft plan SCENE: plans from the scene's start to a goal, into a run folder.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "deft/core/log.hpp"
#include "deft/io/plan_file.hpp"
#include "deft/io/run_folder.hpp"
#include "deft/planning/fingers.hpp"
#include "deft/planning/planner.hpp"
#include "deft/planning/planning_steps.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "options.hpp"
#include "plan_folder.hpp"
#include "progress.hpp"
#include "run_page.hpp"
#include "statistics.hpp"

namespace deft::cli {
namespace {

struct PlanOptions {
  OutputOptions output;
  SceneOptions scene;
  std::string goal;
  std::optional<int> nodes;
  std::optional<double> time_limit_s;
  int seeds = 1;
  std::string out;
  bool force = false;
};

/// The goal by name, or the first. @throws InputError that lists the goals.
const scene::GoalSpec& find_goal(const PlanOptions& options, const scene::Scene& scene) {
  const auto& goals = scene.spec().goals;
  if (goals.empty()) throw InputError({options.scene.scene, 0, 0}, "has no goals; add them as `goals:`");
  const auto it = std::find_if(goals.begin(), goals.end(), [&](const scene::GoalSpec& goal) {
    return options.goal.empty() || goal.target.name == options.goal;
  });
  if (it != goals.end()) return *it;
  std::string valid;
  for (const scene::GoalSpec& goal : goals) valid += (valid.empty() ? "" : ", ") + goal.target.name;
  throw InputError({}, fmt::format("--goal {}: the scene has no such goal; valid: {}", options.goal, valid));
}

std::string status_of(const planning::PlannerResult& result) {
  if (result.plan.success) return "Solved";
  switch (result.end) {
    case planning::SearchEnd::kStopped:
      return "Interrupted";
    case planning::SearchEnd::kTime:
      return "TimeLimit";
    default:
      return "NodeLimit";
  }
}

Json summarise(const planning::PlannerResult& result, const std::vector<std::string>& files) {
  const planning::Plan& plan = result.plan;
  int segments = 0;
  for (const planning::Segment& segment : plan.segments) segments += !segment.transfer;
  return {{"status", status_of(result)},
          {"success", plan.success},
          {"goal_error",
           {{"position_m", number(plan.error.position_m)},
            {"rotation_rad", number(plan.error.rotation_rad)},
            {"joint", number(plan.error.joint)}}},
          {"nodes", result.nodes.size()},
          {"rollouts", result.tried},
          {"steps", plan.commands.size()},
          {"step_solves", result.solves},
          {"time_s", number(result.time_s)},
          {"first_solution_s", result.first_solution_s < 0 ? Json(nullptr) : number(result.first_solution_s)},
          {"segments", segments},
          {"regrasps", plan.regrasps},
          {"cost", number(plan.cost_s)},
          {"files", files}};
}

/// Wilson's 95 % interval of a share.
Json wilson(int successes, int count) {
  const double z = 1.959963984540054, n = count, p = successes / n, middle = p + z * z / (2 * n);
  const double spread = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)), scale = 1 + z * z / n;
  return {number((middle - spread) / scale), number((middle + spread) / scale)};
}

/// Success rate and percentiles over the seeds.
Json statistics(const Json& runs) {
  int successes = 0;
  for (const Json& run : runs) successes += run["success"].get<bool>();
  Json table{{"seeds", runs.size()},
             {"successes", successes},
             {"success_rate", number(double(successes) / double(runs.size()))},
             {"wilson_95", wilson(successes, static_cast<int>(runs.size()))}};
  for (const char* what : {"first_solution_s", "time_s", "nodes", "steps", "regrasps", "cost"}) {
    std::vector<double> values;
    for (const Json& run : runs) {
      if (run["success"].get<bool>() && run[what].is_number()) values.push_back(run[what].get<double>());
    }
    table[what] = {{"p50", number(percentile(values, 0.5))}, {"p95", number(percentile(values, 0.95))}};
  }
  return table;
}

void print_for_people(const Json& summary, const std::string& goal, const std::string& page) {
  const auto value = [](const Json& number) {
    return number.is_number() ? fmt::format("{:.3g}", number.get<double>()) : std::string("–");
  };
  const Json& error = summary["goal_error"];
  fmt::print(
      "{}  goal {}\n  error     {} m  {} rad  joint {}\n  plan      {} steps, {} regrasps, cost {} s\n  search    {} "
      "nodes, first plan after {} s, {} s in all\n",
      summary["status"].get<std::string>(), goal, value(error["position_m"]), value(error["rotation_rad"]),
      value(error["joint"]), summary["steps"].get<int>(), summary["regrasps"].get<int>(), value(summary["cost"]),
      summary["nodes"].get<int>(), value(summary["first_solution_s"]), value(summary["time_s"]));
  if (summary.contains("statistics")) {
    const Json& table = summary["statistics"];
    fmt::print("  seeds     {} of {} succeeded (95 %: {} … {}), first plan p50 {} s, p95 {} s, regrasps p50 {}\n",
               table["successes"].get<int>(), table["seeds"].get<int>(), value(table["wilson_95"][0]),
               value(table["wilson_95"][1]), value(table["first_solution_s"]["p50"]),
               value(table["first_solution_s"]["p95"]), value(table["regrasps"]["p50"]));
  }
  fmt::print("files\n");
  for (const Json& file : summary["files"]) fmt::print("  {}\n", file.get<std::string>());
  fmt::print("open {}\n", page);
}

/// One search. `published`, if it may be kept, follows it.
planning::PlannerResult search(const PlanOptions& options, const scene::Scene& scene, const scene::GoalSpec& goal,
                               std::uint64_t seed, Progress& progress, PlanFolder* published) {
  std::stop_source stop;
  planning::PlannerOptions planner{.seed = seed, .threads = options.scene.threads, .stop = stop.get_token()};
  planner.on_progress = [&](int tried, double distance, double cost_s) {
    if (interrupted()) stop.request_stop();
    if (!progress.due()) return;
    progress.show(fmt::format("plan seed {}  {} roll-outs  nearest {:.3g} m  {}  {:.1f} s", seed, tried, distance,
                              cost_s < 0 ? "no plan yet" : fmt::format("plan of {:.3g} s", cost_s),
                              progress.seconds()));
  };
  if (published != nullptr) {
    published->begin(seed);
    planner.on_tree = [published](const auto& nodes) { published->grow(nodes); };
    planner.on_plan = [published](const planning::Plan& plan, const auto& nodes) { published->write(plan, nodes); };
  }
  return planning::make_plan(scene, goal, planner);
}

int run(const PlanOptions& options) {
  apply(options.output);
  Diagnostics diagnostics;
  SceneOptions scene_options = options.scene;
  if (options.nodes) scene_options.settings.push_back(fmt::format("plan.nodes={}", *options.nodes));
  if (options.time_limit_s)
    scene_options.settings.push_back(fmt::format("plan.time_limit_s={}", *options.time_limit_s));
  const scene::Scene scene = load(scene_options, options.output, diagnostics);
  const scene::GoalSpec& goal = find_goal(options, scene);
  {
    // What cannot be planned for is said before a folder is made.
    const scene::Scene exact = planning::planning_scene(scene);
    const planning::PlanningSteps steps(exact);
    const planning::Hand hand(exact, planning::Goal(exact, goal, false));
  }

  const std::string folder = io::make_run_folder(options.out, scene.spec().name, options.force);
  const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  io::publish_text(file("config.yaml"), scene.spec().merged_yaml);

  // Search, once per seed; the folder keeps the first success, or else the first try.
  catch_interrupts();
  PlanFolder published(folder, scene, goal.target.name);
  std::optional<planning::PlannerResult> kept;
  std::uint64_t kept_seed = options.scene.seed;
  Json runs = Json::array();
  {
    Progress progress(!options.output.quiet);
    for (int k = 0; k < options.seeds && (k == 0 || !interrupted()); ++k) {
      const std::uint64_t seed = options.scene.seed + static_cast<std::uint64_t>(k);
      const bool open = !kept || !kept->plan.success;
      planning::PlannerResult result = search(options, scene, goal, seed, progress, open ? &published : nullptr);
      Json row = summarise(result, {});
      row.erase("files");
      row["seed"] = seed;
      runs.push_back(std::move(row));
      if (!open || (kept && !result.plan.success)) continue;
      kept = std::move(result);
      kept_seed = seed;
      published.write(kept->plan, kept->nodes);
    }
  }
  if (!kept->plan.success && runs.size() > 1) {
    published.begin(kept_seed);
    published.write(kept->plan, kept->nodes);
  }
  io::publish_text(file("plan.yaml"), io::plan_overlay(kept->plan, scene.names_u()));
  Json summary = summarise(
      *kept, {file("run.h5"), file("run.html"), file("summary.json"), file("config.yaml"), file("plan.yaml")});
  summary["goal"] = goal.target.name;
  summary["seed"] = kept_seed;
  if (options.seeds > 1) {
    summary["statistics"] = statistics(runs);
    summary["runs"] = runs;
  }
  const io::Run stored = io::read_run(folder);
  write_page(file("run.html"), stored.header, stored.trajectory, io::read_plan(folder));
  io::publish_text(file("summary.json"), text_of(summary, 1) + "\n");
  if (options.output.json)
    print_json(summary);
  else
    print_for_people(summary, goal.target.name, file("run.html"));
  if (interrupted() && !kept->plan.success) return kInterrupted;
  return kept->plan.success ? kDone : kNotReached;
}

}  // namespace

Command add_plan(CLI::App& app) {
  CLI::App* command = app.add_subcommand("plan", "Plan from the start of a scene to a goal, into a run folder");
  const auto options = std::make_shared<PlanOptions>();
  add_scene_options(*command, options->scene, true);
  command->add_option("--goal", options->goal, "Goal of the scene (default: the first)")->type_name("NAME");
  command->add_option("--nodes", options->nodes, "Most roll-outs (default: plan.nodes)")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000'000));
  command->add_option("--time-limit", options->time_limit_s, "Wall time per seed [s] (default: plan.time_limit_s)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1e-3, 1e9));
  command->add_option("--seeds", options->seeds, "Plan for so many seeds, from --seed on, and report statistics")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--out", options->out, "Run folder (default out/NAME-YYYYMMDD-HHMMSS)")->type_name("DIR");
  command->add_flag("--force", options->force, "Replace the run in a folder that is not empty");
  add_output_options(*command, options->output);
  return {command, [options] { return run(*options); }};
}

}  // namespace deft::cli
