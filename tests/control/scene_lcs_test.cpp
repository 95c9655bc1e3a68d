// The system of a scene against the step model: one step at the linearisation point, any step of a linear scene,
// derivatives by differences.

#include <gtest/gtest.h>

#include "control/control_scenes.hpp"
#include "deft/control/scene_lcs.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/math/random.hpp"
#include "deft/solvers/lcp/complementarity_solver.hpp"

namespace deft::control {
namespace scene_lcs_test {

using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::Vector4d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::JointKind;
using multibody::SphereSpec;
using test::at;

/// Uniform numbers, one after the other.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  double uniform(double lower, double upper) { return lower + (upper - lower) * random_uniform(seed_, 0, index_++); }

 private:
  std::uint64_t seed_;
  std::uint32_t index_ = 0;
};

/// x⁺ and γ⁺ of a step of the system, by the solver of single complementarity problems.
struct Next { VectorXd x, gamma; };
Next step(const solvers::lcs::LinearComplementaritySystem& lcs, const VectorXd& x, const VectorXd& u) {
  const VectorXd free = lcs.A * x + lcs.B * u + lcs.F;
  solvers::lcp::ComplementarityProgram problem;
  problem.M = lcs.D * lcs.C + lcs.E;
  problem.q = lcs.D * free + lcs.D0 * x + lcs.H * u + lcs.alpha;
  if (lcs.pairs() == 0) return {free, VectorXd()};
  solvers::lcp::ComplementaritySolver solver;
  const auto& found = solver.solve(problem);
  EXPECT_EQ(found.status, solvers::Status::kSolved) << to_string(found.status);
  return {free + lcs.C * found.solution.z, found.solution.z};
}

/// The same step by the model.
VectorXd model_step(const scene::Scene& scene, const SceneLinearizer& linearizer, const dynamics::State& start,
                    const VectorXd& u) {
  dynamics::StepResult result;
  dynamics::make_step_model(scene)->step(start, u, result);
  EXPECT_EQ(result.status, solvers::Status::kSolved);
  return linearizer.state(start.q, result.q_next, result.v_next);
}

TEST(SceneLcs, TheDiscSlidesAndSticksAsInTheNote) {
  const scene::Scene scene = test::build(test::disc_between_surfaces());
  SceneLinearizer linearizer(scene);
  SceneLcs lcs;
  linearizer.linearize({.q = Vector2d(-2, -4), .v = Vector2d::Zero()}, Vector2d::Zero(), {}, lcs);
  ASSERT_EQ(lcs.system.pairs(), 12);
  ASSERT_EQ(lcs.system.nx(), 4);
  const Next slide = step(lcs.system, Vector4d(-2, -4.4, 0.5, 0), Vector2d(0, -1));
  EXPECT_LT((slide.x - Vector4d(-1.958, -4.4, 0.42, 0)).norm(), 1e-12) << slide.x.transpose();
  for (std::size_t i = 0; i < lcs.pairs.size(); ++i) {
    const dynamics::HorizonPair& pair = lcs.pairs[i];
    const std::string other = scene.names_bodies()[scene.names_bodies()[pair.a] == "disc" ? pair.b : pair.a];
    if (pair.kind != dynamics::HorizonPair::Kind::kNormal) continue;
    EXPECT_NEAR(slide.gamma(static_cast<Eigen::Index>(i)), other == "floor" ? 0.1 : 0, 1e-12) << other;
  }
  const Next stick = step(lcs.system, Vector4d(-2, -4.35, 0.1, -0.9), Vector2d(0.2, -0.3));
  EXPECT_LT((stick.x - Vector4d(-2, -4.4, 0, -0.5)).norm(), 1e-12) << stick.x.transpose();
}

TEST(SceneLcs, OfALinearSceneHoldsEverywhere) {
  const scene::Scene scene = test::build(test::disc_between_surfaces());
  SceneLinearizer linearizer(scene);
  SceneLcs lcs;
  linearizer.linearize({.q = Vector2d(-2, -4), .v = Vector2d(0.3, 0.1)}, Vector2d(0.1, 0.2), {}, lcs);
  Draws random(7);
  int touched = 0;
  for (int k = 0; k < 200; ++k) {
    // In turn near the floor, the wall, the bevel, and both floor and bevel or wall; touching or not.
    const double near = 0.05 * std::max(0.0, random.uniform(-1, 1)), along = random.uniform(0, 3.5),
                 half = 0.6 * std::sqrt(2.0);
    const Vector2d places[] = {{along, -4.4 + near},
                               {4.4 - near, -along},
                               {along + half + near, along},
                               {4.4 - near, -4.4},
                               {-4.4 + half, -4.4 + near}};
    const dynamics::State start{.q = places[k % 5], .v = Vector2d(random.uniform(-1, 1), random.uniform(-1, 1))};
    const Vector2d u(random.uniform(-1, 1), random.uniform(-1, 1));
    const Next next = step(lcs.system, linearizer.state(start.q, start.q, start.v), u);
    EXPECT_LT((next.x - model_step(scene, linearizer, start, u)).norm(), 1e-10) << k;
    touched += next.gamma.maxCoeff() > 1e-3 ? 1 : 0;
  }
  EXPECT_GT(touched, 50);
}

/// A box on a floor that a ball on two slides pushes, with gravity; everything in the plane xz.
scene::SceneSpec pusher_and_box(double compliance) {
  std::vector<test::ModelSpec> models{
      test::body("box", JointKind::kAxes,
                 {test::slide("x", {1, 0, 0}), test::slide("z", {0, 0, 1}), test::turn("theta", {0, -1, 0})},
                 BoxSpec{{0.2, 0.2, 0.2}}, 2, 0.02, 0.5),
      test::body("ball", JointKind::kAxes, {test::slide("x", {1, 0, 0}), test::slide("z", {0, 0, 1})}, SphereSpec{0.05},
                 1, 1, 0.5),
      test::fixed_body("floor", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 0.5)};
  scene::SceneSpec spec = test::scene_spec(std::move(models));
  scene::RobotSpec robot;
  robot.name = "ball";
  robot.drive = scene::Drive::kForce;
  spec.robots.push_back(robot);
  spec.gravity_W = {0, 0, -9.81};
  spec.plane = scene::Plane::kXZ;
  spec.step.model = scene::ModelKind::kStewartTrinkle;
  spec.step.h = 0.02;
  spec.step.contact_margin = kInfinity;
  spec.step.compliance = compliance;
  return spec;
}

TEST(SceneLcs, StepsAsTheModelWhereItIsTakenWithSeveralContacts) {
  for (const double compliance : {0.0, 1e-3}) {
    const scene::Scene scene = test::build(pusher_and_box(compliance));
    SceneLinearizer linearizer(scene);
    SceneLcs lcs;
    Draws random(11);
    for (int k = 0; k < 60; ++k) {
      const double theta = k % 3 == 0 ? 0 : random.uniform(-0.3, 0.3);
      dynamics::State start{.q = VectorXd(5), .v = VectorXd(5)};
      start.q << 0.3, 0.1 * (std::abs(std::cos(theta)) + std::abs(std::sin(theta))), theta,
          0.3 - 0.15 / std::cos(theta) - 0.01, 0.1;
      for (int i = 0; i < 5; ++i) start.v(i) = random.uniform(-0.5, 0.5);
      const Vector2d u(random.uniform(0, 40), random.uniform(-10, 10));
      linearizer.linearize(start, u, {}, lcs);
      const Next next = step(lcs.system, lcs.x, u);
      EXPECT_LT((next.x - model_step(scene, linearizer, start, u)).norm(), 1e-10) << k << " compliance " << compliance;
    }
  }
}

TEST(SceneLcs, StepsAsTheModelInSpace) {
  // A free box on a floor with pyramids of four rays, turning.
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("box", BoxSpec{{0.2, 0.3, 0.1}}, 2, 0.02, 0.4, at(0, 0, 0.05)),
                        test::body("ball", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, SphereSpec{0.05}, 1, 1, 0.5,
                                   at(-0.152, 0.02, 0.06)),
                        test::fixed_body("floor", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 0.5)},
                       {{"ball", 500}});
  spec.gravity_W = {0, 0, -9.81};
  spec.step.model = scene::ModelKind::kStewartTrinkle;
  spec.step.h = 0.01;
  spec.step.contact_margin = kInfinity;
  for (const double arm : {1.0, 0.54}) {
    spec.step.friction_arm = arm;
    const scene::Scene scene = test::build(spec);
    SceneLinearizer linearizer(scene);
    SceneLcs lcs;
    Draws random(3);
    for (int k = 0; k < 20; ++k) {
      dynamics::State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(scene.nv())};
      for (int i = 2; i < 6; ++i) start.v(i) = random.uniform(-0.4, 0.4);
      const VectorXd u = VectorXd::Constant(1, random.uniform(0, 0.05));
      linearizer.linearize(start, u, {}, lcs);
      const Next next = step(lcs.system, lcs.x, u);
      const VectorXd expected = model_step(scene, linearizer, start, u);
      // Rotations are composed by the model and added by the system, the same from where it is taken.
      EXPECT_LT((next.x - expected).norm(), 1e-9) << k << ", friction arm " << arm;
    }
  }
}

