#pragma once
// How fast joints may go.

#include <Eigen/Core>

#include "deft/scene/scene.hpp"

namespace deft::scene {

/// Limits of the speed of commands, each of size nu [rad/s, m/s].
struct JointSpeeds {
  Eigen::VectorXd stated;  // by the scene or the model file; infinity where neither says one above 0
  Eigen::VectorXd free;    // away from objects: stated, else plan.joint_speed of hinges and plan.slide_speed of slides
  Eigen::VectorXd touching;  // beside objects: the lesser of both

  /// Whether any is stated.
  bool any_stated() const { return !stated.array().isInf().all(); }
  /// max_i |q_a − q_a,before|_i / (h v̄_i) of a step of length h [s] from q_before to q (size nq), v̄ what is stated; 0
  /// without any.
  double share(const Scene& scene, const Eigen::VectorXd& q_before, const Eigen::VectorXd& q, double h) const;
};
/// The speeds of a scene's robots. Limits of 0, which files state for want of a number, count as not stated.
JointSpeeds joint_speeds(const Scene& scene);
/// Per command from the robots, infinity where it is 0, which files state for want of a number; size nu.
Eigen::VectorXd stated_limits(const Scene& scene, Eigen::VectorXd Robot::* of_robot);

}  // namespace deft::scene
