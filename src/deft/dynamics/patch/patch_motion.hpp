#pragma once
// Kinematics of a step of the equivalent-contact-point model: rotations, spins without contacts, contact frames.

#include <Eigen/Core>

namespace deft::dynamics {

/// Rotation of a step of length h [s], q⁺ ∝ (1, hω/2) ∘ q, as a matrix.
Eigen::Matrix3d turn(const Eigen::Vector3d& omega_W, double h);
/// T with δθ = T δω, the derivative of that rotation in its world tangent [s].
Eigen::Matrix3d turn_jacobian(const Eigen::Vector3d& omega_W, double h);
/// Angular velocity at the end of a step without impulses.
struct Spin {
  Eigen::Vector3d omega = Eigen::Vector3d::Zero();  // ω' [rad/s]
  bool implicit = false;                            // by the second rule of free_spin
};
/// The free spin over a step of length h for inertia I about C at its start (world axes). The gyroscopic impulse
/// −h ω × Iω of the start where it is small (its gain of energy below 1 % of the energy of rotation; the source's
/// rule); otherwise ω' with I ω' = turn(ω')ᵀ I ω, which keeps the angular momentum and never gains energy, |ω'|²_I =
/// ⟨ω', ω⟩_I, where the energy of the explicit rule grows without bound.
Spin free_spin(const Eigen::Matrix3d& I_W, const Eigen::Vector3d& omega_W, double h);

/// Tangent t of the contact frame, unit: the axis projected on the plane across n; where that vanishes, the next world
/// axis instead. `axis` becomes the one used.
Eigen::Vector3d patch_tangent(const Eigen::Vector3d& n_W, Eigen::Vector3d& axis);

}  // namespace deft::dynamics
