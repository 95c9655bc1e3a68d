#pragma once
// The robots of a scene as fingers that can touch, and the objects as surfaces that can be touched.

#include <Eigen/Core>
#include <vector>

#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/random_stream.hpp"
#include "deft/scene/scene.hpp"

namespace deft::planning {

/// A chain of joints from a base to a tip that no other chain contains.
struct Finger {
  std::vector<int> commands;    // joints that move it, indices into u, ascending
  std::vector<int> geometries;  // that only its joints move, from the tip inwards
};

/// What a scene offers to a planner, once per scene; immutable.
struct Hand {
  std::vector<Finger> fingers;           // one per chain, in the order of the geometries; they may share joints
  std::vector<std::vector<int>> movers;  // per geometry: commands that move it, ascending
  std::vector<int> surfaces;             // geometries of the objects that the goal names
  std::vector<double> share;             // of the area of `surfaces` up to and including this one, ascending to 1
  Eigen::VectorXd lower, upper;          // of the joint targets, size nu [rad, m]
  Eigen::VectorXd home;                  // joint positions at the start of the scene, size nu, within the limits
  Eigen::VectorXd stiffness;             // of the springs between joints and targets, size nu [N/m, N·m/rad]
  double weight_N = 0;  // of the objects that the goal names, as far as gravity moves them along slides

  /// @throws InputError if no joint of a robot moves a geometry, if no object of the goal has a surface to touch, or if
  /// a joint of a robot starts outside its limits, where no command could hold it.
  Hand(const scene::Scene& scene, const Goal& goal);
  /// One of the surfaces, as likely as its area says.
  int draw_surface(RandomStream& draw) const;
  /// The indices of all fingers, ascending.
  std::vector<int> all_fingers() const;
  /// Per command whether it moves one of the chosen fingers, and none of the others; size nu.
  std::vector<char> commands_of(const std::vector<int>& fingers) const;
};

/// The joint positions of the robots in q, size nu.
Eigen::VectorXd joint_positions(const scene::Scene& scene, const Eigen::VectorXd& q);
/// Puts joint positions, size nu, into q, size nq.
void set_joint_positions(const scene::Scene& scene, const Eigen::VectorXd& joints, Eigen::VectorXd& q);

}  // namespace deft::planning
