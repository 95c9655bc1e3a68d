// Resistance to rolling against closed forms, the same on every plant of second order, and what it leaves alone.

#include <gtest/gtest.h>

#include <cmath>

#include "deft/io/scene/scene_file.hpp"
#include "plant/plant_worlds.hpp"

namespace deft::plant {
namespace rolling_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::CylinderSpec;
using multibody::JointKind;
using multibody::SphereSpec;
using testing::hold;
using testing::numbers;

constexpr double kRadius = 0.1, kMass = 2, kRolling = 0.01, kG = 9.81;

/// A ball, or a cylinder along y, on a floor that falls towards x by `slope` [rad].
scene::SceneSpec round_body(const multibody::ShapeSpec& shape, double inertia, double slope = 0) {
  RigidTransform X = test::at(0, 0, kRadius);
  X.linear() = Eigen::AngleAxisd(M_PI / 2, Vector3d::UnitX()).toRotationMatrix();
  scene::SceneSpec spec = test::scene_spec({test::free_body("round", shape, kMass, inertia, 0.8, X),
                                            test::fixed_body("floor", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 0.8)});
  spec.gravity_W = kG * Vector3d(std::sin(slope), 0, -std::cos(slope));
  spec.friction.rolling = kRolling;
  return spec;
}

class Rolling : public ::testing::TestWithParam<PlantKind> {
 protected:
  void SetUp() override { DEFT_SKIP_WITHOUT_MUJOCO(GetParam()); }
  /// Rolls off along x at 0.5 m/s.
  std::unique_ptr<Plant> rolling(const scene::Scene& scene) const {
    std::unique_ptr<Plant> world = make_plant(GetParam(), scene, {});
    dynamics::State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(6)};
    start.v << 0, 0.5 / kRadius, 0, 0.5, 0, 0;
    world->reset(start, VectorXd(0));
    return world;
  }
};
INSTANTIATE_TEST_SUITE_P(Plants, Rolling, ::testing::ValuesIn(testing::second_order_plants()), testing::test_name);

// About the point of contact (I + m r²) ω̇ = −μ_r m g: the speed falls by a = μ_r m g r/(I + m r²).
TEST_P(Rolling, ABallSlowsDownComesToRestAndStays) {
  const double I = 0.4 * kMass * kRadius * kRadius;
  const double a = kRolling * kMass * kG * kRadius / (I + kMass * kRadius * kRadius);
  const scene::Scene scene = test::build(round_body(SphereSpec{kRadius}, I));
  const auto world = rolling(scene);
  hold(*world, VectorXd(0), 0.4);
  EXPECT_NEAR(world->state().v(3), 0.5 - 0.4 * a, 0.01 * 0.5);
  EXPECT_NEAR(world->state().q(4), 0.5 * 0.4 - 0.5 * a * 0.16, 0.01 * 0.2);
  hold(*world, VectorXd(0), 0.6);
  const double way = 0.25 / (2 * a), at_rest = world->state().q(4);
  EXPECT_NEAR(at_rest, way, 0.01 * way);
  hold(*world, VectorXd(0), 1);
  EXPECT_NEAR(world->state().q(4), at_rest, 1e-5);
  EXPECT_LT(world->state().v.norm(), 1e-4);
}

TEST_P(Rolling, ACylinderSlowsDownToo) {
  const double I = 0.5 * kMass * kRadius * kRadius;
  const double a = kRolling * kMass * kG * kRadius / (I + kMass * kRadius * kRadius);
  const scene::Scene scene = test::build(round_body(CylinderSpec{kRadius, 0.3}, I));
  const auto world = rolling(scene);
  hold(*world, VectorXd(0), 0.4);
  EXPECT_NEAR(world->state().v(3), 0.5 - 0.4 * a, 0.02 * 0.5);
}

// A slope holds what rolls against less than r sin β ≤ μ_r cos β; beyond, the ball rolls off with what is left.
TEST_P(Rolling, ASlopeHoldsABallUpToItsAngle) {
  const double I = 0.4 * kMass * kRadius * kRadius, limit = std::atan(kRolling / kRadius);
  for (const double share : {0.5, 2.0}) {
    const double slope = share * limit;
    const scene::Scene scene = test::build(round_body(SphereSpec{kRadius}, I, slope));
    const auto world = make_plant(GetParam(), scene, {});
    hold(*world, VectorXd(0), 0.5);
    if (share < 1) {
      const double before = world->state().q(4);
      hold(*world, VectorXd(0), 0.5);
      EXPECT_NEAR(world->state().q(4), before, 1e-5) << "no creep";
      EXPECT_NEAR(before, 0, 1e-4);
      continue;
    }
    const double torque = kMass * kG * (kRadius * std::sin(slope) - kRolling * std::cos(slope));
    const double a = torque * kRadius / (I + kMass * kRadius * kRadius);
    EXPECT_NEAR(world->state().q(4), 0.125 * a, 0.02 * 0.125 * a);
  }
}

