#pragma once

#include <span>
#include <vector>

#include "deft/dynamics/step_result.hpp"
#include "deft/dynamics/trajectory.hpp"
#include "deft/math/rotation.hpp"

namespace deft::dynamics {

/// What a contact does to its body A, about the middle of its witness points.
struct ContactForce {
  Eigen::Vector3d force_W, torque_W;  // f [N] and τ [N·m]
};
/// Force of contact i of a step of contact points: f = f_n n + f_t1 t₁ + f_t2 t₂ and
/// τ = f_spin n + (p_F − p) × (f_t1 t₁ + f_t2 t₂), where friction acts at p_F and p is the middle of the witness points
/// (another point where `step.friction_arm` is not 1), all at the start of the step.
ContactForce contact_force(const StepResult& result, std::size_t i);

/// Appends the contacts of a step, at its end, as a run stores them (models of contact points; not the patches of
/// equivalent-contact-point). No allocation once `out` has grown.
/// @param X_start, X_end  poses of the bodies (X_WB, 0 = world) where the step starts and ends.
void record_contacts(const StepResult& result, std::span<const RigidTransform> X_start,
                     std::span<const RigidTransform> X_end, std::vector<ContactRecord>& out);

}  // namespace deft::dynamics