TEST(SceneLcs, DerivativesOfAFallingPendulumAreThoseOfTheModel) {
  // A pole on a cart, without contacts: A and B against central differences of the step.
  scene::SceneSpec spec = test::scene_spec({});
  test::ModelSpec cart =
      test::body("cart", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, BoxSpec{{0.2, 0.1, 0.1}}, 1, 0.01, 0);
  multibody::LinkSpec pole = cart.links.front();
  cart.inline_body = false;
  pole.name = "pole";
  pole.inertial = multibody::InertialSpec{0.4, {0, 0, 0.4}, 0.002 * Eigen::Matrix3d::Identity()};
  cart.links.push_back(pole);
  multibody::JointSpec hinge;
  hinge.name = "hinge";
  hinge.kind = JointKind::kAxes;
  hinge.parent = "cart";
  hinge.child = "pole";
  hinge.axes = {test::turn("hinge", {0, -1, 0})};
  cart.joints.push_back(hinge);
  spec.world.models = {cart};
  scene::RobotSpec robot;
  robot.name = "cart";
  robot.drive = scene::Drive::kForce;
  spec.robots = {robot};
  spec.gravity_W = {0, 0, -9.81};
  spec.step.model = scene::ModelKind::kStewartTrinkle;
  spec.step.h = 0.02;
  spec.step.robot_gravity = true;
  const scene::Scene scene = test::build(std::move(spec));
  SceneLinearizer linearizer(scene);
  SceneLcs lcs;
  const dynamics::State start{.q = Vector2d(0.1, 0.4), .v = Vector2d(0.5, -0.7)};
  const Vector2d u(0.3, 0.1);
  linearizer.linearize(start, u, {}, lcs);
  ASSERT_EQ(lcs.system.pairs(), 0);
  const double eps = 1e-6;
  for (int i = 0; i < 6; ++i) {
    Eigen::Matrix<double, 6, 1> d = Eigen::Matrix<double, 6, 1>::Unit(i) * eps;
    const auto moved = [&](double sign) {
      return model_step(scene, linearizer, {.q = start.q + sign * d.head<2>(), .v = start.v + sign * d.segment<2>(2)},
                        u + sign * d.tail<2>());
    };
    const VectorXd slope = (moved(1) - moved(-1)) / (2 * eps);
    const VectorXd column = i < 4 ? VectorXd(lcs.system.A.col(i)) : VectorXd(lcs.system.B.col(i - 4));
    EXPECT_LT((slope - column).norm(), 1e-7) << i;
  }
}

