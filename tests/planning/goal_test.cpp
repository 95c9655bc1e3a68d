// What a goal measures: bodies in metres and radians, joints, and what it leaves free.

#include "deft/planning/feasibility/goal.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "deft/math/rotation.hpp"
#include "support/scene_builder.hpp"

namespace deft::planning {
namespace goal_test {

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

/// A cabinet of two drawers, the second with a lid on a hinge; and a puck with a knob.
scene::Scene furniture() {
  const auto part = [](const std::string& name) {
    multibody::LinkSpec link = test::body(name, JointKind::kFree, {}, SphereSpec{0.1}, 1, 0.01, 0.5).links.front();
    return link;
  };
  const auto joint = [](const std::string& name, const std::string& parent, const std::string& child,
                        std::vector<test::JointAxisSpec> axes) {
    multibody::JointSpec spec;
    spec.name = name;
    spec.kind = axes.empty() ? JointKind::kFixed : JointKind::kAxes;
    spec.parent = parent;
    spec.child = child;
    spec.axes = std::move(axes);
    return spec;
  };
  multibody::ModelSpec cabinet, puck;
  cabinet.name = "cabinet";
  for (const char* name : {"case", "upper", "lower", "lid"}) cabinet.links.push_back(part(name));
  cabinet.joints = {joint("base", "world", "case", {}),
                    joint("upper", "case", "upper", {test::slide("upper", {1, 0, 0})}),
                    joint("lower", "case", "lower", {test::slide("lower", {1, 0, 0})}),
                    joint("lid", "lower", "lid", {test::turn("lid", {0, 1, 0})})};
  puck.name = "puck";
  puck.X_WModel = test::at(5, 0, 0);
  for (const char* name : {"disc", "knob"}) puck.links.push_back(part(name));
  puck.joints = {joint("plane", "world", "disc",
                       {test::slide("y", {0, 1, 0}), test::slide("z", {0, 0, 1}), test::turn("theta", {1, 0, 0})}),
                 joint("knob", "disc", "knob", {test::turn("knob", {1, 0, 0})})};
  return test::build(test::scene_spec({cabinet, puck,
                                       test::body("finger", JointKind::kAxes, {test::slide("x", {1, 0, 0})},
                                                  SphereSpec{0.1}, 1, 0.01, 0.5, test::at(-9, 0, 0))},
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

TEST(Goal, TakesEveryDrawerForAJointWithAToleranceOfItsOwn) {
  const scene::Scene scene = furniture();
  scene::GoalSpec spec = goal("cabinet", joints({{"upper", 0.3}, {"lower", 0.4}}));
  const Goal both(scene, spec, false);
  const GoalError error = both.error(scene.initial_configuration());
  EXPECT_EQ(error.position_m + error.rotation_rad, 0);
  EXPECT_NEAR(error.joint, 0.4, 1e-12);
  // Each within the tolerance of 0.05 m is enough, although their distance is more.
  const auto pose = [&](double upper, double lower) {
    VectorXd q = scene.initial_configuration();
    q(0) = upper;
    q(1) = lower;
    return q;
  };
  EXPECT_TRUE(both.reached(pose(0.26, 0.44)));
  EXPECT_FALSE(both.reached(pose(0.26, 0.46)));
  spec.tolerance_joints = {{"upper", 0.01}, {"cabinet/lower", 0.2}};
  const Goal own(scene, spec, false);
  EXPECT_TRUE(own.reached(pose(0.309, 0.21)));
  EXPECT_FALSE(own.reached(pose(0.311, 0.4)));
  EXPECT_FALSE(own.reached(pose(0.3, 0.19)));
  // In the distance a tolerance counts as much as another: 0.02 m, that of positions.
  EXPECT_NEAR(own.distance(pose(0.29, 0.4)), 0.02, 1e-12);
  EXPECT_NEAR(own.distance(pose(0.3, 0.2)), 0.02, 1e-12);
}

TEST(Goal, TellsTheJointsOnABodyFromTheBody) {
  const scene::Scene scene = furniture();
  const GoalError error = Goal(scene, goal("puck", joints({{"y", 0.3}, {"z", 0.4}, {"theta", 1}, {"knob", 2}})), false)
                              .error(scene.initial_configuration());
  EXPECT_NEAR(error.position_m, 0.5, 1e-12);
  EXPECT_NEAR(error.rotation_rad, 1, 1e-12);
  EXPECT_NEAR(error.joint, 2, 1e-12);
  const GoalError lid =
      Goal(scene, goal("cabinet", joints({{"lower", 0.4}, {"lid", 0.5}})), false).error(scene.initial_configuration());
  EXPECT_EQ(lid.position_m + lid.rotation_rad, 0);
  EXPECT_NEAR(lid.joint, 0.5, 1e-12);
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

TEST(Goal, MovesOnByAnError) {
  const scene::Scene scene = world();
  const Goal there(scene, goal("ball", pose(Vector3d(0.1, 0.2, 4.8), exp_so3({0.5, -1, 0.2}))), false);
  const VectorXd way = VectorXd::LinSpaced(there.size(), -0.02, 0.03);
  const Goal moved = there.moved_by(way);
  VectorXd e;
  there.residual(there.q(), moved.q(), e);
  EXPECT_LT((e - way).norm(), 1e-12);
  EXPECT_FALSE(moved.reached(there.q()));
  EXPECT_EQ(there.moved_by(VectorXd::Zero(there.size())).q(), there.q());
}

TEST(Goal, TakesThePositionsThatItLeavesFree) {
  const scene::Scene scene = world();
  const Goal turned(scene, goal("puck", joints({{"theta", 0.3}})), false);
  const std::optional<Goal> whole = turned.with_positions(scene);
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->size(), 3);
  EXPECT_EQ(whole->rows()[0], turned.rows()[0]);
  // A puck at the goal but 2 m aside is at the one, not at the other.
  VectorXd aside = VectorXd::Zero(scene.nv()), q;
  aside(whole->rows()[1]) = 2;
  scene.model().integrate(turned.q(), aside, q);
  EXPECT_TRUE(turned.reached(q));
  EXPECT_NEAR(whole->error(q).position_m, 2, 1e-12);
  // Nothing is left free: not by a whole pose, nor beside a hinge.
  EXPECT_FALSE(Goal(scene, goal("ball", pose(Vector3d(0, 0, 4), {})), false).with_positions(scene).has_value() &&
               Goal(scene, goal("door", joints({{"hinge", 1}})), false).with_positions(scene).has_value());
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
  scene::GoalSpec hinge = goal("door", joints({{"hinge", 1}}));
  hinge.tolerance_joints = {{"hing", 0.1}};
  EXPECT_NE(message(hinge).find("tolerance.joint: the goal names no joint 'hing'; valid: door/hinge"),
            std::string::npos);
  hinge.tolerance_joints = {{"hinge", 0.1}};
  EXPECT_EQ(message(hinge), "");
}

}  // namespace goal_test
}  // namespace deft::planning
