// The step of Stewart and Trinkle against closed forms and against the convex second-order step under Coulomb's law.

#include <gtest/gtest.h>

#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/dynamics/step_model.hpp"
#include "support/contact_modes.hpp"
#include "support/scene_builder.hpp"
#include "support/tripod.hpp"

namespace deft::dynamics {
namespace stewart_trinkle_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::JointKind;
using multibody::SphereSpec;
using solvers::Status;
using test::at;

/// A box of 2 kg, 0.2 × 0.2 × `height`, on a floor with μ = 0.5.
scene::SceneSpec box_on_floor(double height, const Vector3d& gravity_W, double h) {
  const double inertia = 2.0 / 12 * (0.04 + height * height);
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("box", BoxSpec{{0.2, 0.2, height}}, 2, inertia, 0.5, at(0, 0, height / 2)),
                        test::fixed_body("floor", BoxSpec{{10, 10, 1}}, 0.5, at(0, 0, -0.5))});
  spec.gravity_W = gravity_W;
  spec.step.model = scene::ModelKind::kStewartTrinkle;
  spec.step.h = h;
  spec.step.contact_margin = 0.01;
  return spec;
}

/// Steps from `start` with no commands.
Trajectory simulate(const scene::Scene& scene, State start, int steps) {
  const auto model = make_step_model(scene);
  Trajectory motion = start_trajectory(*model, start);
  const std::vector<VectorXd> commands(steps, VectorXd::Zero(scene.nu()));
  const RolloutEnd end = rollout(*model, start, {.steps = steps, .on_step = {}, .commands = commands}, motion);
  EXPECT_TRUE(end.completed) << solvers::to_string(end.status) << " " << end.reason;
  for (const StepRecord& step : motion.steps) EXPECT_LE(step.residual, solvers::contact::kCertified);
  return motion;
}

State moving(const scene::Scene& scene, int velocity, double speed) {
  State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(scene.nv())};
  start.v(velocity) = speed;
  return start;
}

TEST(StewartTrinkle, HasVelocitiesInItsState) {
  const scene::Scene scene = test::build(box_on_floor(0.05, {0, 0, -10}, 0.01));
  EXPECT_TRUE(make_step_model(scene)->second_order());
}

TEST(StewartTrinkle, ASlidingBoxDeceleratesByMuGAndStops) {
  // Along a ray of the pyramid; without lift, so that no height is gained.
  for (const double h : {0.01, 0.002}) {
    const scene::Scene scene = test::build(box_on_floor(0.02, {0, 0, -10}, h));
    const int steps = static_cast<int>(std::lround(0.3 / h));
    const Trajectory motion = simulate(scene, moving(scene, 3, 1), steps);
    double speed = 1, x = 0;
    for (int k = 0; k < steps; ++k) {
      speed = std::max(0.0, speed - 5 * h);
      x += h * speed;
      const auto at_step = to_size(k + 1);
      ASSERT_NEAR(motion.v[at_step][3], speed, 1e-9) << k;
      ASSERT_NEAR(motion.q[at_step][4], x, 1e-9) << k;
      ASSERT_NEAR(motion.q[at_step][6], 0.01, 1e-10) << k;
    }
    for (const ContactRecord& contact : motion.contacts) EXPECT_EQ(contact.boundary_gap, 0);
  }
}

TEST(StewartTrinkle, OnAnInclineABoxSticksBelowTheConeAndSlidesAboveIt) {
  for (const double angle : {0.1, 0.3, 0.45, 0.48, 0.6, 0.9}) {  // tan of the cone's angle, 0.4636, is μ
    const Vector3d gravity(10 * std::sin(angle), 0, -10 * std::cos(angle));
    const scene::Scene scene = test::build(box_on_floor(0.02, gravity, 0.01));
    const Trajectory motion = simulate(scene, moving(scene, 3, 0), 50);
    const double acceleration = std::max(0.0, 10 * (std::sin(angle) - 0.5 * std::cos(angle)));
    EXPECT_NEAR(motion.v.back()[3], 0.5 * acceleration, 1e-8) << angle;
    EXPECT_NEAR(motion.q.back()[6], 0.01, 1e-9) << angle;
  }
}