TEST(SceneLcs, LeavesOutWhatBoundsKeepOutOfReach) {
  const scene::Scene scene = test::build(test::disc_between_surfaces());
  SceneLinearizer linearizer(scene);
  SceneLcs lcs;
  // Gaps at (−2, −4): bevel (√2 − 0.6) m = 0.81, floor 0.4, wall 6.4.
  const auto pairs = [&](double speed, double time, double margin) {
    linearizer.linearize({.q = Vector2d(-2, -4), .v = Vector2d::Zero()}, Vector2d::Zero(),
                         {.speed = Vector2d::Constant(speed), .time = time, .contact_margin = margin}, lcs);
    return lcs.system.pairs();
  };
  EXPECT_EQ(pairs(1, 0.3, kInfinity), 0);
  EXPECT_EQ(pairs(1, 0.5, kInfinity), 4);
  EXPECT_EQ(pairs(1, 0.6, kInfinity), 8);
  EXPECT_EQ(pairs(1, 7, kInfinity), 12);
  EXPECT_EQ(pairs(kInfinity, 0.1, kInfinity), 12);
  EXPECT_EQ(pairs(kInfinity, 0.1, 1.0), 8);
}

TEST(SceneLcs, RefusesOtherModelsByName) {
  scene::SceneSpec spec = test::disc_between_surfaces();
  spec.step.model = scene::ModelKind::kConvexSecondOrder;
  const scene::Scene scene = test::build(std::move(spec));
  try {
    SceneLinearizer linearizer(scene);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("valid: stewart-trinkle"), std::string::npos);
  }
}

TEST(ForceDrive, IsRefusedByModelsWithoutMomentum) {
  scene::SceneSpec spec = test::disc_between_surfaces();
  spec.step.model = scene::ModelKind::kConvex;
  EXPECT_NE(test::build_errors(std::move(spec)).find("valid: stewart-trinkle, convex-second-order"), std::string::npos);
  spec = test::disc_between_surfaces();
  spec.step.effort_limits = true;
  EXPECT_NE(test::build_errors(std::move(spec)).find("step.effort_limits"), std::string::npos);
  spec = test::disc_between_surfaces();
  spec.robots[0].stiffness.all = 3;
  EXPECT_NE(test::build_errors(std::move(spec)).find("has no springs"), std::string::npos);
}

}  // namespace scene_lcs_test
}  // namespace deft::control
