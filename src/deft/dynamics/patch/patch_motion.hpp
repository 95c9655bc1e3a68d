#pragma once
// What a step of the equivalent-contact-point model makes of velocities: rotations, spins without contacts, contact
// frames.

#include <Eigen/Core>

namespace deft::dynamics {

/// Rotation of a step, q⁺ ∝ (1, hω/2) ∘ q, as a matrix.
Eigen::Matrix3d turn(const Eigen::Vector3d& omega_W, double h);
/// T with δθ = T δω, its world tangent.
Eigen::Matrix3d turn_jacobian(const Eigen::Vector3d& omega_W, double h);
/// Angular velocity at the end of a step without impulses, for inertia I about C at its start (world). The gyroscopic
/// impulse −h ω × Iω of the start where it is small (its gain of energy below 1 % of the energy of rotation; the
/// source's rule); otherwise ω' with I ω' = turn(ω')ᵀ I ω, which keeps the angular momentum and never gains energy:
/// |ω'|²_I = ⟨ω', ω⟩_I. The explicit rule runs away there.
struct Spin {
  Eigen::Vector3d omega = Eigen::Vector3d::Zero();  // ω'
  bool implicit = false;
};
Spin free_spin(const Eigen::Matrix3d& I_W, const Eigen::Vector3d& omega_W, double h);

/// Tangent t of the contact frame: the axis projected on the plane across n; where that vanishes, the next world axis.
/// `axis` becomes the one used.
Eigen::Vector3d patch_tangent(const Eigen::Vector3d& n_W, Eigen::Vector3d& axis);

}  // namespace deft::dynamics
