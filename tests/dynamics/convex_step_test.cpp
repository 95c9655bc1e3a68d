// Steps with closed forms: forces and displacements by hand, to 1e-9.

#include "deft/dynamics/convex/convex_step.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace convex_step_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::HalfSpaceSpec;
using multibody::SphereSpec;
using test::at;

constexpr double kExact = 1e-9;

multibody::ModelSpec on_line(const std::string& name, double mass, double y) {
  return test::body(name, multibody::JointKind::kAxes, {test::slide("y", Vector3d::UnitY())}, SphereSpec{0.1}, mass,
                    0.004, 0.8, at(0, y, 0));
}

/// Finger at y = 0 and ball at y = 0.25, both of radius 0.1: the gap is 0.05.
scene::SceneSpec two_spheres() {
  return test::scene_spec({on_line("finger", 1, 0), on_line("ball", 2, 0.25)}, {{"finger", 500}});
}

StepResult one_step(const scene::SceneSpec& spec, const VectorXd& u) {
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  StepResult result;
  model->step(scene.initial_configuration(), u, result);
  return result;
}

TEST(ConvexStep, PushesABallWithTheForceOfSpringAndInertiaInSeries) {
  const double e = 0.08, K = 500, m = 2, h = 0.1, gap = 0.05;
  const StepResult result = one_step(two_spheres(), VectorXd::Constant(1, e));
  ASSERT_EQ(result.status, solvers::Status::kSolved);
  // φ + δ_u − δ_a = 0,  m/h² δ_u = f,  K(e − δ_a) = f.
  const double f = (e - gap) / (1 / K + h * h / m);
  ASSERT_EQ(result.solution.force.size(), 1u);
  EXPECT_NEAR(result.solution.force[0][0], f, kExact);
  EXPECT_NEAR(result.q_next(0), e - f / K, kExact);
  EXPECT_NEAR(result.q_next(1), f * h * h / m, kExact);
  EXPECT_NEAR(result.solution.gap[0], 0, kExact);
  EXPECT_LE(result.certificate.max_scaled(), 1e-9);
  EXPECT_NEAR(result.energy, 0.5 * K * std::pow(e - f / K, 2) - K * e * (e - f / K) + 0.5 * f * f * h * h / m, kExact);
}

TEST(ConvexStep, FreeMotionReachesTheCommandAndLeavesTheBallAlone) {
  const StepResult result = one_step(two_spheres(), VectorXd::Constant(1, 0.03));
  EXPECT_NEAR(result.q_next(0), 0.03, kExact);
  EXPECT_NEAR(result.q_next(1), 0, kExact);
  EXPECT_NEAR(result.solution.force[0][0], 0, kExact * 500);
}

TEST(ConvexStep, SqueezesAgainstAWallWithStiffnessTimesPenetration) {
  scene::SceneSpec spec = two_spheres();
  spec.world.models.push_back(test::fixed_body("wall", BoxSpec{{2, 1, 2}}, 0.5, at(0, 0.35 + 0.5, 0)));  // ball touches
                                                                                                         // it
  const StepResult result = one_step(spec, VectorXd::Constant(1, 0.07));
  ASSERT_EQ(result.status, solvers::Status::kSolved);
  EXPECT_NEAR(result.q_next(0), 0.05, kExact);
  EXPECT_NEAR(result.q_next(1), 0, kExact);
  for (std::size_t i = 0; i < result.problem.contacts.size(); ++i) {
    // Finger–ball and ball–wall carry K · 0.02; finger–wall is apart.
    const bool loaded = std::abs(result.problem.contacts[i].gap) < 0.06;
    EXPECT_NEAR(result.solution.force[i][0], loaded ? 500 * 0.02 : 0.0, kExact * 500) << i;
  }
}

TEST(ConvexStep, QuasistaticBallMovesExactlyAsFarAsItIsPushed) {
  scene::SceneSpec spec = two_spheres();
  spec.step.dynamics = scene::Dynamics::kQuasistatic;
  const StepResult result = one_step(spec, VectorXd::Constant(1, 0.08));
  EXPECT_TRUE(result.status == solvers::Status::kSolved || result.status == solvers::Status::kNotUnique)
      << solvers::to_string(result.status);
  EXPECT_NEAR(result.q_next(0), 0.08, 1e-7);
  EXPECT_NEAR(result.q_next(1), 0.03, 1e-7) << "of all places in front of the finger the nearest";
}

