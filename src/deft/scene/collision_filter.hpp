#pragma once

#include <span>
#include <vector>

#include "deft/collision/collision_world.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/multibody/model.hpp"
#include "deft/scene/description/scene_spec.hpp"

namespace deft::scene {

/// Which geometries may touch, n × n. Left out: same body, welded groups, pairs of immovable bodies, bodies joined by
/// one joint (not when the joint's parent is the world itself, nor in MJCF when it is fixed to the world), a robot
/// against itself unless `self_collision`, the scene's filter groups, and what the model files say: pairs that they
/// exclude, and geometries of which neither has a contact type among the affinities of the other. Pairs of geometries
/// that a file names touch in spite of all that.
std::vector<unsigned char> allowed_pairs(const WorldSpec& spec, const multibody::Model& model,
                                         std::span<const collision::GeometryDescription> geometries,
                                         Diagnostics& diagnostics);

}  // namespace deft::scene
