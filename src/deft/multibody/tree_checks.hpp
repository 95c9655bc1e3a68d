#pragma once
// Checks of the finished tree: does it hang on the world, and does what moves freely have inertia?

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/kinematic_tree.hpp"

namespace deft::multibody {

/// Reports loops of joints: groups that carry each other and so are not reached from the world; each loop once, at the
/// last of its joints. Gaps that earlier errors left in the tree are passed over.
void check_for_loops(const KinematicTree& tree, Diagnostics& diagnostics);

/// Reports free groups without mass > 0 or without a positive definite inertia. A joint that moves only massless links
/// is accepted: a step model may hold it by its stiffness.
void check_free_inertias(const KinematicTree& tree, Diagnostics& diagnostics);

}  // namespace deft::multibody
