// Springs that saturate at the effort limit, with closed forms.

#include "deft/dynamics/effort_limits.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace effort_limits_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::HalfSpaceSpec;
using multibody::SphereSpec;

constexpr double kStiffness = 500, kLimit = 6, kExact = 1e-9;

multibody::ModelSpec cart(const std::string& name, double mass, double y) {
  multibody::ModelSpec model = test::body(name, multibody::JointKind::kAxes, {test::slide("y", Vector3d::UnitY())},
                                          SphereSpec{0.1}, mass, 0.004, 0.8, test::at(0, y, 0));
  model.joints[0].axes[0].effort_limit = kLimit;
  return model;
}

/// A finger at y = 0 of radius 0.1 before a wall at y = 0.15: the gap is 0.05.
scene::SceneSpec finger_and_wall() {
  scene::SceneSpec spec =
      test::scene_spec({cart("finger", 1, 0), test::fixed_body("wall", HalfSpaceSpec{-Vector3d::UnitY(), -0.15}, 0.8)},
                       {{"finger", kStiffness}});
  spec.step.effort_limits = true;
  return spec;
}

StepResult step(const scene::SceneSpec& spec, double u, const State* start = nullptr) {
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  StepResult result;
  model->step(start != nullptr ? *start : State{.q = scene.initial_configuration()}, VectorXd::Constant(scene.nu(), u),
              result);
  EXPECT_EQ(result.status, solvers::Status::kSolved) << u;
  EXPECT_LE(result.certificate.max_scaled(), 1e-8);
  return result;
}

TEST(EffortLimits, TheWallFeelsNoMoreThanTheLimit) {
  for (const double u : {0.02, 0.05, 0.055, 0.062, 0.07, 0.3, 5.0}) {
    const StepResult result = step(finger_and_wall(), u);
    EXPECT_NEAR(result.delta[0], std::min(u, 0.05), kExact) << u;
    const double force = result.solution.force.empty() ? 0 : result.solution.force[0][0];
    EXPECT_NEAR(force, std::min(kLimit, kStiffness * std::max(0.0, u - 0.05)), 1e-8 * kStiffness) << u;
  }
}

TEST(EffortLimits, PushesABallWithTheLimitAtMost) {
  // Quasidynamic: F = M δ/h², δ_finger = 0.05 + δ_ball in touch; the spring in series with the ball until it saturates.
  scene::SceneSpec spec = test::scene_spec({cart("finger", 1, 0), cart("ball", 2, 0.25)}, {{"finger", kStiffness}});
  spec.step.effort_limits = true;
  const double per_metre = 2 / (0.1 * 0.1);
  for (const double u : {0.06, 0.08, 0.11, 0.2}) {
    const double spring = (u - 0.05) / (1 / kStiffness + 1 / per_metre), force = std::min(spring, kLimit);
    const StepResult result = step(spec, u);
    EXPECT_NEAR(result.delta[1], force / per_metre, kExact) << u;
    EXPECT_NEAR(result.delta[0], 0.05 + force / per_metre, kExact) << u;
  }
}

TEST(EffortLimits, BothSidesHold) {
  scene::SceneSpec spec = finger_and_wall();
  spec.wrenches = {{.body = "finger", .force_W = {0, 4, 0}}};
  // Free: K(u − δ) = −4 is within the limit; with 4 + 3 N at most 6 hold it and nothing else does.
  EXPECT_NEAR(step(spec, 0.0).delta[0], 4 / kStiffness, kExact);
  spec.wrenches[0].force_W.y() = 7;
  spec.step.dynamics = scene::Dynamics::kQuasidynamic;
  EXPECT_NEAR(step(spec, 0.0).delta[0], 0.05, kExact) << "pushed against the wall";
  EXPECT_NEAR(step(spec, 0.0).solution.force[0][0], 1, 1e-7);
}

TEST(EffortLimits, AnOverloadedJointThatNothingHoldsIsUnbounded) {
  scene::SceneSpec spec = finger_and_wall();
  spec.wrenches = {{.body = "finger", .force_W = {0, -7, 0}}};  // away from the wall
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  StepResult result;
  model->step(scene.initial_configuration(), VectorXd::Zero(1), result);
  EXPECT_EQ(result.status, solvers::Status::kUnbounded);
}