TEST(ConvexStep, NothingHoldsAQuasistaticBodyUnderLoad) {
  scene::SceneSpec spec = two_spheres();
  spec.step.dynamics = scene::Dynamics::kQuasistatic;
  spec.gravity_W = {0, 9.81, 0};  // pulls the ball away from the finger
  EXPECT_EQ(one_step(spec, VectorXd::Constant(1, 0.0)).status, solvers::Status::kUnbounded);
}

TEST(ConvexStep, NothingHoldsAQuasistaticBodyUnderLoadWithCoulombsLawEither) {
  // A wall in front of the ball, beyond the margin where the motion starts.
  scene::SceneSpec spec = two_spheres();
  spec.world.models.push_back(test::fixed_body("wall", BoxSpec{{2, 1, 2}}, 0.5, at(0, 0.35 + 0.3 + 0.5, 0)));
  spec.step.contact_margin = 0.1;
  spec.step.dynamics = scene::Dynamics::kQuasistatic;
  spec.step.friction_law = scene::FrictionLaw::kCoulomb;
  spec.gravity_W = {0, 9.81, 0};
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  StepResult result;
  const auto expect_failure = [&](const char* when) {
    model->step(Eigen::Vector2d(0, 0), VectorXd::Constant(1, 0.0), result);
    EXPECT_EQ(result.status, solvers::Status::kUnbounded) << when;
    ASSERT_EQ(result.problem.contacts.size(), 1u) << when;
    EXPECT_EQ(result.de_saxce, std::vector<double>(1, 0.0)) << when;
    EXPECT_EQ(result.program.contacts[0].gap, result.problem.contacts[0].gap) << when;
  };
  expect_failure("first");
  // At the wall the step has a solution, and one contact more.
  model->step(Eigen::Vector2d(0.3, 0.3), VectorXd::Constant(1, 0.3), result);
  ASSERT_TRUE(solvers::usable(result.status)) << solvers::to_string(result.status);
  ASSERT_EQ(result.problem.contacts.size(), 2u);
  expect_failure("after a step with more contacts");
}

TEST(ConvexStep, SmoothedForceAtADistanceIsOneOverKappaTimesTheGap) {
  for (const double kappa : {10.0, 1e2, 1e4, 1e6, 1e8}) {
    scene::SceneSpec spec = two_spheres();
    for (auto& model : spec.world.models) model.links[0].collisions[0].mu = 0;
    spec.step.kappa = kappa;
    const StepResult result = one_step(spec, VectorXd::Constant(1, 0.08));
    ASSERT_EQ(result.status, solvers::Status::kSolved) << kappa;
    // μ = 0 in a planar pyramid model: one row of weight n_d = 2.
    const double f = result.solution.force[0][0], gap = result.solution.gap[0];
    EXPECT_NEAR(f * gap * kappa, 2.0, 2.0 * std::max(1e-9, 4 * 2.2e-16 * 0.05 / gap)) << kappa;
    EXPECT_NEAR(500 * (0.08 - result.delta(0)), f, 1e-9 * std::max(1.0, f));
  }
}

TEST(ConvexStep, MassScaleRuleReplacesTheMassAndObjectsMayStay) {
  scene::SceneSpec spec = two_spheres();
  spec.step.unactuated_mass_scale = 5;
  const StepResult scaled = one_step(spec, VectorXd::Constant(1, 0.08));
  // One entry: Q_u = min K / s.
  EXPECT_NEAR(scaled.problem.Q.block(1)(0, 0), 500.0 / 5, kExact);
  const double f = (0.08 - 0.05) / (1 / 500.0 + 5 / 500.0);
  EXPECT_NEAR(scaled.solution.force[0][0], f, kExact * 500);
  spec.step.unactuated_mass_scale.reset();
  spec.step.objects_move = false;
  const StepResult still = one_step(spec, VectorXd::Constant(1, 0.08));
  EXPECT_EQ(still.q_next(1), 0);
  EXPECT_GT(still.solution.force[0][0], 1) << "solved with the true mass";
}

