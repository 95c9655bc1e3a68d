#pragma once
// What goes wrong: how the world differs from the one that was planned in, and what sensors and actuators do to
// signals.

#include <Eigen/Core>
#include <cstdint>
#include <optional>

#include "deft/scene/description/disturbance_spec.hpp"
#include "deft/scene/scene.hpp"

namespace deft::control {

/// One drawing of it.
struct Disturbance {
  scene::DisturbanceSpec spec;
  double friction_scale = 1, mass_scale = 1, size_scale = 1;
  std::uint64_t seed = 0;
};
/// Scales uniform in 1 ± share; a function of (spec, seed).
Disturbance draw_disturbance(const scene::DisturbanceSpec& spec, std::uint64_t seed);

/// The scene as it turns out to be: friction of all pairs, masses with inertias of objects, shapes of objects (with
/// their places on the body) times the scales.
scene::SceneSpec disturbed(const scene::Scene& scene, const Disturbance& disturbance);
/// The start of a disturbed run. Every object that is not frozen is moved by offset_m in a direction drawn from those
/// it can move in, across gravity where gravity acts on it. Moved or scaled objects may stand inside fingers or
/// supports, which a world of second order would answer with a kick: the exact quasidynamic step then holds the joints'
/// targets at q until nothing moves, at most kSettlingSteps steps of h, so that fingers give way as far as their
/// springs do.
/// @param scene  the disturbed world.  @returns nothing if such a step fails, as where what has grown does not fit.
std::optional<Eigen::VectorXd> disturbed_start(const scene::Scene& scene, const Eigen::VectorXd& q,
                                               const Disturbance& disturbance);
/// Only the first part of it.
Eigen::VectorXd moved_start(const scene::Scene& scene, const Eigen::VectorXd& q, const Disturbance& disturbance);
inline constexpr int kSettlingSteps = 50;

}  // namespace deft::control