TEST_P(Rolling, SpinAboutTheNormalAndFlightAreLeftAlone) {
  const scene::Scene scene = test::build(round_body(SphereSpec{kRadius}, 0.008));
  const auto world = make_plant(GetParam(), scene, {});
  dynamics::State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(6)};
  start.v(2) = 3;
  world->reset(start, VectorXd(0));
  hold(*world, VectorXd(0), 0.3);
  EXPECT_NEAR(world->state().v(2), 3, 1e-3);
  start.q(6) = 5;
  start.v << 1, 2, 3, 0, 0, 0;
  world->reset(start, VectorXd(0));
  hold(*world, VectorXd(0), 0.3);
  EXPECT_LT((world->state().v.head<3>() - Vector3d(1, 2, 3)).norm(), 1e-9);
}

TEST_P(Rolling, AFingerThatRollsABallFeelsIt) {
  // A plate on a slide rolls the ball on the floor; gravity presses neither: the plate's target does, 10 N. The way of
  // the ball is half of the plate's, the force on the plate along its way 2 μ_r N/(2 r).
  scene::SceneSpec spec = test::scene_spec(
      {test::free_body("ball", SphereSpec{kRadius}, 0.1, 4e-4, 0.8, test::at(0, 0, kRadius)),
       test::body("plate", JointKind::kAxes, {test::slide("x", {1, 0, 0}), test::slide("z", {0, 0, 1})},
                  BoxSpec{{2, 0.4, 0.02}}, 0.1, 0.01, 0.8, test::at(0, 0, 2 * kRadius + 0.01)),
       test::fixed_body("floor", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 0.8)},
      {{"plate", 1000}});
  spec.friction.pairs.push_back({.between = {"ball", "*"}, .rolling = kRolling});
  const scene::Scene scene = test::build(spec);
  const auto world = make_plant(GetParam(), scene, {});
  world->reset({.q = scene.initial_configuration()}, numbers({0, -0.01}));
  hold(*world, numbers({0, -0.01}), 0.2);
  const double speed = 0.1;
  for (int k = 1; k <= 100; ++k) ASSERT_EQ(world->advance(numbers({speed * 0.01 * k, -0.01}), 0.01), PlantStatus::kOk);
  EXPECT_NEAR(world->state().v(3), speed / 2, 0.02 * speed);
  std::vector<dynamics::ContactRecord> contacts;
  world->contacts(contacts);
  double along = 0, normal = 0;
  for (const auto& contact : contacts) {
    if (scene.names_bodies()[contact.a] != "plate" && scene.names_bodies()[contact.b] != "plate") continue;
    along += contact.force_W[0];
    normal += std::abs(contact.force_W[2]);
  }
  EXPECT_NEAR(normal, 10, 0.5);
  EXPECT_NEAR(std::abs(along), kRolling * normal / kRadius, 0.05 * kRolling * normal / kRadius);
}

TEST_P(Rolling, ABallRestsOnThePalmOfAHandWithoutAddedDamping) {
  Diagnostics diagnostics;
  const scene::Scene scene =
      io::load_scene(std::string(DEFT_SOURCE_DIR) + "/scenes/planning/allegro_ball.deft.yaml", {}, diagnostics);
  const auto world =
      make_plant(GetParam(), scene,
                 {.step = 0.002, .object_damping = object_damping(scene, std::nullopt, *scene.settings().step.h)});
  VectorXd u(scene.nu());
  for (int i = 0; i < scene.nu(); ++i) u(i) = scene.initial_configuration()(scene.command_coordinates()[i]);
  world->reset({.q = scene.initial_configuration()}, u);
  hold(*world, u, 1.5);
  EXPECT_LT(world->state().v.norm(), 1e-3);
  // What the fingers, which the start has inside the ball, push it.
  EXPECT_LT(scene.model().difference(scene.initial_configuration(), world->state().q).norm(), 0.1);
}

TEST(RollingSteps, AStepFromElsewhereKnowsNoForces) {
  // What a step does depends on its start and on the step that ended there, on no other.
  const scene::Scene scene = test::build(round_body(SphereSpec{kRadius}, 0.008));
  for (const PlantKind kind : {PlantKind::kConvexSecondOrder, PlantKind::kStewartTrinkle}) {
    const auto world = make_plant(kind, scene, {.step = 0.01});
    dynamics::State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(6)};
    start.v << 0, 5, 0, 0.5, 0, 0;
    VectorXd first;
    for (int k = 0; k < 2; ++k) {
      world->reset(start, VectorXd(0));
      hold(*world, VectorXd(0), 0.05);
      if (k == 0) first = world->state().v;
    }
    EXPECT_EQ(first, world->state().v) << world->name();
    EXPECT_LT(first(4 - 3), 5 - 1e-3);
  }
}

}  // namespace rolling_test
}  // namespace deft::plant
