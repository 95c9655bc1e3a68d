#pragma once
// Goals that no plan can reach, found before any search, each with what proves it.

#include <string>
#include <vector>

#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/plan.hpp"
#include "deft/scene/scene.hpp"

namespace deft::planning {

/// The word of reasons that are proofs.
inline constexpr const char* kImpossibleReason = "impossible";

/// Why the goal cannot be reached, one reason per proof; none: it may be reachable, or not. No step is solved. All
/// bounds are on the safe side: of every pose within the tolerances, every configuration of the robots within their
/// limits.
///
/// - limit: the goal asks a joint of an object to stand beyond its limit, by more than its tolerance.
/// - penetration: where the goal wants it an object reaches into something that cannot move, deeper than the tolerances
///   can undo:  depth > τ_p + τ_r ρ + ρ (1 − cos 2τ_r) + slack, ρ the distance of its points from the body's origin.
///   The third term is what a step that turns the object may leave, as its contacts are linearised: two steps in a row
///   end within the tolerances (`plan.hold_steps` > 0), and a deeper one would be pushed out by the second.
/// - reach: no link can touch the object where it starts, or where it has to go. Without gravity an object moves only
///   while it is touched; under gravity one that lies on level ground stays near where it was touched last. A
///   linearised step may touch from farther off: 0.1 of the turning arm's length (0.45 rad in a step), and the object's
///   own size.
/// - weight: at the goal the object touches nothing that is fixed, and links cannot reach it there, or bear less than
///   its weight; untouched it falls by h²g in a step, further than the tolerance lets it while the goal must be held.
///
/// Reach and weight are proven only where one object moves, and the last two only for a free body; scenes with
/// compliance, wrenches or dampers are left alone where these would change the argument.
/// @param scene  of planning_scene. @param name  of the goal, for the line of the scene that would change it.
std::vector<Reason> prove_impossible(const scene::Scene& scene, const Goal& goal, const std::string& name);

}  // namespace deft::planning
