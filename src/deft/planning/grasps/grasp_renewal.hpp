#pragma once
// A grasp of a plan, taken again after the objects have moved.

#include <optional>
#include <vector>

#include "deft/planning/feasibility/plan.hpp"
#include "deft/planning/grasps/contact_sampler.hpp"

namespace deft::planning {

/// Which commands change in a transit of a plan, size nu.
std::vector<char> moved_commands(const Plan& plan, const Segment& transit);

/// What still moves to the grasp once its fingers have let go in q: not what moves links on which the objects lie there
/// and the grasp leaves where they are, within 0.005 rad or m.
std::vector<char> moves_once_released(const scene::Scene& scene, const Hand& hand, const Grasp& grasp,
                                      const Eigen::VectorXd& q, Proximity& proximity);

/// The grasp with its joints moved as little as that takes, until what it moves touches the objects at the standoff
/// again: gaps of links that are near go to settings.standoff_m and nothing is nearer, by damped Gauss–Newton steps
/// δ = (JᵀJ + λ I)⁻¹ Jᵀ (standoff − gaps).
/// @param grasp  joints that all but touched the objects where they lay then. @param q  where they lie now, size nq.
/// @returns none if that does not converge, or if nothing is near any more. Throws nothing; allocates.
std::optional<Grasp> renew_grasp(const scene::Scene& scene, const Hand& hand, const Grasp& grasp,
                                 const Eigen::VectorXd& q, Proximity& proximity);

}  // namespace deft::planning