TEST(StewartTrinkle, ABoxThatIsPushedHighUpTips) {
  // 0.2 m wide, 0.4 m high; a force at its centre tips it above m g a/b = 10 N, it slides above μ m g = 10 N·0.99…:
  // with μ = 0.8 it tips first. About the edge that holds: (m (a² + b²) + I) ω⁺ = h (F b − m g a).
  for (const double force : {6.0, 9.0, 11.0, 14.0}) {
    scene::SceneSpec spec = box_on_floor(0.4, {0, 0, -10}, 0.01);
    spec.friction.pairs = {{.between = {"box", "floor"}, .mu = 0.8}};
    spec.wrenches = {{.body = "box", .force_W = {force, 0, 0}}};
    const scene::Scene scene = test::build(spec);
    const Trajectory motion = simulate(scene, moving(scene, 3, 0), 1);
    const double inertia = 2.0 / 12 * (0.04 + 0.16) + 2 * (0.01 + 0.04);
    const double omega = std::max(0.0, 0.01 * (force * 0.2 - 20 * 0.1) / inertia);
    EXPECT_NEAR(motion.v.back()[1], omega, 1e-9) << force;
    EXPECT_NEAR(motion.v.back()[3], 0.2 * omega, 1e-9) << force;
    EXPECT_NEAR(motion.v.back()[5], 0.1 * omega, 1e-9) << force;
  }
}

TEST(StewartTrinkle, ABallFallsLandsAndLies) {
  const double h = 0.01;
  scene::SceneSpec spec = test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 1, 0.004, 0.5, at(0, 0, 0.3)),
                                            test::fixed_body("floor", BoxSpec{{10, 10, 1}}, 0.5, at(0, 0, -0.5))});
  spec.gravity_W = {0, 0, -10};
  spec.step.model = scene::ModelKind::kStewartTrinkle;
  spec.step.h = h;
  const scene::Scene scene = test::build(spec);
  const Trajectory motion = simulate(scene, moving(scene, 3, 0), 40);
  double z = 0.3, v = 0;
  for (std::size_t k = 1; k < motion.t.size(); ++k) {
    v -= 10 * h;
    if (z + h * v < 0.1) v = (0.1 - z) / h;  // lands exactly, inelastically
    z += h * v;
    ASSERT_NEAR(motion.q[k][6], z, 1e-9) << k;
    ASSERT_NEAR(motion.v[k][5], v, 1e-7) << k;
  }
  EXPECT_NEAR(z, 0.1, 1e-12);
}

TEST(StewartTrinkle, ABallThatSlidesBeginsToRollAtFiveSeventhsOfItsSpeed) {
  const double h = 0.002;
  scene::SceneSpec spec = test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 1, 0.004, 0.3, at(0, 0, 0.1)),
                                            test::fixed_body("floor", BoxSpec{{10, 10, 1}}, 0.3, at(0, 0, -0.5))});
  spec.gravity_W = {0, 0, -10};
  spec.step.model = scene::ModelKind::kStewartTrinkle;
  spec.step.h = h;
  const scene::Scene scene = test::build(spec);
  const Trajectory motion = simulate(scene, moving(scene, 3, 1), 200);
  for (std::size_t k = 1; k < motion.t.size(); ++k) {
    const double v = std::max(5.0 / 7, 1 - 0.3 * 10 * motion.t[k]);
    EXPECT_NEAR(motion.v[k][3], v, 1e-8) << k;
    EXPECT_NEAR(motion.v[k][1], std::min(v / 0.1, 0.3 * 10 * 1 * 0.1 / 0.004 * motion.t[k]), 1e-6) << k;
  }
}

