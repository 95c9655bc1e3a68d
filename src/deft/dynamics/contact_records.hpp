#pragma once

#include <span>
#include <vector>

#include "deft/dynamics/step_result.hpp"
#include "deft/dynamics/trajectory.hpp"

namespace deft::dynamics {

/// Appends the contacts of a step, at its end, as a run keeps them (models of contact points; not the patches of
/// equivalent-contact-point).
/// @param X_start, X_end  poses of the bodies where the step starts and ends.   No allocation once `out` has grown.
void record_contacts(const StepResult& result, std::span<const RigidTransform> X_start,
                     std::span<const RigidTransform> X_end, std::vector<ContactRecord>& out);

}  // namespace deft::dynamics
