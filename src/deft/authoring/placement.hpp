#pragma once
// Where a robot and its objects may start: inside limits, free of penetration, the first object within reach.

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "deft/authoring/goal_text.hpp"
#include "deft/authoring/robot_facts.hpp"
#include "deft/math/rotation.hpp"
#include "deft/scene/scene.hpp"

namespace deft::authoring {

/// Turns the base of a hand so that its fingers close upwards: the direction in which the fingertips move from straight
/// to half closed, without its part along the fingers, becomes the vertical. Identity if they do not move.
Eigen::Matrix3d palm_up(const scene::Scene& scene, const RobotFacts& facts);

/// A start that was found.
struct Start {
  Eigen::VectorXd q;   // size nq
  bool found = false;  // otherwise q is the least bad that was tried, and `why` says what is wrong with it
  std::string why;     // what is wrong; empty if nothing is
  std::optional<RigidTransform> X_WGoal = {};  // where a first object that is to be turned lies in the hand when it is
};

/// Of a hand whose palm is turned up: the object is let down onto it, in several ways, and the fingers close about it
/// more or less; of what then lies still in the hand the start with the fingertips nearest to the object is taken, with
/// little tilt and in the middle of the tips. Where `goal` turns the object only, the object is laid down turned as
/// well, and starts from which it needs to go little aside to lie in the hand again are better. Objects after the first
/// stand beside. @throws InputError for an object that cannot be put on the ground.
Start start_in_hand(const scene::Scene& scene, const RobotFacts& facts, const Displacement& goal);

/// Of an arm: objects stand on the ground in a row at 0.6 of the arm's reach from its base along x, the first before
/// it, and the tip is behind the first, seen in the direction of `goal`. The joints are found by damped least squares
/// from several starts; without objects, or if that fails, they are those nearest to the middle of the limits with
/// which the robot touches nothing. @throws InputError likewise.
Start start_of_arm(const scene::Scene& scene, const RobotFacts& facts, const Displacement& goal);

}  // namespace deft::authoring