TEST(ConvexStep, FrozenObjectIsAWall) {
  scene::SceneSpec spec = two_spheres();
  spec.objects.push_back({.name = "ball", .frozen = true});
  const StepResult result = one_step(spec, VectorXd::Constant(1, 0.08));
  EXPECT_EQ(result.q_next(1), 0);
  EXPECT_NEAR(result.q_next(0), 0.05, kExact);
  EXPECT_NEAR(result.solution.force[0][0], 500 * 0.03, kExact * 500);
}

TEST(ConvexStep, JointLimitsHoldWithAMultiplier) {
  scene::SceneSpec spec = two_spheres();
  spec.world.models[0].joints[0].axes[0].upper = 0.02;
  const StepResult result = one_step(spec, VectorXd::Constant(1, 0.04));
  EXPECT_NEAR(result.q_next(0), 0.02, kExact);
  EXPECT_NEAR(result.solution.bound_multipliers(0), -500 * 0.02, kExact * 500);
  spec.step.joint_limits = false;
  EXPECT_NEAR(one_step(spec, VectorXd::Constant(1, 0.04)).q_next(0), 0.04, kExact);
}

TEST(ConvexStep, DampingAndGravityOfRobotsAreOptional) {
  scene::SceneSpec spec = two_spheres();
  spec.step.joint_damping.all = 20;
  EXPECT_NEAR(one_step(spec, VectorXd::Constant(1, 0.04)).q_next(0), 0.04 * 500 / (500 + 20 / 0.1), kExact);
  spec.step.joint_damping = {.by_name = {{"y", 20}}};
  EXPECT_NEAR(one_step(spec, VectorXd::Constant(1, 0.04)).q_next(0), 0.04 * 500 / (500 + 20 / 0.1), kExact)
      << "by name";
  spec.step.joint_damping = {.list = {1, 2}};
  EXPECT_THROW(one_step(spec, VectorXd::Constant(1, 0.04)), InputError);
  spec.step.joint_damping = {};
  spec.gravity_W = {0, 10, 0};  // away from the finger, so that the ball stays out of the way
  EXPECT_NEAR(one_step(spec, VectorXd::Constant(1, 0.04)).q_next(0), 0.04, kExact) << "compensated by default";
  spec.step.robot_gravity = true;
  EXPECT_NEAR(one_step(spec, VectorXd::Constant(1, 0.04)).q_next(0), 0.04 + 10.0 / 500, kExact);
}

TEST(ConvexStep, AStepThatTheCertificateDoesNotConfirmIsAFailure) {
  solvers::contact::Certificate certificate;
  certificate.primal = 2 * solvers::contact::kCertified;
  EXPECT_EQ(solvers::contact::confirmed(solvers::Status::kSolved, certificate), solvers::Status::kNumericalFailure);
  EXPECT_EQ(solvers::contact::confirmed(solvers::Status::kNotUnique, certificate), solvers::Status::kNumericalFailure);
  EXPECT_EQ(solvers::contact::confirmed(solvers::Status::kTimeLimit, certificate), solvers::Status::kTimeLimit);
  EXPECT_EQ(solvers::contact::confirmed(solvers::Status::kSolved, certificate, 1e-6), solvers::Status::kSolved)
      << "as asked";
  certificate.primal = kInfinity;
  EXPECT_EQ(solvers::contact::confirmed(solvers::Status::kSolved, certificate), solvers::Status::kNumericalFailure);
}

TEST(ConvexStep, RejectsWrongSizesAndMissingStepLength) {
  const scene::Scene scene = test::build(two_spheres());
  const auto model = make_step_model(scene);
  StepResult result;
  EXPECT_THROW(model->step(VectorXd::Zero(3), VectorXd::Zero(1), result), std::invalid_argument);
  EXPECT_THROW(model->step(VectorXd::Zero(2), VectorXd::Constant(1, NAN), result), std::invalid_argument);
  scene::SceneSpec spec = two_spheres();
  spec.step.h.reset();
  const scene::Scene without_h = test::build(spec);
  EXPECT_THROW(make_step_model(without_h), InputError);
}

// ---------------------------------------------------------------- a box on an inclined plane

