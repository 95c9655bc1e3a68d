// Success, time and cost of the planner over many seeds.
//   planning_benchmark [--seeds N] [--first-seed S] [--threads N] [--goal NAME] [--set key=YAML]…
//                      [--random NAME LOW HIGH]… [-v] [--json] SCENE…
// --random draws the coordinate NAME of the goal again for every seed; --json prints an object per scene instead.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "deft/io/scene/scene_file.hpp"
#include "deft/math/random.hpp"
#include "deft/planning/feasibility/success_rate.hpp"
#include "deft/planning/planner.hpp"

namespace {

using namespace deft;

struct Arguments {
  int seeds = 50, threads = 1;
  std::uint64_t first_seed = 1;
  bool verbose = false, json = false;
  std::string goal;
  std::vector<std::string> settings, scenes;
  struct Range {
    std::string name;
    double low, high;
  };
  std::vector<Range> random;
};

/// The goal with the coordinates of `ranges` drawn for a seed.
scene::GoalSpec draw_goal(scene::GoalSpec goal, const std::vector<Arguments::Range>& ranges, std::uint64_t seed) {
  std::uint32_t index = 0;
  for (const Arguments::Range& range : ranges)
    goal.target.models.begin()->second.joints.by_name[range.name] =
        range.low + (range.high - range.low) * random_uniform(seed, 0, index++);
  return goal;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  return values[share * static_cast<double>(values.size() - 1) + 0.5];
}

/// Why a seed has no plan: what ended its search, and whether the nearest node was close.
std::string failure(const planning::PlannerResult& result, const scene::GoalSpec& goal) {
  const planning::GoalError& e = result.plan.error;
  const bool near = e.position_m <= 2 * goal.tolerance_position_m &&
                    e.rotation_rad <= 2 * goal.tolerance_rotation_rad && e.joint <= 2 * goal.tolerance_joint;
  return fmt::format("{}{}", result.end == planning::SearchEnd::kTime ? "out of time" : "out of nodes",
                     near ? ", within twice the tolerance" : "");
}

/// What the seeds of one scene found.
struct Tally {
  int successes = 0, hold_all = 0;
  std::vector<int> hold;  // by entry of plan.refine
  std::map<std::string, int> failures;
  std::vector<double> times, firsts, solves, regrasps, steps;
};

void count(Tally& tally, const planning::PlannerResult& result, const scene::GoalSpec& goal, bool verbose) {
  tally.solves.push_back(static_cast<double>(result.solves));
  tally.times.push_back(result.time_s);
  if (!result.plan.success) {
    ++tally.failures[failure(result, goal)];
    return;
  }
  ++tally.successes;
  for (std::size_t i = 0; i < result.plan.step_halving.size(); ++i) {
    const planning::StepHalvingCheck& run = result.plan.step_halving[i];
    tally.hold[i] += run.success;
    if (verbose)
      fmt::print("            at h/{} {} error {:.2g} m {:.2g} rad\n", run.substeps, run.success ? "ok  " : "FAIL",
                 run.error.position_m, run.error.rotation_rad);
  }
  tally.hold_all += result.plan.holds();
  tally.firsts.push_back(result.first_solution_s);
  tally.regrasps.push_back(result.plan.regrasps);
  tally.steps.push_back(static_cast<double>(result.plan.commands.size()));
}

void print(const Tally& tally, const std::string& name, int seeds, const std::vector<int>& refine) {
  const auto [low, high] = planning::wilson_interval(tally.successes, seeds);
  fmt::print(
      "{:<32} {}/{} ({:.1f} … {:.1f} %)  first p50 {:.3f} p95 {:.3f} s  time p50 {:.2f} s  solves p50 {:.0f} p95 "
      "{:.0f}  steps {:.0f}  regrasps {:.0f}\n",
      name, tally.successes, seeds, 100 * low, 100 * high, quantile(tally.firsts, 0.5), quantile(tally.firsts, 0.95),
      quantile(tally.times, 0.5), quantile(tally.solves, 0.5), quantile(tally.solves, 0.95), quantile(tally.steps, 0.5),
      quantile(tally.regrasps, 0.5));
  for (const auto& [why, seeds_of_it] : tally.failures) fmt::print("  {} failed: {}\n", seeds_of_it, why);
  for (std::size_t i = 0; i < refine.size(); ++i)
    fmt::print("  {} of {} hold at h/{}\n", tally.hold[i], tally.successes, refine[i]);
  if (!refine.empty()) fmt::print("  {} of {} hold at all of them and at h\n", tally.hold_all, tally.successes);
}

/// Times, steps and regrasps of each seed that has a plan.
void print_json(const Tally& tally, const std::string& scene, const std::string& goal, int seeds) {
  std::vector<std::string> failures;
  for (const auto& [why, seeds_of_it] : tally.failures) failures.push_back(fmt::format("\"{}\": {}", why, seeds_of_it));
  fmt::print(
      "{{\"scene\": \"{}\", \"goal\": \"{}\", \"seeds\": {}, \"found\": {}, \"first_s\": [{}], \"steps\": [{}], "
      "\"regrasps\": [{}], \"solves\": [{}], \"hold_refined\": {}, \"failures\": {{{}}}}}\n",
      scene, goal, seeds, tally.successes, fmt::join(tally.firsts, ", "), fmt::join(tally.steps, ", "),
      fmt::join(tally.regrasps, ", "), fmt::join(tally.solves, ", "), tally.hold_all, fmt::join(failures, ", "));
}

void run(const Arguments& arguments, const std::string& file) {
  Diagnostics diagnostics;
  const scene::Scene scene = io::load_scene(
      file, {.overlays = {}, .settings = arguments.settings, .package_paths = {}, .bundled_scenes = DEFT_SCENES_DIR},
      diagnostics);
  const auto& goals = scene.spec().goals;
  const auto goal = std::find_if(goals.begin(), goals.end(), [&](const auto& g) {
    return arguments.goal.empty() || g.target.name == arguments.goal;
  });
  if (goal == goals.end()) throw InputError({file, 0, 0}, fmt::format("has no goal '{}'", arguments.goal));
  const std::vector<int>& refine = scene.settings().plan.refine;
  Tally tally;
  tally.hold.assign(refine.size(), 0);
  for (int k = 0; k < arguments.seeds; ++k) {
    planning::PlannerOptions options;
    options.seed = arguments.first_seed + static_cast<std::uint64_t>(k);
    options.threads = arguments.threads;
    const planning::PlannerResult result =
        planning::make_plan(scene, draw_goal(*goal, arguments.random, options.seed), options);
    if (arguments.verbose)
      fmt::print(
          "  seed {:4} {} first {:.3f} s time {:.3f} s tried {} solves {} steps {} regrasps {} error {:.2g} m {:.2g} "
          "rad {:.2g}\n",
          options.seed, result.plan.success ? "ok  " : "FAIL", result.first_solution_s, result.time_s, result.tried,
          result.solves, result.plan.commands.size(), result.plan.regrasps, result.plan.error.position_m,
          result.plan.error.rotation_rad, result.plan.error.joint);
    count(tally, result, *goal, arguments.verbose);
  }
  if (arguments.json)
    print_json(tally, scene.spec().name, goal->target.name, arguments.seeds);
  else
    print(tally, scene.spec().name + " " + goal->target.name, arguments.seeds, refine);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (word == "--seeds")
      arguments.seeds = std::atoi(value().c_str());
    else if (word == "--first-seed")
      arguments.first_seed = std::strtoull(value().c_str(), nullptr, 10);
    else if (word == "--threads")
      arguments.threads = std::atoi(value().c_str());
    else if (word == "--goal")
      arguments.goal = value();
    else if (word == "--set")
      arguments.settings.push_back(value());
    else if (word == "--random") {
      const std::string name = value(), low = value(), high = value();
      arguments.random.push_back({name, std::atof(low.c_str()), std::atof(high.c_str())});
    } else if (word == "-v")
      arguments.verbose = true;
    else if (word == "--json")
      arguments.json = true;
    else
      arguments.scenes.push_back(word);
  }
  try {
    for (const std::string& scene : arguments.scenes) run(arguments, scene);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