TEST(EffortLimits, ASaturatedJointOfSecondOrderAcceleratesByForceOverMass) {
  scene::SceneSpec spec = finger_and_wall();
  spec.step.model = scene::ModelKind::kConvexSecondOrder;
  spec.step.h = 0.01;
  spec.step.joint_damping.all = 3;
  const State start{.q = VectorXd::Zero(1), .v = VectorXd::Constant(1, 0.1)};
  const StepResult result = step(spec, 1.0, &start);
  const double v = (1 * 0.1 / 0.01 + kLimit) / (1 / 0.01 + 3);
  EXPECT_NEAR(result.v_next[0], v, 1e-9);
  const double deflection = 1 - 0.01 * v;
  EXPECT_NEAR(result.energy, 0.5 * v * v + kLimit * (deflection - 0.5 * kLimit / kStiffness), 1e-9);
}

TEST(EffortLimits, SmoothedSpringsSaturateSmoothly) {
  // The barrier of both sides: deflection e = f/K + (2f/κ)/(τ̄² − f²). Free motion: f = 0, δ = u. Held by damping: f = D
  // δ/h.
  scene::SceneSpec spec = test::scene_spec({cart("finger", 1, 0)}, {{"finger", kStiffness}});
  spec.step.effort_limits = true;
  spec.step.joint_damping.all = 100;
  for (const double kappa : {1e2, 1e4, 1e7}) {
    spec.step.kappa = kappa;
    for (const double u : {-0.4, 0.003, 0.05, 0.4}) {
      // f h/D + e(f) = u, increasing in f: by bisection.
      double low = -kLimit, high = kLimit;
      for (int k = 0; k < 100; ++k) {
        const double f = 0.5 * (low + high);
        const double e = f / kStiffness + 2 * f / kappa / (kLimit * kLimit - f * f);
        (f * 0.1 / 100 + e < u ? low : high) = f;
      }
      EXPECT_NEAR(step(spec, u).delta[0] * 100 / 0.1, low, 1e-6) << kappa << " " << u;
    }
  }
}

TEST(EffortLimits, TheSceneMayStateThem) {
  scene::SceneSpec spec = finger_and_wall();
  spec.robots[0].effort_limit.all = 2;
  EXPECT_NEAR(step(spec, 1.0).solution.force[0][0], 2, 1e-7);
  spec.robots[0].effort_limit.all = kInfinity;
  EXPECT_NEAR(step(spec, 1.0).solution.force[0][0], 0.95 * kStiffness, 1e-6);
  Diagnostics diagnostics;
  scene::Scene::build(spec, diagnostics);
  EXPECT_TRUE(std::any_of(diagnostics.all().begin(), diagnostics.all().end(), [](const Diagnostic& d) {
    return d.message.find("step.effort_limits: no robot joint has an effort limit") != std::string::npos;
  }));
  spec.robots[0].effort_limit.all = -1;
  EXPECT_NE(test::build_errors(spec).find("robot 'finger': effort_limit must not be negative"), std::string::npos);
}

TEST(EffortLimits, OffTheyChangeNothing) {
  scene::SceneSpec spec = finger_and_wall();
  spec.step.effort_limits = false;
  EXPECT_NEAR(step(spec, 1.0).solution.force[0][0], 0.95 * kStiffness, 1e-6);
}

TEST(EffortLimits, SpringEnergyContinuesAsALine) {
  EXPECT_DOUBLE_EQ(spring_energy(10, 2, 0.1), 0.05);
  EXPECT_DOUBLE_EQ(spring_energy(10, 2, -0.2), 0.2);
  EXPECT_DOUBLE_EQ(spring_energy(10, 2, -0.5), 2 * 0.5 - 0.2);
  EXPECT_DOUBLE_EQ(spring_energy(10, kInfinity, 2), 20);
}

}  // namespace effort_limits_test
}  // namespace deft::dynamics
