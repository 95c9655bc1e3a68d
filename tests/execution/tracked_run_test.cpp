#include "deft/execution/tracked_run.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "deft/dynamics/rollout/rollout.hpp"
#include "support/pusher.hpp"

namespace deft::execution {
namespace tracked_run_test {

using control::Controller;
using control::TrackStatus;
using Eigen::VectorXd;

/// The finger pushes the box for ten steps, as a run records it.
dynamics::Trajectory recorded(const scene::Scene& scene) {
  const auto model = dynamics::make_step_model(scene);
  const dynamics::State start = dynamics::initial_state(*model);
  dynamics::Trajectory motion = dynamics::start_trajectory(*model, start);
  std::vector<VectorXd> commands;
  for (int k = 1; k <= 10; ++k) commands.push_back(VectorXd::Constant(1, 0.01 * k));
  const dynamics::RolloutEnd end =
      dynamics::rollout(*model, start, {.steps = 10, .on_step = {}, .commands = commands}, motion);
  EXPECT_TRUE(end.completed);
  return motion;
}

std::string refusal(const scene::Scene& scene, const dynamics::Trajectory& motion,
                    const TrackedRunOptions& options = {}) {
  try {
    make_task(scene, motion, options, {.scene = "config.yaml", .run = "out/run"});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(TrackedTask, HoldsTheCommandsOfARun) {
  const scene::Scene scene = test::build(control::pusher());
  const dynamics::Trajectory motion = recorded(scene);
  const TrackedTask task = make_task(scene, motion, {}, {});
  EXPECT_EQ(task.plan.h, 0.1);
  EXPECT_EQ(task.damping_h, 0.1);
  ASSERT_EQ(task.plan.q.size(), 11u);
  ASSERT_EQ(task.plan.u.size(), 10u);
  EXPECT_EQ(task.plan.u[4](0), 0.05);
  EXPECT_EQ(task.plan.u_start(0), 0);  // where the joint is
}

// A plan has arrived where what its goal names has: the second box may be anywhere.
TEST(TrackedRun, WhatTheGoalNamesHasToArrive) {
  const scene::Scene scene = test::build(control::pusher([](scene::SceneSpec& spec) {
    spec.world.models.push_back(test::body("other", multibody::JointKind::kAxes, {test::slide("y", {0, 1, 0})},
                                           multibody::SphereSpec{0.01}, 1, 1, 0.5));
    scene::GoalSpec goal;
    goal.target.name = "there";
    goal.target.models["box"].joints.by_name["x"] = 0.3;
    spec.goals = {goal};
  }));
  const dynamics::Trajectory motion = recorded(scene);
  TrackedTask whole = make_task(scene, motion, {}, {});
  TrackedTask named = make_task(scene, motion, {}, {.scene = "", .run = "", .goal = "there"});
  EXPECT_TRUE(whole.goal_rows.empty());
  ASSERT_EQ(named.goal_rows.size(), 1u);
  EXPECT_EQ(scene.model().velocities()[named.goal_rows[0]].name, "box/x");
  EXPECT_TRUE(make_task(scene, motion, {}, {.scene = "", .run = "", .goal = "gone"}).goal_rows.empty());
  for (TrackedTask* task : {&whole, &named}) {
    task->scene = task->scene.with([](scene::SceneSettings& settings) { settings.track.replan = false; });
    task->plan.q.back()(2) += 0.1;  // where the plan has it and nothing takes it
    const TrackedRun run = execution::run(*task, {}, {}, 1, {});
    EXPECT_EQ(run.end.success, task == &named);
    EXPECT_NEAR(run.end.final.position_m, 0.1, 0.01);
  }
}

TEST(TrackedTask, RefusesWhatCannotBeFollowed) {
  const scene::Scene scene = test::build(control::pusher());
  dynamics::Trajectory motion = recorded(scene);
  EXPECT_EQ(refusal(scene, motion), "");

  dynamics::Trajectory empty =
      dynamics::start_trajectory(*dynamics::make_step_model(scene), {.q = scene.initial_configuration()});
  EXPECT_NE(refusal(scene, empty).find("out/run: error: holds no steps to follow"), std::string::npos)
      << refusal(scene, empty);

  const scene::Scene longer = scene.with([](scene::SceneSettings& settings) { settings.step.h = 0.2; });
  EXPECT_NE(refusal(longer, motion).find("config.yaml: error: step.h: 0.2 s"), std::string::npos);
  EXPECT_EQ(refusal(longer, motion, {.controller = Controller::kOpenLoop}), "");

  motion.names_q[0] = "other/x";
  EXPECT_NE(refusal(scene, motion).find("is not the scene of out/run"), std::string::npos);
}

TEST(TrackedTask, AReplayPassesOverNoCommand) {
  const scene::Scene scene = test::build(control::pusher([](scene::SceneSpec& spec) { spec.track.period = 0.25; }));
  const TrackedRunOptions replay{.controller = Controller::kOpenLoop, .replays = true};
  EXPECT_EQ(make_task(scene, recorded(scene), replay, {}).scene.settings().track.period, 0.1);
  EXPECT_EQ(make_task(scene, recorded(scene), {}, {}).scene.settings().track.period, 0.25);
}

TEST(TrackedRun, FollowsThePlanAndTellsItsListener) {
  const scene::Scene scene = test::build(control::pusher());
  const TrackedTask task = make_task(scene, recorded(scene), {}, {});
  int begins = 0, periods = 0, steps = 0;
  TrackedRunListener listener;
  listener.begin = [&](const dynamics::Trajectory& motion) {
    ++begins;
    EXPECT_EQ(motion.num_steps(), 0);
  };
  listener.period = [&](const dynamics::Trajectory&) { ++periods; };
  listener.inner_step = [&](const dynamics::StepResult&, const dynamics::StepModel&) { ++steps; };
  const TrackedRun followed = run(task, {}, {}, 1, listener);
  EXPECT_EQ(followed.end.status, TrackStatus::kCompleted);
  EXPECT_TRUE(followed.end.success);
  EXPECT_EQ(begins, 1);
  EXPECT_EQ(periods, followed.motion.num_steps());
  EXPECT_GE(steps, periods);
  EXPECT_FALSE(followed.settings.empty());

  const TrackedOutcome outcome = outcome_of(followed, 1);
  int counted = 0;
  for (const auto& [word, count] : outcome.periods) counted += count;
  EXPECT_EQ(counted, periods);
  EXPECT_EQ(outcome.duration_s, followed.motion.t.back());
  EXPECT_LE(outcome.period_p50_us, outcome.period_p99_us);
}

TEST(TrackedRun, StopsWhenItIsAsked) {
  const scene::Scene scene = test::build(control::pusher());
  const TrackedTask task = make_task(scene, recorded(scene), {}, {});
  int periods = 0;
  TrackedRunListener listener;
  listener.period = [&](const dynamics::Trajectory&) { ++periods; };
  listener.stop = [&] { return periods == 3; };
  const TrackedRun stopped = run(task, {}, {}, 1, listener);
  EXPECT_EQ(stopped.end.status, TrackStatus::kInterrupted);
  EXPECT_EQ(stopped.motion.num_steps(), 3);
}

TEST(TrackedRun, TheSameSeedIsTheSameRun) {
  const scene::Scene scene = test::build(control::pusher());
  const TrackedTask task = make_task(scene, recorded(scene), {}, {});
  scene::DisturbanceSpec spec;
  spec.mass = 0.3;
  spec.friction = 0.3;
  const auto end_of = [&](std::uint64_t seed) { return run(task, {}, spec, seed, {}).motion.q.back(); };
  EXPECT_EQ(end_of(1), end_of(1));
  EXPECT_NE(end_of(1), end_of(2));
}

TEST(TrackedStatistics, CountWhatHasEnded) {
  std::vector<TrackedOutcome> outcomes(4);
  outcomes[0].success = outcomes[1].success = true;
  outcomes[0].final.position_m = 0.001;
  outcomes[1].final.position_m = 0.003;
  outcomes[2].final.position_m = std::numeric_limits<double>::quiet_NaN();
  outcomes[3].status = TrackStatus::kInterrupted;
  const TrackedStatistics all = statistics_of(outcomes);
  EXPECT_EQ(all.seeds, 3);
  EXPECT_EQ(all.successes, 2);
  EXPECT_EQ(all.final_position_m.p50, 0.003);
  EXPECT_EQ(all.final_position_m.p95, kInfinity);
  EXPECT_LT(all.wilson_low, 2.0 / 3);
  EXPECT_GT(all.wilson_high, 2.0 / 3);
  EXPECT_EQ(statistics_of(std::span(outcomes).subspan(3)).seeds, 0);
}

}  // namespace tracked_run_test
}  // namespace deft::execution
