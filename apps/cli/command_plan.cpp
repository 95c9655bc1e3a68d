// deft plan SCENE: plans from the scene's start to a goal, into a run folder.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "deft/core/log.hpp"
#include "deft/core/version.hpp"
#include "deft/dynamics/body_poses.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/execution/plan_folder.hpp"
#include "deft/io/runs/journal_file.hpp"
#include "deft/io/runs/plan_file.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/math/percentile.hpp"
#include "deft/planning/ensemble.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/feasibility/success_rate.hpp"
#include "deft/planning/planner.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "options.hpp"
#include "plan_report.hpp"
#include "plan_resume.hpp"
#include "problem_dump.hpp"
#include "progress.hpp"
#include "run_log.hpp"
#include "run_page.hpp"

namespace deft::cli {
namespace {

struct PlanOptions {
  OutputOptions output;
  SceneOptions scene;
  std::string goal;
  std::optional<int> nodes;
  std::optional<double> time_limit_s;
  int seeds = 1;
  bool seed_given = false, seeds_given = false;
  std::string out, resume;
  bool force = false, first = false, explain = false;
  DumpOptions dump;
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

/// Tries that came to nothing, as the page draws them: the reason that they count for, q, and the poses of all bodies.
Json failed_tries(const scene::Scene& scene, const planning::PlannerResult& result) {
  constexpr const char* kWords[] = {"", "not released", "no grasp", "blocked", "drift", "not pressed", "stall"};
  scene::SceneState state = scene.make_state();
  Json rows = Json::array();
  for (const planning::FailedTry& tried : result.tally.failed) {
    scene.update(tried.q, state);
    Json poses = Json::array();
    for (const auto& pose : dynamics::body_poses(state.X_WB())) poses.push_back(numbers(pose));
    rows.push_back({{"reason", kWords[static_cast<int>(tried.end)]}, {"q", numbers(tried.q)}, {"X_WB", poses}});
  }
  return rows;
}

/// How often tries of the search ended so.
Json tries_of(const planning::PlannerResult& result) {
  constexpr const char* kNames[] = {"grew", "not_released", "no_grasp", "blocked", "drifted", "not_pressed", "stalled"};
  Json tries = Json::object();
  for (std::size_t k = 0; k < result.tally.ends.size(); ++k) tries[kNames[k]] = result.tally.ends[k];
  return tries;
}

/// Why there is no plan that holds, heaviest cause first.
Json reasons_json(const planning::PlannerResult& result) {
  Json rows = Json::array();
  for (const planning::Reason& reason : result.reasons)
    rows.push_back({{"reason", reason.reason},
                    {"count", reason.count},
                    {"weight", number(reason.weight)},
                    {"detail", reason.detail},
                    {"setting", reason.setting}});
  return rows;
}

Json summarise(const planning::PlannerResult& result, const std::vector<std::string>& files) {
  const planning::Plan& plan = result.plan;
  Json finer = Json::array();
  for (const planning::StepHalvingCheck& run : plan.step_halving)
    finer.push_back({{"h", plan.h / run.substeps}, {"success", run.success}, {"goal_error", error_of(run.error)}});
  int segments = 0;
  for (const planning::Segment& segment : plan.segments) segments += !segment.transit;
  return {{"status", std::string(planning::status_word(result.plan, result.end))},
          {"success", plan.holds()},
          {"goal_error", error_of(plan.error)},
          {"holds", holds_of(plan)},
          {"finer", finer},
          {"nodes", result.nodes.size()},
          {"rollouts", result.tried},
          {"steps", plan.commands.size()},
          {"step_solves", result.solves},
          {"time_s", number(result.time_s)},
          {"first_solution_s", result.first_solution_s < 0 ? Json(nullptr) : number(result.first_solution_s)},
          {"first_holding_s", result.first_holding_s < 0 ? Json(nullptr) : number(result.first_holding_s)},
          {"duration_s", number(static_cast<double>(plan.commands.size()) * plan.h)},
          {"segments", segments},
          {"regrasps", plan.regrasps},
          {"cost", number(plan.cost_s)},
          {"effort_share", plan.effort_share > 0 ? number(plan.effort_share) : Json(nullptr)},
          {"velocity_share", plan.velocity_share > 0 ? number(plan.velocity_share) : Json(nullptr)},
          {"reasons", reasons_json(result)},
          {"tries", tries_of(result)},
          {"files", files}};
}

Json wilson(int successes, int count) {
  const auto [low, high] = planning::wilson_interval(successes, count);
  return {number(low), number(high)};
}

/// Success rate and percentiles over the seeds; why the others failed.
Json statistics_of_plans(const Json& runs) {
  int successes = 0;
  Json failures = Json::object();
  for (const Json& run : runs) {
    if (run["success"].get<bool>())
      ++successes;
    else
      failures[run["status"]] = failures.value(run["status"], 0) + 1;
  }
  Json table{{"seeds", runs.size()},
             {"successes", successes},
             {"success_rate", number(double(successes) / double(runs.size()))},
             {"wilson_95", wilson(successes, static_cast<int>(runs.size()))},
             {"failures", failures}};
  // Of those that succeed: which hold with each finer step.
  table["finer"] = Json::array();
  for (const Json& run : runs) {
    for (std::size_t i = 0; i < run["finer"].size(); ++i) {
      const Json& finer = run["finer"][i];
      if (table["finer"].size() <= i) table["finer"].push_back({{"h", finer["h"]}, {"holding", 0}});
      Json& row = table["finer"][i];
      row["holding"] = row["holding"].get<int>() + finer["success"].get<bool>();
    }
  }
  for (Json& row : table["finer"]) row["wilson_95"] = wilson(row["holding"].get<int>(), static_cast<int>(runs.size()));
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
  print_verdicts(summary["holds"]);
  for (const Json& row : summary["reasons"])
    fmt::print("  because   {} ({} times, weight {}): {}; see {}\n", row["reason"].get<std::string>(),
               row["count"].get<int>(), value(row["weight"]), row["detail"].get<std::string>(),
               row["setting"].get<std::string>());
  if (summary.contains("statistics")) {
    const Json& table = summary["statistics"];
    fmt::print("  seeds     {} of {} succeeded (95 %: {} … {}), first plan p50 {} s, p95 {} s, regrasps p50 {}\n",
               table["successes"].get<int>(), table["seeds"].get<int>(), value(table["wilson_95"][0]),
               value(table["wilson_95"][1]), value(table["first_solution_s"]["p50"]),
               value(table["first_solution_s"]["p95"]), value(table["regrasps"]["p50"]));
    for (const Json& finer : table["finer"])
      fmt::print("  h = {:<7} {} of {} hold (95 %: {} … {})\n", value(finer["h"]), finer["holding"].get<int>(),
                 table["seeds"].get<int>(), value(finer["wilson_95"][0]), value(finer["wilson_95"][1]));
    for (const auto& [status, count] : table["failures"].items())
      fmt::print("            {} failed: {}\n", count.get<int>(), status);
  }
  fmt::print("files\n");
  for (const Json& file : summary["files"]) fmt::print("  {}\n", file.get<std::string>());
  fmt::print("open {}\n", page);
}

/// One search, or what is left of it. `published`, if it may be kept, follows it.
planning::PlannerResult search(const PlanOptions& options, const scene::Scene& scene, const scene::GoalSpec& goal,
                               std::uint64_t seed, Progress& progress, io::JournalFile& journal,
                               execution::PlanFolder* published) {
  planning::PlannerOptions planner{.seed = seed, .threads = options.scene.threads, .stop = interrupted};
  planner.journal = &journal;
  planner.on_progress = [&](int tried, double distance, double cost_s) {
    if (!progress.due()) return;
    progress.show(fmt::format("plan seed {}  {} roll-outs  nearest {:.3g} m  {}  {:.1f} s", seed, tried, distance,
                              cost_s < 0 ? "no plan yet" : fmt::format("plan of {:.3g} s", cost_s),
                              progress.seconds()));
  };
  if (published != nullptr) {
    published->begin(seed);
    // While an earlier run is repeated the folder has more already.
    planner.on_tree = [published, &journal](const auto& nodes) {
      if (!journal.has_next()) published->grow(nodes);
    };
    planner.on_plan = [published, &journal](const planning::Plan& plan, const auto& nodes) {
      if (!journal.has_next()) published->write(plan, nodes);
    };
  }
  return planning::make_plan(scene, goal, planner);
}

/// The scene with its goal, found fit for planning before a folder is made.
struct Problem {
  scene::Scene scene;
  const scene::GoalSpec* goal;
  Diagnostics warnings;
};

Problem load_problem(const PlanOptions& options) {
  Diagnostics diagnostics;
  SceneOptions scene_options = options.scene;
  if (options.nodes) scene_options.settings.push_back(fmt::format("plan.nodes={}", *options.nodes));
  if (options.first) scene_options.settings.emplace_back("plan.first=true");
  if (options.time_limit_s)
    scene_options.settings.push_back(fmt::format("plan.time_limit_s={}", *options.time_limit_s));
  Problem problem{load(scene_options, options.output, diagnostics), nullptr, {}};
  problem.warnings = std::move(diagnostics);
  problem.goal = &find_goal(options, problem.scene);
  const scene::Scene exact = planning::planning_scene(problem.scene);
  const planning::PlanningSteps steps(exact);
  const planning::Hand hand(exact, planning::Goal(exact, *problem.goal, false));
  if (!exact.settings().plan.first) planning::require_judges(exact);
  return problem;
}

/// A run folder and how far it has come.
struct Place {
  std::string folder;
  std::unique_ptr<io::JournalFile> journal;
  std::string file(const char* name) const { return (std::filesystem::path(folder) / name).string(); }
};

/// Writes the problems of the plan's steps, which are simulated for it.
void dump_problems(const DumpOptions& options, const scene::Scene& scene, const planning::Plan& plan) {
  if (options.folder.empty()) return;
  const scene::Scene exact = planning::planning_scene(scene);
  const std::unique_ptr<dynamics::StepModel> model = dynamics::make_step_model(exact);
  ProblemDump dump(options, exact);
  dynamics::StepResult result;
  for (std::size_t k = 0; k < plan.commands.size() && k < plan.q.size(); ++k) {
    model->step(plan.q[k], plan.commands[k], result);
    dump.consider(static_cast<int>(k), result, *model);
  }
}

/// What a row is worth to the folder, which keeps the first of the best, or the last if none is worth anything.
int rank_of(const Json& row) { return row["status"] == "Solved" ? 2 : row["status"] == "NotHolding" ? 1 : 0; }

/// Searches once per seed that is left. @returns the row of every seed, and whether the last one may go on.
/// @param failed  gets the failed_tries of the search that the folder keeps.
Json search_all(const PlanOptions& options, const Problem& problem, const Place& place, bool& open_end, Json& failed) {
  Json runs = Json::array();
  int best = 0;
  for (const std::string& result : place.journal->results()) {
    runs.push_back(Json::parse(result));
    best = std::max(best, rank_of(runs.back()));
  }
  execution::PlanFolder published(place.folder, problem.scene, problem.goal->target.name, version());
  Progress progress(!options.output.quiet);
  while (static_cast<int>(runs.size()) < options.seeds && (runs.empty() || !interrupted())) {
    const std::uint64_t seed = options.scene.seed + runs.size();
    const bool follows = best == 0;
    const planning::PlannerResult result =
        search(options, problem.scene, *problem.goal, seed, progress, *place.journal, follows ? &published : nullptr);
    Json row = summarise(result, {});
    row.erase("files");
    row["seed"] = seed;
    runs.push_back(row);
    if (follows || rank_of(row) > best) {
      if (!follows) published.begin(seed);
      published.finish(result.plan, result.nodes, options.scene.threads);
      failed = failed_tries(problem.scene, result);
      io::publish_text(place.file("plan.yaml"), io::plan_overlay(result.plan, problem.scene.names_u()));
      dump_problems(options.dump, problem.scene, result.plan);
    }
    log::info(fmt::format("seed {}: {}, {} nodes, {} steps, {:.3g} s", seed, row["status"].get<std::string>(),
                          row["nodes"].get<int>(), row["steps"].get<int>(), row["time_s"].get<double>()));
    best = std::max(best, rank_of(row));
    open_end = may_go_on(result, place.journal->header(), interrupted());
    if (!open_end) place.journal->end_search(text_of(row));
  }
  return runs;
}

/// summary.json: the row that the folder keeps, files, and the statistics of several seeds.
Json summary_of(const Json& runs, const Place& place, const std::string& goal, bool explains) {
  const auto best =
      std::max_element(runs.begin(), runs.end(), [](const Json& a, const Json& b) { return rank_of(a) < rank_of(b); });
  Json summary = rank_of(*best) > 0 ? *best : runs.back();
  const Json seed = summary["seed"];
  summary.erase("seed");
  summary["files"] = Json::array();
  for (const char* name : {"run.h5", "run.html", "summary.json", "config.yaml", "plan.yaml", "deft.log"})
    summary["files"].push_back(place.file(name));
  if (explains) summary["files"].push_back(place.file("explain.json"));
  summary["goal"] = goal;
  summary["seed"] = seed;
  if (place.journal->header().seeds > 1) {
    summary["statistics"] = statistics_of_plans(runs);
    summary["runs"] = runs;
  }
  return summary;
}

/// explain.json: the part of the summary that says why, and failed_tries.
Json explanation_of(const Json& summary, const Json& failed) {
  Json part = Json::object();
  for (const char* key : {"status", "success", "goal", "seed", "reasons", "tries", "holds", "goal_error"})
    part[key] = summary[key];
  part["failed"] = failed;
  return part;
}

int report(const PlanOptions& options, const Json& summary, const Place& place) {
  if (options.output.json)
    print_json(summary);
  else
    print_for_people(summary, summary["goal"].get<std::string>(), place.file("run.html"));
  if (interrupted() && !summary["success"].get<bool>()) return kInterrupted;
  return summary["status"] == "Solved" ? kDone : kNotReached;
}

int run(PlanOptions options) {
  apply(options.output);
  Place place{options.resume, nullptr};
  if (!options.resume.empty()) {
    place.journal = std::make_unique<io::JournalFile>(options.resume);
    const io::JournalHeader& earlier = place.journal->header();
    if (options.goal.empty()) options.goal = earlier.goal;
    if (!options.seed_given) options.scene.seed = earlier.seed;
    if (!options.seeds_given) options.seeds = earlier.seeds;
  }
  const Problem problem = load_problem(options);
  const std::string goal = problem.goal->target.name, yaml = problem.scene.spec().merged_yaml;
  const io::JournalHeader header{goal, version(), options.scene.seed, options.seeds, yaml};
  if (place.journal) {
    place.journal->require_same(header);
    if (const auto summary = finished_summary(place.folder, *place.journal)) {
      if (!options.output.quiet) fmt::print(stderr, "{}: the run is finished; its result:\n", place.folder);
      return report(options, Json::parse(*summary), place);
    }
    std::filesystem::remove(place.file("summary.json"));
  } else {
    place.folder = io::make_run_folder(options.out, problem.scene.spec().name, options.force);
    place.journal = std::make_unique<io::JournalFile>(place.folder, header);
  }
  io::publish_text(place.file("config.yaml"), yaml);
  const RunLog log(place.file("deft.log"),
                   fmt::format("plan {} to {}, seeds from {}, {} in all", problem.scene.spec().file, goal,
                               options.scene.seed, options.seeds),
                   problem.warnings.all(), options.output, !options.resume.empty());

  catch_interrupts();
  bool open_end = false;
  Json failed = Json::array();
  const Json runs = search_all(options, problem, place, open_end, failed);
  const Json summary = summary_of(runs, place, goal, options.explain);
  const io::Run stored = io::read_run(place.folder);
  // Before the page, which shows it.
  if (options.explain) io::publish_text(place.file("explain.json"), text_of(explanation_of(summary, failed), 1) + "\n");
  write_page(place.file("run.html"), stored.header, stored.trajectory, io::read_plan(place.folder));
  io::publish_text(place.file("summary.json"), text_of(summary, 1) + "\n");
  const int code = report(options, summary, place);
  if (open_end && !options.output.quiet)
    fmt::print(stderr, "resume with: {}{}\n", resume_command(options.scene, options.nodes, options.first, place.folder),
               interrupted() ? "" : " --time-limit SECONDS");
  return code;
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
  command
      ->add_option("--time-limit", options->time_limit_s,
                   "Wall time per seed [s], with that of the runs it resumes (default: plan.time_limit_s)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1e-3, 1e9));
  command->add_flag("--explain", options->explain,
                    "Write explain.json into the folder: why there is no plan that holds, and what the search counted");
  command->add_flag("--first", options->first,
                    "Take the first plan that holds with steps of h, whatever other judges would say (plan.first)");
  command->add_option("--seeds", options->seeds, "Plan for so many seeds, from --seed on, and report statistics")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--out", options->out, "Run folder (default out/NAME-YYYYMMDD-HHMMSS)")->type_name("DIR");
  command->add_flag("--force", options->force, "Replace the run in a folder that is not empty");
  command
      ->add_option(
          "--resume", options->resume,
          "Go on with the run in this folder, which was killed, interrupted or out of time: the same scene and "
          "settings; goal and seeds are the run's if not given. The tree is the one of a run that was not cut "
          "short, but for improvement that is limited by time")
      ->type_name("DIR")
      ->excludes("--out")
      ->excludes("--force");
  add_dump_options(*command, options->dump);
  add_output_options(*command, options->output);
  return {command, [options, command] {
            options->seed_given = command->count("--seed") > 0;
            options->seeds_given = command->count("--seeds") > 0;
            return run(*options);
          }};
}

}  // namespace deft::cli
