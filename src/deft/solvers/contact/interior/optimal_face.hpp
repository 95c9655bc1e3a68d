#pragma once
// Where Q is singular the motions that cost nothing form a convex set. Which of the optimal ones is shortest, is it
// alone, and is there a direction along which nothing ever stops the fall?

#include <vector>

#include "deft/solvers/contact/interior/inner_solver.hpp"
#include "deft/solvers/contact/interior/kkt_state.hpp"

namespace deft::solvers::contact {

/// What is known about the set of optimal motions.
enum class OptimalSet { kPoint, kLarger, kUnknown };

/// Replaces v by the optimal motion of least ½ vᵀQ̃v. The optimal set is what is complementary to one solution's
/// multipliers λ: Qδ as in `v`, rows with λ > 0 stay closed, cones with λ inside stay at their tip and those with λ on
/// the boundary on the one ray complementary to it, all others stay satisfied. The set is searched per island, in an
/// orthonormal basis of its flat directions, by a strictly convex program of their number of unknowns.
/// @returns whether the set is a point: no other optimal motion farther than 1e-5 away in the metric of Q̃ (units of the
/// scaled motion); kUnknown when rounding or `time_left_s` stops the search. Exact programs. Allocates.
OptimalSet take_shortest(const PackedProgram& program, const std::vector<double>& lambda,
                         const std::vector<double>& slack, std::vector<double>& v, double time_left_s,
                         const InnerSolver& inner);

/// Searches d ≠ 0 with Qd = 0 that no row opposes and along which the energy falls, bᵀd < 0; smoothed: does not rise,
/// bᵀd ≤ 0 (then the barrier falls, or nothing ever stops the motion). It is the projection of −b (smoothed: and of the
/// barrier's pull) on the cone of all directions without cost.
/// @returns whether one was found within `time_left_s`, in `direction` (packed order, |d| = 1 in the metric of Q̃).
/// Allocates.
bool find_recession(const PackedProgram& program, std::vector<double>& direction, double time_left_s,
                    const InnerSolver& inner);

}  // namespace deft::solvers::contact
