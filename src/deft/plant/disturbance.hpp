#pragma once
// Disturbances: how the world differs from the one that was planned in, and what sensors and actuators do to signals.

#include <Eigen/Core>
#include <cstdint>
#include <optional>

#include "deft/scene/description/disturbance_spec.hpp"
#include "deft/scene/scene.hpp"

namespace deft::plant {

/// One random draw of the disturbances.
struct Disturbance {
  scene::DisturbanceSpec spec;                                                     // what it was drawn from
  double friction_scale = 1, mass_scale = 1, size_scale = 1, stiffness_scale = 1;  // > 0, factors
  double offset_sign = 1;  // 1, or −1: offsets of the same seed in the opposite directions
  std::uint64_t seed = 0;  // of what is drawn later: directions of offsets, noise, missing poses
};
/// Draws the factors, uniform in 1 ± share; a function of (spec, seed).
Disturbance draw_disturbance(const scene::DisturbanceSpec& spec, std::uint64_t seed);

/// The disturbed scene: friction of all pairs, masses with inertias of objects, shapes of objects (with their places on
/// the body), stiffness of the robots' joints times the factors. Bases of robots that float are no objects here.
scene::SceneSpec disturbed(const scene::Scene& scene, const Disturbance& disturbance);
/// The start of a disturbed run. Every object that is not frozen (and no robot's base) is moved by offset_m in a
/// direction drawn from those it can move in, across gravity where gravity acts on it, and a free or planar one turned
/// by offset_rad about a drawn axis, about gravity's where that acts on it. Moved or scaled objects may stand inside
/// fingers or supports, which a world of second order would answer with a kick: the exact quasidynamic step then holds
/// the joints' targets at q until nothing moves, at most kSettlingSteps steps of h, so that fingers are pushed back
/// against their springs.
/// @param scene  the disturbed world. @param q  size nq. @returns size nq; nothing if such a step fails, as where an
/// enlarged object does not fit.
std::optional<Eigen::VectorXd> disturbed_start(const scene::Scene& scene, const Eigen::VectorXd& q,
                                               const Disturbance& disturbance);
/// q with every object moved by offset_m and offset_rad, as disturbed_start begins; no step is taken.
Eigen::VectorXd moved_start(const scene::Scene& scene, const Eigen::VectorXd& q, const Disturbance& disturbance);
inline constexpr int kSettlingSteps = 50;  // most steps of disturbed_start

}  // namespace deft::plant
