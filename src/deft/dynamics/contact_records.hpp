#pragma once

#include <span>
#include <vector>

#include "deft/dynamics/step_result.hpp"
#include "deft/dynamics/trajectory.hpp"
#include "deft/math/rotation.hpp"

namespace deft::dynamics {

/// Appends the contacts of a step, at its end, as a run stores them (models of contact points; not the patches of
/// equivalent-contact-point). No allocation once `out` has grown.
/// @param X_start, X_end  poses of the bodies (X_WB, 0 = world) where the step starts and ends.
void record_contacts(const StepResult& result, std::span<const RigidTransform> X_start,
                     std::span<const RigidTransform> X_end, std::vector<ContactRecord>& out);

}  // namespace deft::dynamics
