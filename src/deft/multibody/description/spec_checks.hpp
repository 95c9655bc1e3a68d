#pragma once
// Checks of a specification that need one model at a time: names and numbers. How models hang together is
// kinematic_tree's.

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"

namespace deft::multibody {

/// Reports empty, reserved and duplicate names, and numbers that are no numbers or have no physical meaning: negative
/// or non-finite masses and inertias, zero axes, limits in the wrong order, negative damping. An inertia that violates
/// the triangle inequality Ixx + Iyy ≥ Izz (no rigid body has it) is a warning: many published files round that far.
void check_names_and_values(const MultibodySpec& spec, Diagnostics& diagnostics);

}  // namespace deft::multibody