TEST(StewartTrinkle, MovesAsTheConvexStepUnderCoulombsLaw) {
  // A tripod thrown askew that lands on a foot, slides and turns; polygons of several edges.
  for (const int rays : {4, 6, 8}) {
    scene::SceneSpec spec = box_on_floor(0.1, {0, 0, -10}, 0.005);
    spec.step.rays = rays;
    spec.world.models[0] = test::tripod("box", 2, 0.01, 0.5, make_transform(exp_so3({0.1, 0.07, 0.3}), {0, 0, 0.08}));
    const scene::Scene lcp_scene = test::build(spec);
    spec.step.model = scene::ModelKind::kConvexSecondOrder;
    spec.step.friction_law = scene::FrictionLaw::kCoulomb;
    const scene::Scene convex_scene = test::build(spec);
    const auto lcp = make_step_model(lcp_scene), convex = make_step_model(convex_scene);
    State state = moving(lcp_scene, 3, 1.5);
    state.v(4) = 0.4;
    state.v(2) = 2;
    StepResult a, b;
    int compared = 0;
    for (int k = 0; k < 120; ++k) {
      lcp->step(state, VectorXd(0), a);
      convex->step(state, VectorXd(0), b);
      ASSERT_EQ(a.status, Status::kSolved) << rays << " rays, step " << k;
      if (solvers::usable(b.status)) {
        EXPECT_LT((a.v_next - b.v_next).lpNorm<Eigen::Infinity>(), 1e-5) << rays << " rays, step " << k;
        ++compared;
      }
      EXPECT_LE(a.certificate.max_scaled(), solvers::contact::kCertified);
      state.q = a.q_next;
      state.v = a.v_next;
    }
    EXPECT_GT(compared, 110) << rays;
  }
}

TEST(StewartTrinkle, ASpringDrivenRobotIsTheImplicitOscillator) {
  scene::SceneSpec spec = test::scene_spec(
      {test::body("slider", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, SphereSpec{0.1}, 2, 0.01, 0.5)},
      {{"slider", 50}});
  spec.step.model = scene::ModelKind::kStewartTrinkle;
  spec.step.h = 0.01;
  spec.step.joint_damping.all = 3;
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  State state{.q = VectorXd::Zero(1), .v = VectorXd::Zero(1)};
  double x = 0, v = 0;
  StepResult result;
  for (int k = 0; k < 100; ++k) {
    model->step(state, VectorXd::Constant(1, 0.1), result);
    v = (2 * v + 0.01 * 50 * (0.1 - x)) / (2 + 0.01 * 3 + 0.0001 * 50);
    x += 0.01 * v;
    ASSERT_NEAR(result.v_next(0), v, 1e-12);
    ASSERT_NEAR(result.q_next(0), x, 1e-12);
    state = {.q = result.q_next, .v = result.v_next};
  }
  EXPECT_NEAR(result.energy, 0.5 * 2 * v * v + 0.5 * 50 * (0.1 - x) * (0.1 - x), 1e-12);
}

TEST(StewartTrinkle, CompliantContactsAreImplicitSprings) {
  // A ball on a vertical slide that lands on a floor of 1/R = 400 N/m:  m(v⁺ − v)/h = −m g + f,  f = max(0, −(φ + h
  // v⁺)/R), so where it touches v⁺ = (m v − h m g − h φ/R)/(m + h²/R).
  const double m = 2, h = 0.01, R = 1.0 / 400;
  scene::SceneSpec spec = test::scene_spec(
      {test::body("ball", JointKind::kAxes, {test::slide("z", {0, 0, 1})}, SphereSpec{0.1}, m, 1, 0.7, at(0, 0, 0.15)),
       test::fixed_body("floor", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.7)});
  spec.gravity_W = {0, 0, -10};
  spec.step.model = scene::ModelKind::kStewartTrinkle;
  spec.step.h = h;
  spec.step.compliance = R;
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  State state{.q = VectorXd::Zero(1), .v = VectorXd::Zero(1)};
  StepResult result;
  double gap = 0.05, v = 0, deepest = 0;
  for (int k = 0; k < 200; ++k) {
    model->step(state, VectorXd(0), result);
    ASSERT_EQ(result.status, Status::kSolved) << k;
    double next = v - h * 10;
    if (gap + h * next < 0) next = (m * v - h * m * 10 - h * gap / R) / (m + h * h / R);
    const double force = m * (next - v) / h + m * 10;
    v = next;
    gap += h * v;
    deepest = std::min(deepest, gap);
    ASSERT_NEAR(result.v_next(0), v, 1e-9) << k;
    ASSERT_NEAR(result.solution.gap[0], gap, 1e-9) << k;
    ASSERT_NEAR(result.solution.force[0][0], force, 1e-8) << k;
    state = {.q = result.q_next, .v = result.v_next};
  }
  EXPECT_LT(deepest, -0.05);  // R m g
}

