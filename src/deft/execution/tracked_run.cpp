#include "deft/execution/tracked_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "deft/control/tracking_mpc.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/execution/replanner.hpp"
#include "deft/math/percentile.hpp"
#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/success_rate.hpp"

namespace deft::execution {
namespace {

constexpr double kSameLength = 1e-6;  // relative: step lengths that differ by less are one

/// Whether runs of this scene, whose records are `h` apart, can be followed. @throws InputError naming the field.
void check_followed(const TrackedRunOptions& options, const scene::Scene& scene, double h, const std::string& name) {
  const auto refuse = [&name](const std::string& what) { throw InputError({name, 0, 0}, what); };
  if (scene.velocity_commands()) refuse("commands velocities; only joint targets can be followed");
  if (options.replays) return;
  for (const scene::Robot& robot : scene.robots())
    if (robot.drive == scene::Drive::kForce)
      refuse(fmt::format(
          "robot '{}' has drive: force; only joint targets can be followed; 'deft replay' repeats forces", robot.name));
  if (options.controller != control::Controller::kMpc || options.policy) return;
  try {
    control::check_trackable(scene, scene.settings().track);
  } catch (const InputError& error) {
    refuse(error.diagnostics().front().message);
  }
  if (const std::optional<double> step = scene.settings().step.h; step && std::abs(*step - h) > kSameLength * h)
    refuse(
        fmt::format("step.h: {} s, but the steps of the run are {:.12g} s long; the controller mpc predicts step by "
                    "step: valid: {:.12g}",
                    *step, h, h));
}

Eigen::VectorXd vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

/// The command in force before the first: joint targets where the joints are, forces as they begin.
Eigen::VectorXd command_before(const scene::Scene& scene, const control::TrackedPlan& plan) {
  Eigen::VectorXd u(scene.nu());
  for (const scene::Robot& robot : scene.robots())
    for (int i = robot.first_u; i < robot.first_u + robot.nu; ++i)
      u(i) = robot.drive == scene::Drive::kForce ? plan.u.front()(i) : plan.q.front()(scene.command_coordinates()[i]);
  return u;
}

Spread spread_of(std::span<const TrackedOutcome> outcomes, control::ObjectError TrackedOutcome::* error,
                 double control::ObjectError::* part) {
  std::vector<double> values;
  for (const TrackedOutcome& outcome : outcomes) {
    const double value = outcome.*error.*part;
    values.push_back(std::isfinite(value) ? value : kInfinity);
  }
  return {percentile(values, 0.5), percentile(values, 0.95)};
}

}  // namespace

void require_steps(const dynamics::Trajectory& motion, const std::string& run) {
  if (motion.num_steps() == 0)
    throw InputError({run, 0, 0}, "holds no steps to follow; make a plan with 'deft plan' or a run with 'deft sim'");
}

TrackedTask make_task(scene::Scene scene, const dynamics::Trajectory& motion, const TrackedRunOptions& options,
                      const TaskNames& names) {
  require_steps(motion, names.run);
  if (scene.names_q() != motion.names_q || scene.names_u() != motion.names_u)
    throw InputError({names.scene, 0, 0},
                     fmt::format("is not the scene of {}: the coordinates or commands have other names", names.run));
  TrackedTask task{.scene = std::move(scene), .plan = {}, .goal_rows = {}, .damping_h = 0};
  const double h = motion.t[1] - motion.t[0];
  check_followed(options, task.scene, h, names.scene);
  if (options.replays && h < task.scene.settings().track.period)  // no command is passed over
    task.scene = task.scene.with([h](scene::SceneSettings& settings) { settings.track.period = h; });
  for (const scene::GoalSpec& goal : task.scene.spec().goals)
    if (goal.target.name == names.goal)
      task.goal_rows = planning::Goal(task.scene, goal, task.scene.settings().plan.wrap_angles).rows();
  const auto model = dynamics::make_step_model(task.scene);
  task.damping_h = model->second_order() ? kInfinity : model->h();
  task.plan.h = h;
  for (const std::vector<double>& q : motion.q) task.plan.q.push_back(vector_of(q));
  for (const std::vector<double>& u : motion.u) task.plan.u.push_back(vector_of(u));
  if (options.replays && !motion.v.empty() && options.plant != plant::PlantKind::kQuasidynamic)
    task.plan.v_start = vector_of(motion.v.front());
  task.plan.u_start = command_before(task.scene, task.plan);
  return task;
}

TrackedRun run(const TrackedTask& task, const TrackedRunOptions& options, const scene::DisturbanceSpec& spec,
               std::uint64_t seed, const TrackedRunListener& listener) {
  const plant::Disturbance disturbance = plant::draw_disturbance(spec, seed);
  Diagnostics repeated;  // what the world warns of was said when the task's scene was built
  const scene::Scene world = scene::Scene::build(plant::disturbed(task.scene, disturbance), repeated);
  const scene::TrackSettings& settings = task.scene.settings().track;
  plant::PlantOptions how = plant::tracked_options(options.plant, world, settings, task.damping_h);
  how.on_step = listener.inner_step;
  const auto plant = options.make_plant ? options.make_plant(world, how) : plant::make_plant(options.plant, world, how);
  const std::optional<Eigen::VectorXd> settled = plant::disturbed_start(world, task.plan.q.front(), disturbance);
  const Eigen::VectorXd q_start = settled ? *settled : plant::moved_start(world, task.plan.q.front(), disturbance);
  TrackedRun run{.settings = plant->settings()};
  run.motion = control::start_tracking(*plant, control::ReferencePath(task.scene, task.plan), q_start);
  if (listener.begin) listener.begin(run.motion);
  if (!settled) {
    run.end.status = control::TrackStatus::kStartFailed;
    run.end.reason = "the disturbed start does not settle";
    run.end.plan_duration_s = control::ReferencePath(task.scene, task.plan).duration();
    run.end.final = run.end.largest = control::object_error(task.scene, q_start, task.plan.q.back());
    return run;
  }
  const Stopwatch wall;
  const auto stop = [&] { return (listener.stop && listener.stop()) || wall.seconds() > options.time_limit_s; };
  Replanner replanner(task.scene, task.plan.q.back(), task.goal_rows, seed, options.threads, stop);
  control::TrackOptions track{.controller = options.controller, .disturbance = disturbance};
  track.policy = options.policy;
  track.search = &replanner;
  track.goal_rows = task.goal_rows;
  track.repeats = options.replays;
  track.max_duration_s = options.max_duration_s;
  track.time_limit_s = options.time_limit_s;
  track.record_contacts = listener.record_contacts;
  track.on_period = [&](const dynamics::Trajectory& motion) {
    if (listener.period) listener.period(motion);
    return !listener.stop || !listener.stop();
  };
  run.end = control::track(*plant, task.scene, task.plan, q_start, track, run.motion);
  run.replan_s = replanner.seconds();
  return run;
}

TrackedOutcome outcome_of(const TrackedRun& run, std::uint64_t seed) {
  TrackedOutcome outcome{.seed = seed,
                         .status = run.end.status,
                         .success = run.end.success,
                         .final = run.end.final,
                         .largest = run.end.largest,
                         .reason = run.end.reason,
                         .duration_s = run.motion.t.back(),
                         .plan_duration_s = run.end.plan_duration_s,
                         .held_s = run.end.held_s,
                         .periods = {},
                         .replans = run.end.replans,
                         .replan_s = run.replan_s};
  std::vector<double> periods_us;
  for (const dynamics::TrackRecord& record : run.motion.tracks) {
    const std::string& word = run.motion.track_words[record.status];
    const auto row = std::find_if(outcome.periods.begin(), outcome.periods.end(),
                                  [&](const auto& counted) { return counted.first == word; });
    if (row == outcome.periods.end())
      outcome.periods.emplace_back(word, 1);
    else
      ++row->second;
    periods_us.push_back(record.period_us);
  }
  outcome.period_p50_us = percentile(periods_us, 0.5);
  outcome.period_p99_us = percentile(periods_us, 0.99);
  return outcome;
}

TrackedStatistics statistics_of(std::span<const TrackedOutcome> outcomes) {
  std::vector<TrackedOutcome> ended;
  for (const TrackedOutcome& outcome : outcomes)
    if (outcome.status != control::TrackStatus::kInterrupted) ended.push_back(outcome);
  TrackedStatistics all{.seeds = static_cast<int>(ended.size())};
  if (ended.empty()) return all;
  for (const TrackedOutcome& outcome : ended) all.successes += outcome.success;
  std::tie(all.wilson_low, all.wilson_high) = planning::wilson_interval(all.successes, all.seeds);
  using Error = control::ObjectError;
  all.final_position_m = spread_of(ended, &TrackedOutcome::final, &Error::position_m);
  all.final_rotation_rad = spread_of(ended, &TrackedOutcome::final, &Error::rotation_rad);
  all.largest_position_m = spread_of(ended, &TrackedOutcome::largest, &Error::position_m);
  all.largest_rotation_rad = spread_of(ended, &TrackedOutcome::largest, &Error::rotation_rad);
  return all;
}

}  // namespace deft::execution
