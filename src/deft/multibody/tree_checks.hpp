#pragma once
// Checks of the finished tree: does it hang on the world, and does what moves freely have inertia?

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/kinematic_tree.hpp"

namespace deft::multibody {

/// Every group must be reached from the world by walking down its joints; those that are not carry each other in a
/// loop, reported at the last joint of it. Gaps that earlier errors left in the tree are passed over.
void check_for_loops(const KinematicTree& tree, Diagnostics& diagnostics);

/// A free group must have mass > 0 and a positive definite inertia. A joint that moves only massless links is left to
/// those who know whether its stiffness holds it.
void check_free_inertias(const KinematicTree& tree, Diagnostics& diagnostics);

}  // namespace deft::multibody
