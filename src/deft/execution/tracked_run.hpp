#pragma once
// A plan on a plant: the world with its disturbances, the controller, new plans on the way. One run per seed.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "deft/control/tracking_loop.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/plant/plant.hpp"
#include "deft/scene/scene.hpp"

namespace deft::execution {

/// What follows, and how.
struct TrackedRunOptions {
  plant::PlantKind plant = plant::PlantKind::kQuasidynamic;    // what follows
  control::Controller controller = control::Controller::kMpc;  // where commands come from
  /// Instead of `plant`: makes one of the disturbed world, which outlives it.
  std::function<std::unique_ptr<plant::Plant>(const scene::Scene& world, const plant::PlantOptions&)> make_plant{};
  /// Instead of `controller`: control::TrackOptions::policy.
  std::function<void(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& u)> policy{};
  /// As recorded: no re-timing and nothing added at the end; forces are repeated too. Controller open-loop only.
  bool replays = false;
  double max_duration_s = 0;        // of the plant's time [s]; 0: as control::TrackOptions
  double time_limit_s = kInfinity;  // wall time [s]
  int threads = 0;                  // of searches for new plans, 0: one per core; results do not depend on it
};

/// A motion to follow, with the scene that it was made in.
struct TrackedTask {
  scene::Scene scene;          // as the controller believes it to be
  control::TrackedPlan plan;   // commands and configurations
  std::vector<int> goal_rows;  // as control::TrackOptions
  double damping_h = 0;        // [s], what plant::object_damping takes: of the scene's step, not of the records
};

/// What messages call a task's parts: the file of its scene, and the folder or file of its run.
struct TaskNames {
  std::string scene;  // its file
  std::string run;    // its folder or file
  std::string goal;   // of the run's plan, if it is one and the scene still has it: what it names has to arrive
};

/// @throws InputError naming `run` where the motion has no steps to follow.
void require_steps(const dynamics::Trajectory& motion, const std::string& run);

/// The commands of a recorded motion as a task in `scene`.
/// @throws InputError where the motion has no steps, is not one of this scene, or cannot be followed in this way.
TrackedTask make_task(scene::Scene scene, const dynamics::Trajectory& motion, const TrackedRunOptions& options,
                      const TaskNames& names);

/// Whom a run informs. All may be empty.
struct TrackedRunListener {
  std::function<void(const dynamics::Trajectory&)> begin;   // before the first period, with names and start
  std::function<void(const dynamics::Trajectory&)> period;  // after each period
  /// After each inner step of the plant. @param model  that made it, until the next.
  std::function<void(const dynamics::StepResult& result, const dynamics::StepModel& model)> inner_step;
  std::function<bool()> stop;   // true ends the run after a period, and a search for a new plan at once
  bool record_contacts = true;  // whether the motion keeps the plant's contacts
};

/// One run on a plant of its own world.
struct TrackedRun {
  control::TrackEnd end;              // what it came to
  dynamics::Trajectory motion;        // what was recorded
  std::vector<std::string> settings;  // of the plant, one line each
  double replan_s = 0;                // time spent in the planner [s]
};

/// Draws the disturbances of `seed`, builds the plant in the disturbed world and follows the task's plan there; plans
/// again where the scene's settings allow it.
/// @throws InputError for what cannot be tracked, or has no such plant.
TrackedRun run(const TrackedTask& task, const TrackedRunOptions& options, const scene::DisturbanceSpec& disturbance,
               std::uint64_t seed, const TrackedRunListener& listener);

/// The numbers of one run.
struct TrackedOutcome {
  std::uint64_t seed = 0;                                          // of its disturbances
  control::TrackStatus status = control::TrackStatus::kCompleted;  // why it ended
  bool success = false;                                            // completed, within the settings' tolerances
  control::ObjectError final, largest;                             // at the end, and on the way
  std::string reason;                                              // why it did not complete; empty: it did
  double period_p50_us = 0, period_p99_us = 0;                     // time of the controller; NaN: none
  double duration_s = 0, plan_duration_s = 0;  // of the run, and of the first plan as it was followed [s]
  double held_s = 0;                           // in which the command was held [s]
  /// Periods by what the controller did (control::TrackWord), in the order in which it first did so.
  std::vector<std::pair<std::string, int>> periods;
  int replans = 0;      // new plans that were followed
  double replan_s = 0;  // time spent in the planner [s]
};
/// Of a run that has ended.
TrackedOutcome outcome_of(const TrackedRun& run, std::uint64_t seed);

/// Median and 95th percentile over runs; infinity where a run has no finite value.
struct Spread {
  double p50 = 0, p95 = 0;  // in the unit of the values
};

/// What many seeds say: of the runs that were not interrupted.
struct TrackedStatistics {
  int seeds = 0, successes = 0;                     // runs, and those that arrived
  double wilson_low = 0, wilson_high = 0;           // 95 % interval of the share that arrives
  Spread final_position_m, final_rotation_rad;      // errors at the end
  Spread largest_position_m, largest_rotation_rad;  // on the way
};
/// Of all outcomes; only `seeds` = 0 means anything where no run has ended.
TrackedStatistics statistics_of(std::span<const TrackedOutcome> outcomes);

}  // namespace deft::execution
