#pragma once

#include <span>
#include <vector>

#include "deft/collision/collision_world.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/multibody/model.hpp"
#include "deft/scene/description/scene_spec.hpp"

namespace deft::scene {

/// Which geometries may touch, n × n. Left out: same body, welded groups, pairs of immovable bodies, bodies joined by
/// one joint (not when the joint's parent is the world itself), a robot against itself unless `self_collision`, and the
/// scene's filter groups.
std::vector<unsigned char> allowed_pairs(const WorldSpec& spec, const multibody::Model& model,
                                         std::span<const collision::GeometryDescription> geometries,
                                         Diagnostics& diagnostics);

}  // namespace deft::scene
