#pragma once
// What can be told of a robot from its model: where its fingertips are, whether it is a hand, how stiff its joints may
// be.

#include <Eigen/Core>
#include <vector>

#include "deft/scene/scene.hpp"

namespace deft::authoring {

/// One robot of a scene.
struct RobotFacts {
  std::vector<int> bodies;                 // of it that have a collision geometry
  std::vector<int> tips;                   // of these, those at the ends of its branches
  std::vector<Eigen::Vector3d> p_BMiddle;  // of each body of the scene: middle of the box around its geometries [m]
  int palm = -1;                           // the last body that carries all tips; −1: there is none
  bool is_hand = false;                    // it has several branches, which share two joints (a wrist) at most
  Eigen::VectorXd q_middle;    // size nq: its joints in the middle of their limits, else as near to 0 as those let
  Eigen::VectorXd q_straight;  // likewise, but all as near to 0 as their limits let
};
/// Looks at the robot at index `robot` of Scene::robots(); the rest of q is as the scene starts.
RobotFacts robot_facts(const scene::Scene& scene, int robot);

/// Puts the coordinates of q that follow others where they belong.
void keep_couplings(const multibody::Model& model, Eigen::VectorXd& q);

/// Middle of the box around a body's collision geometries, in the world [m].
Eigen::Vector3d middle_of(const RobotFacts& facts, const scene::SceneState& state, int body);

/// Stiffness of each joint of a robot [N·m/rad, N/m], size nu: K = (2π f)² (M_jj + m r²), with which the joint alone
/// swings at f [Hz] with `payload` m [kg] at the farthest tip, at distance r from its axis (along it: r = 1); rounded
/// to two digits. @param state  updated.
Eigen::VectorXd joint_stiffness(const scene::Scene& scene, scene::SceneState& state, int robot, const RobotFacts& facts,
                                double payload, double frequency);

}  // namespace deft::authoring