/// A box of side 0.1 m, 1 kg, flat on a half-space; gravity is tilted instead of the plane. Friction coefficient 0.5.
scene::SceneSpec box_on_slope(double angle, double heading, scene::Cone cone) {
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("box", BoxSpec{{0.1, 0.1, 0.1}}, 1, 1e-3, 0.5, at(0, 0, 0.05)),
                        test::fixed_body("floor", HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.5)});
  spec.gravity_W =
      10 * Vector3d(std::sin(angle) * std::cos(heading), std::sin(angle) * std::sin(heading), -std::cos(angle));
  spec.step.cone = cone;
  return spec;
}

TEST(ConvexStep, ABoxBelowTheFrictionAngleRestsForTenMinutes) {
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    const scene::Scene scene = test::build(box_on_slope(std::atan(0.45), 0.0, cone));
    const auto model = make_step_model(scene);
    Trajectory trajectory = start_trajectory(*model, initial_state(*model));
    ASSERT_TRUE(rollout(*model, initial_state(*model), {.steps = 6000}, trajectory).completed);
    double drift = 0;
    for (std::size_t i = 0; i < trajectory.q.back().size(); ++i)
      drift = std::max(drift, std::abs(trajectory.q.back()[i] - trajectory.q[0][i]));
    EXPECT_LT(drift, 1e-9) << "cone " << static_cast<int>(cone);
  }
}

TEST(ConvexStep, ABoxAboveTheFrictionAngleSlidesWithForceMuTimesNormal) {
  const double angle = std::atan(0.8), h = 0.1;
  struct Row {
    scene::Cone cone;
    double heading;
  };
  // The pyramid's rays lie along ±t₁, ±t₂, here the axes; the cone slides in any direction.
  for (const Row& row : {Row{scene::Cone::kPyramid, 0.0}, Row{scene::Cone::kCone, 0.0}, Row{scene::Cone::kCone, 0.7}}) {
    const StepResult result = one_step(box_on_slope(angle, row.heading, row.cone), VectorXd());
    ASSERT_EQ(result.status, solvers::Status::kSolved);
    double f_n = 0, f_t = 0;
    for (const auto& f : result.solution.force) {
      f_n += f[0];
      f_t += std::hypot(f[1], f[2]);
      EXPECT_LE(std::hypot(f[1], f[2]), 0.5 * f[0] + kExact);
    }
    EXPECT_NEAR(f_t, 0.5 * f_n, 1e-8);
    // Convex model: sliding by s lifts the box by μs, so M/h²(s t + μ s n) = m g − f with f_t = μ f_n opposite to the
    // motion.
    const double g_t = 10 * std::sin(angle), g_n = 10 * std::cos(angle), mu = 0.5;
    const double s = h * h * (g_t - mu * g_n) / (1 + mu * mu);
    const Vector3d motion = result.delta.segment<3>(3);
    EXPECT_NEAR(motion.head<2>().norm(), s, 1e-8);
    EXPECT_NEAR(motion.z(), mu * s, 1e-8);
    EXPECT_NEAR(std::atan2(motion.y(), motion.x()), row.heading, 1e-6);
  }
}

TEST(ConvexStep, AngularMotionUsesTheExponentialMap) {
  // A ball rolling on the floor: pulled sideways at its centre it turns about the contact by δ_v = ω × r up to the
  // boundary layer.
  scene::SceneSpec spec = test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 1, 0.004, 1.0, at(0, 0, 0.1)),
                                            test::fixed_body("floor", HalfSpaceSpec{Vector3d::UnitZ(), 0}, 1.0)});
  spec.gravity_W = {1, 0, -10};
  spec.step.cone = scene::Cone::kCone;
  const StepResult result = one_step(spec, VectorXd());
  // Rolling without slip: (m + I/r²) s = m g_x h².
  const double s = 1.0 * 0.01 / (1 + 0.004 / 0.01);
  EXPECT_NEAR(result.delta(3), s, 1e-8);
  EXPECT_NEAR(result.delta(1), s / 0.1, 1e-7);
  EXPECT_NEAR(result.q_next(0), std::cos(0.5 * s / 0.1), 1e-8);
  EXPECT_NEAR(result.q_next(2), std::sin(0.5 * s / 0.1), 1e-8);
}

}  // namespace convex_step_test
}  // namespace deft::dynamics
