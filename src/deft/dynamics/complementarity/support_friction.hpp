#pragma once
// The friction of an object's support as a quadratic form of its motion: the limit surface, or the ellipsoid that
// touches it where the motion is.
//
//   δ_o = A F_o,  A = Q⁻¹,  Q = Sᵀ R̃ K R̃ᵀ S,  K = Ã⁻¹ (ellipsoid) or ∇²K(V) (uniform pressure),
//
// S the columns of the object's coordinates as twists in the plane of motion at the body's origin, R̃ its frame's axes
// there.

#include <Eigen/Core>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "deft/math/uniform_pressure.hpp"
#include "deft/scene/scene.hpp"

namespace deft::dynamics {

/// The support of one object. One instance per thread: it keeps the last motion of the support for warm starts.
class SupportFriction {
 public:
  /// A quadratic form on the object's velocities, nv × nv, nv ≤ 3, without allocation.
  using Form = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 3, 3>;

  /// @throws InputError that names the object: without `limit_surface`, not one body with one to three joints that move
  /// it in the plane of motion, a support without a force.
  SupportFriction(const scene::Scene& scene, const scene::Object& object);

  /// Takes the pose of the object from `state`, which must be updated.
  void place(const scene::SceneState& state);
  /// Q at that pose, nv × nv, for the current K: generalised force F_o per displacement δ_o.
  const Form& Q() const { return Q_; }
  /// A = Q⁻¹.
  Form A() const;
  bool is_ellipsoid() const { return !pressure_; }  // K is constant
  /// The motion in the body's axes (scene/support_axes.hpp) [m, m, rad], about its origin.
  Eigen::Vector3d twist(const Eigen::VectorXd& delta) const { return to_body_ * delta.segment(first_v_, nv_); }
  /// K there: of an ellipsoid, or ∇²K(V) at a twist V ≠ 0.
  Eigen::Matrix3d body_form(const Eigen::Vector3d& V) const;
  /// The part of the generalised force F_o (size nv) that the support resists, as a load in the body's axes [N, N,
  /// N·m]: K times the twist A F_o. All of it if the object's joints allow every motion in the plane; they bear the
  /// rest.
  Eigen::Vector3d body_load(const Eigen::Matrix3d& K, const Eigen::VectorXd& F_o) const;
  /// For supports that are no ellipsoid: compares the motion of the step, which was found with this Q, with the motion
  /// that Q was made for, and makes Q again if they differ.
  /// @param rest_m  displacements below it count as rest [m].  @returns whether Q fits the motion; true for ellipsoids.
  bool update(const Eigen::VectorXd& delta, double rest_m);
  /// Begins a new step: K stays that of the last motion.
  void restart();
  /// Forgets the last motion.
  void forget();
  int body() const { return body_; }        // index in Scene::names_bodies
  int first_v() const { return first_v_; }  // first velocity of the object
  int nv() const { return nv_; }            // its number of velocities, 1 to 3

 private:
  void fill();

  int body_ = -1, first_v_ = 0, nv_ = 0;
  std::array<int, 3> axes_{0, 1, 2};                 // of the plane, and its normal
  Eigen::Matrix3d K_;                                // body frame
  std::unique_ptr<const UniformPressure> pressure_;  // iteration_ points to it
  std::optional<SupportIteration> iteration_;
  const scene::Scene* scene_;
  Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, 3> to_body_;  // R̃ᵀS: displacements → twist in the body's axes
  std::vector<double> jacobian_;
  Form Q_;
};

/// The three axes of a plane of motion: its two letters in order (x y, x z, y z) and its normal. @pre not space.
std::array<int, 3> plane_axes(scene::Plane plane);

}  // namespace deft::dynamics
