#pragma once
// Resistance to rolling of round bodies: one law for deft's steps of second order and for other simulators.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/math/block_diagonal.hpp"
#include "deft/scene/scene.hpp"

namespace deft::dynamics {

/// Whether some pair of geometries has a coefficient μ_r > 0.
bool resists_rolling(const scene::FrictionSpec& friction);

/// A loaded contact of two geometries.
struct LoadedContact {
  int geometry_a = -1, geometry_b = -1;            // indices of the scene's collision geometries
  Eigen::Vector3d n_W = Eigen::Vector3d::UnitZ();  // unit, along the normal force
  double force = 0;                                // N [N] ≥ 0, of the normal alone
};

/// A pure torque on a body.
struct BodyTorque {
  int body = -1;                                       // of the scene
  Eigen::Vector3d torque_W = Eigen::Vector3d::Zero();  // [N·m]
};

/// Rolling friction: a contact with normal force N, one of whose geometries is round, acts on its bodies with torques
/// ±τ against the part ω_r of their relative angular velocity that rolls. It is Coulomb's law with the bound μ_r N,
/// μ_r [m] of `friction.rolling` and `friction.pairs`, regularised by a bristle T with a damper, both as stiff as steps
/// of length h bear:
///
///   T ← T − c ω_r,   τ = T − c ω_r, shortened to μ_r N if it is longer; T ← τ then,   c = 1/(n h w).
///
/// w [1/(kg m²)] is the inverse of the inertia that Q h² has against turning along ω_r (Q: M/h² with springs and
/// dampers), and n is the larger number of contacts that resist rolling on either body. So what rolls slows down with
/// μ_r N whatever its rate, comes to rest, and stays: it yields by the angle of a step's motion under the load, and
/// does not creep. ω_r is tangential; on the side of a cylinder or capsule also along its axis, and on its ends and
/// caps zero, unless the other geometry is a sphere or an ellipsoid. Points of one pair of geometries count as one. One
/// object per thread: it keeps scratch, and the bristles of the last call.
class RollingFriction {
 public:
  explicit RollingFriction(const scene::Scene& scene);  // which must outlive it
  bool none() const { return none_; }                   // no pair of the scene resists rolling
  /// Whether the pair does.
  bool acts_on(int geometry_a, int geometry_b) const {
    return !none_ && scene_->friction(geometry_a, geometry_b).rolling > 0;
  }
  /// The torques of a step from a state, one per body of each contact that moves, appended to `out`. Moves the
  /// bristles. No allocation once grown.
  /// @param state  updated at q.  @param v  size nv.  @param h  [s].  @param Q  Hessian of the step's energy in its
  /// displacement [kg/s², …], blocks on Model::inertia_ranges.
  void torques(std::span<const LoadedContact> contacts, const scene::SceneState& state, const Eigen::VectorXd& v,
               double h, const BlockDiagonal& Q, std::vector<BodyTorque>& out);
  void forget() { bristles_.clear(); }  // the next torques are those of contacts that just began
  /// tau += J_ωᵀ torque of each, size nv.
  void add_generalized(std::span<const BodyTorque> torques, const scene::SceneState& state, Eigen::VectorXd& tau);

 private:
  /// A pair of geometries in contact, and what its bristle holds.
  struct Bristle {
    LoadedContact contact;
    Eigen::Vector3d torque_W;  // T, on the body of geometry_a [N·m]
  };
  void gather(std::span<const LoadedContact> contacts);
  int body_of(int geometry) const { return body_of_[static_cast<std::size_t>(geometry)]; }
  bool moves(int body) const;
  int contacts_on(int body) const;
  Eigen::Vector3d angular_velocity(int body, const scene::SceneState& state, const Eigen::VectorXd& v);
  Eigen::Vector3d rolling_part(const LoadedContact& contact, const Eigen::Vector3d& omega,
                               const scene::SceneState& state) const;
  double mobility(int body, const Eigen::Vector3d& direction, const scene::SceneState& state, const BlockDiagonal& Q);
  const Eigen::Matrix<double, 3, Eigen::Dynamic>& angular_jacobian(int body, const scene::SceneState& state);

  const scene::Scene* scene_;
  bool none_ = true;
  std::vector<int> body_of_;               // per geometry
  std::vector<Eigen::Vector3d> axis_B_;    // per geometry: of cylinders and capsules, in the body; else zero
  std::vector<char> is_ball_, is_frozen_;  // per geometry: sphere or ellipsoid; per velocity
  std::vector<Bristle> bristles_, last_;   // of the last call; scratch
  Eigen::MatrixXd factor_;
  Eigen::VectorXd row_, answer_;
  std::vector<double> rows_;
  Eigen::Matrix<double, 3, Eigen::Dynamic> J_;
};

}  // namespace deft::dynamics
