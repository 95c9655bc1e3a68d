#pragma once
// How fast joints may go, and how hard they may be driven, in plans.

#include <Eigen/Core>

#include "deft/scene/joint_speeds.hpp"
#include "deft/scene/scene.hpp"

namespace deft::planning {

using scene::joint_speeds;
using scene::JointSpeeds;

/// Share of the speed beside objects at which objects are moved: a loaded joint goes further than its command where
/// something yields.
inline constexpr double kMovingPace = 0.4;

/// What the drive of each joint exerts,
///
///   τ = K (u − q_a) − D q̇_a + g(q),   |τ| ≤ τ̄,
///
/// D of `step.joint_damping`, and g what carries the robot's own weight beside the springs; with `step.robot_gravity:
/// true` springs carry it, and g = 0. Limits of 0 count as not stated. One per thread.
class DriveLimits {
 public:
  /// @param scene  must outlive this object.
  explicit DriveLimits(const scene::Scene& scene);
  /// Whether any joint has a limit; without one nothing below costs anything.
  bool any_stated() const { return any_stated_; }
  /// Narrows a range of joint targets, each of size nu [rad, m], to those that keep the limits at rest at q (size nq):
  ///   q_a − (τ̄ + g)/K ≤ u ≤ q_a + (τ̄ − g)/K.
  /// Where that range is empty, since the weight alone is too much, it becomes the end that is nearer.
  void narrow(const Eigen::VectorXd& q, Eigen::VectorXd& lower, Eigen::VectorXd& upper);
  /// max_i |τ_i|/τ̄_i at the end of a step of length h [s] from q_before to q (size nq) under the targets u (size nu),
  /// q̇_a = (q_a − q_a,before)/h; 0 if no joint has a limit.
  double share(const Eigen::VectorXd& q_before, const Eigen::VectorXd& q, const Eigen::VectorXd& u, double h);
  /// @throws InputError if a joint cannot carry the robot's own weight at q, naming it with both efforts.
  void require_weight_is_carried(const Eigen::VectorXd& q);

 private:
  /// g at q into weight_.
  void weigh(const Eigen::VectorXd& q);

  const scene::Scene* scene_;
  Eigen::VectorXd limit_, stiffness_, damping_, weight_;  // τ̄ [N·m, N], infinity: none; K; D; g; each of size nu
  bool any_stated_ = false;
  bool carries_ = false;  // whether g may differ from 0
  scene::SceneState state_;
  Eigen::VectorXd gravity_;  // scratch of size nv
};

}  // namespace deft::planning
