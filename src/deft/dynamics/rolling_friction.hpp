#pragma once
// Resistance to rolling of round bodies: one law for deft's steps of second order and for other simulators.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/math/block_diagonal.hpp"
#include "deft/scene/scene.hpp"

namespace deft::dynamics {

/// Rate of rolling [rad/s] below which the torque falls off in proportion.
inline constexpr double kRollingRate = 1e-3;

/// A loaded contact of two geometries.
struct LoadedContact {
  int geometry_a = -1, geometry_b = -1;             // indices of the scene's collision geometries
  Eigen::Vector3d n_W = Eigen::Vector3d::UnitZ();   // unit, along the normal force
  double force = 0;                                 // N [N] ≥ 0, of the normal alone
};

/// A pure torque on a body.
struct BodyTorque {
  int body = -1;                                       // of the scene
  Eigen::Vector3d torque_W = Eigen::Vector3d::Zero();  // [N·m]
};

/// Rolling friction: a contact with normal force N, one of whose geometries is round, acts on its bodies with torques
/// ±τ against the part ω_r of their relative angular velocity that rolls,
///
///   τ = −min(μ_r N |ω_r| / max(|ω_r|, ω_0), |ω_r| / (h w)) ω_r/|ω_r|,   ω_0 = kRollingRate,
///
/// μ_r [m] of `friction.rolling` and `friction.pairs`, h the length of the step. The second bound keeps a step from
/// turning the rolling round: w [1/(kg m²)] is by how much the torque, acting through Q (M/h² with springs and dampers),
/// changes ω_r. ω_r is tangential; on the side of a cylinder or capsule also along its axis, and on its ends and caps
/// zero, unless the other geometry is a sphere or an ellipsoid. Contacts act one after the other, each on what those
/// before it leave of the rolling.
/// One object per thread: it keeps scratch.
class RollingFriction {
 public:
  explicit RollingFriction(const scene::Scene& scene);  // which must outlive it
  bool none() const { return none_; }                   // no pair of the scene resists rolling
  /// Whether the pair does.
  bool acts_on(int geometry_a, int geometry_b) const { return !none_ && scene_->friction(geometry_a, geometry_b).rolling > 0; }
  /// The torques at a state, two per contact that rolls, appended to `out`. No allocation once grown.
  /// @param state  updated at q.  @param v  size nv.  @param h  [s].  @param Q  Hessian of the step's energy in its
  /// displacement [kg/s², …], blocks on Model::inertia_ranges.
  void torques(std::span<const LoadedContact> contacts, const scene::SceneState& state, const Eigen::VectorXd& v, double h,
               const BlockDiagonal& Q, std::vector<BodyTorque>& out);
  /// tau += J_ωᵀ torque of each, size nv.
  void add_generalized(std::span<const BodyTorque> torques, const scene::SceneState& state, Eigen::VectorXd& tau);

 private:
  /// One side of a contact, and how it answers a torque about the direction at hand.
  struct Side {
    int body = 0, first = -1, size = 0;  // the block of Q that moves it; first −1: nothing moves it
    Eigen::VectorXd answer;              // Q⁻¹ J_ωᵀ e on that block [rad, m per N·m]
    double mobility = 0;                 // eᵀ J_ω Q⁻¹ J_ωᵀ e [rad/(N·m)]
  };
  Eigen::Vector3d angular_velocity(int body, const scene::SceneState& state);
  Eigen::Vector3d rolling_part(const LoadedContact& contact, const Eigen::Vector3d& omega, const scene::SceneState& state) const;
  void answer(int body, const Eigen::Vector3d& direction, const scene::SceneState& state, const BlockDiagonal& Q, Side& side);
  const Eigen::Matrix<double, 3, Eigen::Dynamic>& angular_jacobian(int body, const scene::SceneState& state);

  const scene::Scene* scene_;
  bool none_ = true;
  std::vector<int> body_of_;                    // per geometry
  std::vector<Eigen::Vector3d> axis_B_;         // per geometry: of cylinders and capsules, in the body; else zero
  std::vector<char> is_ball_, is_frozen_;       // per geometry: sphere or ellipsoid; per velocity
  Eigen::VectorXd v_;                           // what is left of the velocities
  Side a_, b_;
  Eigen::MatrixXd factor_;
  std::vector<double> rows_;
  Eigen::Matrix<double, 3, Eigen::Dynamic> J_;
};

}  // namespace deft::dynamics
