// What a goal measures: bodies in metres and radians, joints, and what it leaves free.

#include "deft/planning/goal.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "deft/math/rotation.hpp"
#include "support/scene_builder.hpp"

namespace deft::planning {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::JointKind;
using multibody::SphereSpec;
using std::numbers::pi;

/// A free ball, a planar puck in yz, a door on a hinge, and a finger.
scene::Scene world() {
  return test::build(test::scene_spec(
      {test::free_body("ball", SphereSpec{0.1}, 1, 0.01, 0.5, test::at(0, 0, 5)),
       test::body("puck", JointKind::kAxes,
                  {test::slide("y", {0, 1, 0}), test::slide("z", {0, 0, 1}), test::turn("theta", {1, 0, 0})},
                  SphereSpec{0.1}, 1, 0.01, 0.5),
       test::body("door", JointKind::kAxes, {test::turn("hinge", {0, 0, 1})}, SphereSpec{0.1}, 1, 0.01, 0.5,
                  test::at(9, 0, 0)),
       test::body("finger", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, SphereSpec{0.1}, 1, 0.01, 0.5,
                  test::at(-9, 0, 0))},
      {{"finger", 100}}));
}

scene::GoalSpec goal(const std::string& name, scene::ModelConfiguration target) {
  scene::GoalSpec spec;
  spec.target.name = "there";
  spec.target.models[name] = std::move(target);
  spec.tolerance_position_m = 0.02;
  spec.tolerance_rotation_rad = 0.1;
  spec.tolerance_joint = 0.05;
  return spec;
}
scene::ModelConfiguration joints(std::map<std::string, double> by_name) {
  scene::ModelConfiguration target;
  target.joints.by_name = std::move(by_name);
  return target;
}
scene::ModelConfiguration pose(std::optional<Vector3d> position, std::optional<Eigen::Matrix3d> rotation) {
  scene::ModelConfiguration target;
  target.position = position;
  target.rotation = rotation;
  return target;
}

TEST(Goal, MeasuresAFreeBodyInMetresAndByTheLogarithmOfItsRotation) {
  const scene::Scene scene = world();
  const Vector3d turn(0.3, -0.2, 0.9);
  const Goal there(scene, goal("ball", pose(Vector3d(0.03, 0.04, 5), exp_so3(turn))), false);
  const GoalError error = there.error(scene.initial_configuration());
  EXPECT_NEAR(error.position_m, 0.05, 1e-12);
  EXPECT_NEAR(error.rotation_rad, turn.norm(), 1e-12);
  EXPECT_EQ(error.joint, 0);
  // In the distance a radian weighs as much as the tolerances say: 0.2 m.
  EXPECT_NEAR(there.distance(scene.initial_configuration()), std::hypot(0.05, 0.2 * turn.norm()), 1e-12);
}

TEST(Goal, LeavesFreeWhatItDoesNotName) {
  const scene::Scene scene = world();
  const Goal there(scene, goal("ball", pose(std::nullopt, exp_so3({0, 0, 0.05}))), false);
  EXPECT_EQ(there.size(), 3);
  EXPECT_EQ(there.error(scene.initial_configuration()).position_m, 0);
  EXPECT_TRUE(there.reached(scene.initial_configuration()));
  EXPECT_FALSE(Goal(scene, goal("ball", pose(std::nullopt, exp_so3({0, 0, 0.11}))), false)
                   .reached(scene.initial_configuration()));
}

TEST(Goal, TakesPlanarBodiesForBodiesAndHingesForJoints) {
  const scene::Scene scene = world();
  const GoalError planar = Goal(scene, goal("puck", joints({{"y", 0.3}, {"z", 0.4}, {"theta", 1.0}})), false)
                               .error(scene.initial_configuration());
  EXPECT_NEAR(planar.position_m, 0.5, 1e-12);
  EXPECT_NEAR(planar.rotation_rad, 1.0, 1e-12);
  const GoalError door =
      Goal(scene, goal("door", joints({{"hinge", -1.2}})), false).error(scene.initial_configuration());
  EXPECT_EQ(door.position_m + door.rotation_rad, 0);
  EXPECT_NEAR(door.joint, 1.2, 1e-12);
}

TEST(Goal, CountsPlanarAnglesModuloAFullTurnOnlyIfAsked) {
  const scene::Scene scene = world();
  const scene::GoalSpec spec = goal("puck", joints({{"theta", 2 * pi + 0.25}}));
  EXPECT_NEAR(Goal(scene, spec, false).error(scene.initial_configuration()).rotation_rad, 2 * pi + 0.25, 1e-12);
  EXPECT_NEAR(Goal(scene, spec, true).error(scene.initial_configuration()).rotation_rad, 0.25, 1e-12);
}

TEST(Goal, ResidualLeadsToTheTarget) {
  const scene::Scene scene = world();
  const Goal there(scene, goal("ball", pose(Vector3d(0.1, 0.2, 4.8), exp_so3({0.5, -1, 0.2}))), false);
  VectorXd e;
  there.residual(scene.initial_configuration(), there.q(), e);
  VectorXd delta = VectorXd::Zero(scene.nv()), q;
  for (int i = 0; i < there.size(); ++i) delta(there.rows()[i]) = e(i) / there.weights()(i);
  scene.model().integrate(scene.initial_configuration(), delta, q);
  EXPECT_LT(there.distance(q), 1e-12);
}

TEST(Goal, RefusesRobotsAndEmptyGoalsByName) {
  const scene::Scene scene = world();
  const auto message = [&](const scene::GoalSpec& spec) {
    try {
      Goal(scene, spec, false);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(
      message(goal("finger", joints({{"x", 1}}))).find("'finger' is not an object; a goal can name: ball, puck, door"),
      std::string::npos);
  EXPECT_NE(message(goal("ball", {})).find("names no coordinate"), std::string::npos);
}

}  // namespace
}  // namespace deft::planning