TEST(StewartTrinkle, ForcesDriveJointsWithoutSprings) {
  // A slide of 2 kg: v⁺ = v + h u/m; with damping D, (m + h D)v⁺ = m v + h u. The same in the convex second-order step.
  for (const scene::ModelKind kind : {scene::ModelKind::kStewartTrinkle, scene::ModelKind::kConvexSecondOrder}) {
    scene::SceneSpec spec = test::scene_spec(
        {test::body("cart", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, SphereSpec{0.1}, 2, 1, 0.5)});
    scene::RobotSpec robot;
    robot.name = "cart";
    robot.drive = scene::Drive::kForce;
    spec.robots = {robot};
    spec.step.model = kind;
    spec.step.h = 0.01;
    spec.step.joint_damping.all = 3;
    scene::KnotSpec knot{.t = 0.5};
    knot.robots["cart"].list = {4};
    spec.commands.knots = {knot};
    spec.commands.interpolation = scene::Interpolation::kHold;
    const scene::Scene scene = test::build(spec);
    VectorXd u(1);
    scene.command(0.7, 0.01, u);
    EXPECT_EQ(u(0), 4);
    const auto model = make_step_model(scene);
    State state{.q = VectorXd::Zero(1), .v = VectorXd::Constant(1, 0.3)};
    StepResult result;
    double x = 0, v = 0.3;
    for (int k = 0; k < 50; ++k) {
      model->step(state, VectorXd::Constant(1, -1.5), result);
      v = (2 * v - 0.01 * 1.5) / (2 + 0.01 * 3);
      x += 0.01 * v;
      ASSERT_NEAR(result.v_next(0), v, 1e-12);
      ASSERT_NEAR(result.q_next(0), x, 1e-12);
      state = {.q = result.q_next, .v = result.v_next};
    }
    EXPECT_NEAR(result.energy, v * v, 1e-12);
    EXPECT_EQ(start_trajectory(*model, state).u_index_q, std::vector<int>{-1});
  }
}

TEST(StewartTrinkle, IsOneOfTheMotionsThatContactModesAllow) {
  // A rod that falls on its end and slides: with much friction Painlevé's problem may have several motions, or (with
  // impulses over a step) always one at least.
  int several = 0;
  for (int k = 0; k < 200; ++k) {
    const double angle = 0.05 + 1.4 * (k % 20) / 20, mu = 0.1 + 1.9 * (k / 20) / 10;
    std::vector<multibody::JointAxisSpec> planar{test::slide("x", {1, 0, 0}), test::slide("z", {0, 0, 1}),
                                                 test::turn("theta", {0, 1, 0})};
    scene::SceneSpec spec =
        test::scene_spec({test::body("rod", JointKind::kAxes, planar, multibody::CapsuleSpec{0.005, 1.0}, 1, 1.0 / 12,
                                     mu, make_transform(exp_so3({0, angle, 0}), {0, 0, 0.5 * std::cos(angle) + 0.005})),
                          test::fixed_body("floor", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, mu)});
    spec.gravity_W = {0, 0, -10};
    spec.plane = scene::Plane::kXZ;
    spec.step.model = scene::ModelKind::kStewartTrinkle;
    spec.step.h = 0.01;
    spec.step.uniqueness_check = true;
    spec.step.contact_margin = 0.02;
    const scene::Scene scene = test::build(spec);
    for (const double speed : {-3.0, 0.0, 3.0}) {
      State start{.q = scene.initial_configuration(), .v = Vector3d(speed, 0, 0)};
      StepResult result;
      make_step_model(scene)->step(start, VectorXd(0), result);
      const std::vector<VectorXd> motions = test::motions_by_modes(result);
      SCOPED_TRACE(testing::Message() << "angle " << angle << " mu " << mu << " speed " << speed << " modes allow "
                                      << motions.size());
      ASSERT_FALSE(motions.empty());
      ASSERT_TRUE(solvers::usable(result.status)) << solvers::to_string(result.status);
      double nearest = 1;
      for (const VectorXd& motion : motions)
        nearest = std::min(nearest, (motion - result.delta).lpNorm<Eigen::Infinity>());
      EXPECT_LT(nearest, 1e-9);
      EXPECT_EQ(result.status == Status::kNotUnique, motions.size() > 1);
      several += motions.size() > 1;
    }
  }
  RecordProperty("several", several);
}

}  // namespace stewart_trinkle_test
}  // namespace deft::dynamics
