// The loop over time: what is measured or commanded a period late, a clock that waits for the object or does not.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "deft/control/tracking_loop.hpp"
#include "support/pusher.hpp"

namespace deft::control {
namespace tracking_delay_test {

using Eigen::VectorXd;

struct Outcome {
  TrackEnd end;
  dynamics::Trajectory motion;
};

/// The pusher's plan of twenty steps under `d`, in a loop of one period per step. @param change  of the controller.
/// @param world  of the plant.
Outcome run(const scene::DisturbanceSpec& d, const std::function<void(scene::SceneSpec&)>& change = {},
            const std::function<void(scene::SceneSpec&)>& world = {}) {
  const scene::Scene plain = test::build(pusher());
  const TrackedPlan plan = roll_out(plain, VectorXd::Constant(1, 0.01), 20);
  const scene::Scene scene = test::build(pusher([&](scene::SceneSpec& spec) {
    spec.track.period = *spec.step.h;
    spec.track.replan = false;
    spec.track.replan_position = 1;  // never off the plan
    spec.track.filter_time = 0;
    if (change) change(spec);
  }));
  const scene::Scene real = test::build(pusher(world));
  const auto plant = plant::make_plant(plant::PlantKind::kQuasidynamic, real, {.step = 0.1});
  TrackOptions options{.controller = Controller::kMpc, .disturbance = plant::draw_disturbance(d, 1)};
  Outcome outcome;
  outcome.motion = start_tracking(*plant, ReferencePath(scene, plan), plan.q.front());
  outcome.end = track(*plant, scene, plan, plan.q.front(), options, outcome.motion);
  return outcome;
}

/// Largest difference of the commands of two runs, as long as the plan moves.
double difference(const Outcome& a, const Outcome& b) {
  double most = 0;
  for (std::size_t k = 0; k < 20; ++k) most = std::max(most, std::abs(a.motion.u[k][0] - b.motion.u[k][0]));
  return most;
}

TEST(TrackingDelay, PosesThatArriveAPeriodLateAreComparedWithWhereThePlanWas) {
  const Outcome prompt = run({});
  const Outcome late = run({.delay_s = 0.1});
  // What smoothing asks for beside the plan, hundredths of a millimetre, comes slower where errors are seen late.
  EXPECT_LT(difference(prompt, late), 1e-4) << "as planned, so nothing to correct";
  EXPECT_TRUE(late.end.success);
  const Outcome naive = run({.delay_s = 0.1}, [](scene::SceneSpec& spec) { spec.track.delay_compensation = false; });
  EXPECT_GT(difference(prompt, naive), 1e-3) << "it chases what is no error";
}

TEST(TrackingDelay, CommandsThatActAPeriodLateStillHelp) {
  // A box twice as heavy as planned; a period is a whole step of the plan.
  const auto heavier = [](scene::SceneSpec& spec) { spec.world.models[1].links[0].inertial->mass = 2; };
  const Outcome open = run({}, [](scene::SceneSpec& spec) { spec.track.command_offset = 1e-9; }, heavier);
  for (const int lag : {0, 1}) {
    const Outcome outcome = run({.lag_periods = lag}, {}, heavier);
    EXPECT_EQ(outcome.end.status, TrackStatus::kCompleted);
    EXPECT_EQ(outcome.end.holds, 0);
    EXPECT_LT(outcome.end.final.position_m, 0.5 * open.end.final.position_m) << lag;
  }
}

TEST(TrackingDelay, AClockByTheNearestPointWaitsAndATimedOneDoesNot) {
  const auto stuck = [](scene::SceneSpec& spec) { spec.objects = {{.name = "box", .frozen = true, .where = {}}}; };
  for (const auto reference : {scene::TrackReference::kTimed, scene::TrackReference::kNearest}) {
    const Outcome outcome = run({}, [&](scene::SceneSpec& spec) { spec.track.reference = reference; }, stuck);
    double farthest = 0;
    for (const auto& record : outcome.motion.tracks) farthest = std::max(farthest, record.knot);
    if (reference == scene::TrackReference::kTimed) {
      EXPECT_EQ(farthest, 20);
    } else {
      EXPECT_LE(farthest, 3) << "a knot ahead of the nearest";
    }
    EXPECT_FALSE(outcome.end.success);
    EXPECT_EQ(outcome.end.status, TrackStatus::kOffPlan) << "patience ends";
  }
}

/// Two fingers carry a box between them.
scene::Scene carried(const std::function<void(scene::SceneSpec&)>& change) {
  return test::build(pusher([&](scene::SceneSpec& spec) {
    spec.world.models.push_back(spec.world.models.front());
    spec.world.models.back().name = "other";
    spec.robots.push_back(spec.robots.front());
    spec.robots.back().name = "other";
    spec.configurations.front().models["other"].joints.list = {0.2};
    change(spec);
  }));
}

TEST(TrackingDelay, WhatLastsIsMadeUpForInTheEndHoweverLinearised) {
  // A spring half as stiff again as the model's, and corrections that cost as much as errors.
  const scene::Scene world = carried([](scene::SceneSpec& spec) { spec.robots.back().stiffness.all = 150; });
  for (const auto linearization : {scene::TrackLinearization::kMeasured, scene::TrackLinearization::kReference}) {
    const scene::Scene scene = carried([&](scene::SceneSpec& spec) {
      spec.track.period = 0.02;
      spec.track.settle = 6;
      spec.track.replan = false;
      spec.track.linearization = linearization;
      spec.track.command_weight = spec.track.position_weight;
    });
    const TrackedPlan plan = roll_out(scene, Eigen::Vector2d(0.011, 0.009), 20);
    const auto error = [&](Controller controller) {
      const auto plant = plant::make_plant(plant::PlantKind::kQuasidynamic, world, {.step = 0.02});
      dynamics::Trajectory motion = start_tracking(*plant, ReferencePath(scene, plan, 0.1), plan.q.front());
      return track(*plant, scene, plan, plan.q.front(), {.controller = controller}, motion).final.position_m;
    };
    EXPECT_GT(error(Controller::kOpenLoop), 1e-3);
    EXPECT_LT(error(Controller::kMpc), 1e-4) << to_string(linearization);
  }
}

}  // namespace tracking_delay_test
}  // namespace deft::control
