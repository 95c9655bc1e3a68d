// By what a controller predicts: steps of second order against closed forms and differences, what momentum changes in
// its command, and a prediction that learns what it leaves out.

#include "deft/control/motion_prediction.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "deft/control/tracking_loop.hpp"
#include "deft/control/tracking_mpc.hpp"
#include "deft/plant/plant.hpp"
#include "support/pusher.hpp"

namespace deft::control {
namespace motion_prediction_test {

using Eigen::Vector2d;
using Eigen::VectorXd;

scene::Scene pusher_that_predicts(scene::TrackPrediction prediction,
                                  const std::function<void(scene::SceneSpec&)>& change = {}) {
  return test::build(pusher([&](scene::SceneSpec& spec) {
    spec.track.prediction = prediction;
    if (change) change(spec);
  }));
}

TEST(MotionPrediction, WhatIsLetGoCoasts) {
  for (const double damping : {0.0, 5.0}) {
    const scene::Scene scene = pusher_that_predicts(
        scene::TrackPrediction::kSecondOrder, [&](scene::SceneSpec& spec) { spec.track.object_damping = damping; });
    MotionPrediction prediction(scene, scene.settings().track, 1);
    EXPECT_EQ(prediction.state_size(), 4);
    PredictedStep step;
    // Far from the finger: M (v⁺ − v) = −h γ M v⁺.
    ASSERT_TRUE(prediction.linearize(0, Vector2d(0, 1), Vector2d(0, 0.3), VectorXd::Zero(1), step));
    const double h = *scene.settings().step.h, slower = 1 / (1 + h * damping);
    EXPECT_NEAR(step.v_next(1), 0.3 * slower, 1e-6);
    EXPECT_NEAR(step.q_next(1), 1 + h * 0.3 * slower, 1e-6);
    EXPECT_NEAR(step.A(1, 3), h * slower, 1e-4);
    EXPECT_NEAR(step.A(3, 3), slower, 1e-4);
    EXPECT_NEAR(step.B.row(1).norm(), 0, 1e-4);
  }
}

TEST(MotionPrediction, DerivativesAreDifferencesOfItsSteps) {
  const scene::Scene scene = pusher_that_predicts(scene::TrackPrediction::kSecondOrder);
  MotionPrediction prediction(scene, scene.settings().track, 2);
  const VectorXd q = Vector2d(0, 0.1), v = Vector2d(0.1, -0.2), u = VectorXd::Constant(1, 0.05);  // pressed together
  PredictedStep step, moved;
  ASSERT_TRUE(prediction.linearize(0, q, v, u, step));
  constexpr double kStep = 1e-5;
  const auto column = [&](const VectorXd& dx, double du) {
    EXPECT_TRUE(prediction.linearize(1, q + dx.head(2), v + dx.tail(2), u + VectorXd::Constant(1, du), moved));
    VectorXd change(4);
    change << moved.q_next - step.q_next, moved.v_next - step.v_next;
    return VectorXd(change / kStep);
  };
  for (int i = 0; i < 4; ++i) {
    VectorXd dx = VectorXd::Zero(4);
    dx(i) = kStep;
    EXPECT_LT((column(dx, 0) - step.A.col(i)).norm(), 1e-2 * (1 + step.A.col(i).norm())) << i;
  }
  EXPECT_LT((column(VectorXd::Zero(4), kStep) - step.B.col(0)).norm(), 1e-2 * step.B.norm());
}

TEST(MotionPrediction, WhatPenetratesIsPartedSlowlyWhereTheScenesOrThePlantsSaySo) {
  // A limited speed of recovery has no derivatives; the prediction has them all the same.
  for (const double speed : {kInfinity, 0.05}) {
    const scene::Scene scene = pusher_that_predicts(scene::TrackPrediction::kSecondOrder,
                                                    [&](scene::SceneSpec& spec) { spec.step.recovery_speed = speed; });
    MotionPrediction prediction(scene, scene.settings().track, 1);
    PredictedStep step;
    ASSERT_TRUE(prediction.linearize(0, Vector2d(0, 0.08), {}, VectorXd::Zero(1), step));  // by 2 cm
    EXPECT_LT(step.v_next(1), 0.11) << "a plant's limit, not 2 cm in a step";
  }
}

TEST(MotionPrediction, AKnotThatLastsLongerThanAStepHasNoMomentum) {
  const scene::Scene scene = pusher_that_predicts(scene::TrackPrediction::kSecondOrder);
  const ReferencePath slow(scene, roll_out(scene, VectorXd::Constant(1, 0.01), 10), 0.05);  // 0.2 s a knot
  const VectorXd u = VectorXd::Zero(1);
  std::vector<double> commands;
  for (const double v : {0.0, -0.2}) {
    TrackingMpc mpc(scene, scene.settings().track);
    mpc.follow(slow);
    commands.push_back(mpc.control(scene.initial_configuration(), 0, u, 0.2, Vector2d(0, v)).u(0));
  }
  EXPECT_EQ(commands[0], commands[1]);
}

TEST(MotionPrediction, AControllerWithMomentumBrakesWhatMoves) {
  for (const auto prediction : {scene::TrackPrediction::kQuasidynamic, scene::TrackPrediction::kSecondOrder}) {
    const scene::Scene scene = pusher_that_predicts(prediction);
    const ReferencePath path(scene, roll_out(scene, VectorXd::Zero(1), 10), kInfinity);
    TrackingMpc mpc(scene, scene.settings().track);
    mpc.follow(path);
    const VectorXd u = VectorXd::Zero(1);
    // The box is where it should be, and comes towards the finger.
    const TrackingResult& result = mpc.control(scene.initial_configuration(), 0, u, 0.1, Vector2d(0, -0.2));
    ASSERT_EQ(result.status, TrackingStatus::kSolved);
    if (prediction == scene::TrackPrediction::kQuasidynamic)
      EXPECT_NEAR(result.u(0), 0, 1e-6);
    else
      EXPECT_GT(result.u(0), 1e-3) << "against it";
  }
}

/// The largest error on the way of a plan that pushes, in a world whose box is four times as heavy.
double largest_error(scene::TrackPrediction prediction) {
  const auto change = [](scene::SceneSpec& spec) {
    spec.track.period = 0.02;
    spec.track.filter_time = 0;
    spec.track.replan = false;
    spec.track.replan_position = 1;
  };
  const scene::Scene scene = pusher_that_predicts(prediction, change);
  const scene::Scene world =
      test::build(pusher([](scene::SceneSpec& spec) { spec.world.models[1].links[0].inertial->mass = 4; }));
  const TrackedPlan plan = roll_out(scene, VectorXd::Constant(1, 0.01), 40);
  const auto plant = plant::make_plant(plant::PlantKind::kQuasidynamic, world, {.step = 0.02});
  dynamics::Trajectory motion = start_tracking(*plant, ReferencePath(scene, plan), plan.q.front());
  return track(*plant, scene, plan, plan.q.front(), {.controller = Controller::kMpc}, motion).largest.position_m;
}

TEST(MotionPrediction, MayBeCorrectedByWhatObjectsDidBesideIt) {
  const double plain = largest_error(scene::TrackPrediction::kQuasidynamic);
  EXPECT_GT(plain, 1e-3);
  EXPECT_LT(largest_error(scene::TrackPrediction::kCorrected), 0.8 * plain);
}

TEST(MotionPrediction, GoesByThePlantUnlessToldOtherwise) {
  // On a plant with velocities `plant` is `second-order`, on one without `quasidynamic`, command by command.
  const auto commands = [](scene::TrackPrediction prediction, plant::PlantKind kind) {
    const scene::Scene scene = pusher_that_predicts(prediction, [](scene::SceneSpec& spec) {
      spec.track.period = 0.02;
      spec.track.replan = false;
    });
    const TrackedPlan plan = roll_out(scene, VectorXd::Constant(1, 0.01), 10);
    const auto plant = plant::make_plant(kind, scene, {.step = 0.01});
    dynamics::Trajectory motion = start_tracking(*plant, ReferencePath(scene, plan), plan.q.front());
    track(*plant, scene, plan, plan.q.front(), {.controller = Controller::kMpc}, motion);
    return motion.u;
  };
  using Prediction = scene::TrackPrediction;
  const auto second = plant::PlantKind::kConvexSecondOrder, quasidynamic = plant::PlantKind::kQuasidynamic;
  EXPECT_EQ(commands(Prediction::kPlant, second), commands(Prediction::kSecondOrder, second));
  EXPECT_NE(commands(Prediction::kPlant, second), commands(Prediction::kQuasidynamic, second));
  EXPECT_EQ(commands(Prediction::kPlant, quasidynamic), commands(Prediction::kQuasidynamic, quasidynamic));
}

TEST(MotionPrediction, ThatLooksAtTheMeasuredMotionIsRefusedAboutThePlan) {
  for (const auto prediction : {scene::TrackPrediction::kSecondOrder, scene::TrackPrediction::kCorrected}) {
    const scene::Scene scene = pusher_that_predicts(
        prediction, [](scene::SceneSpec& spec) { spec.track.linearization = scene::TrackLinearization::kReference; });
    EXPECT_THROW(TrackingMpc(scene, scene.settings().track), InputError);
  }
}

}  // namespace motion_prediction_test
}  // namespace deft::control
