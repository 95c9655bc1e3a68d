#pragma once
// Models whose concave meshes ask for it get convex parts in their place.

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"

namespace deft::collision {

/// Puts the parts of every collision mesh that states `decompose` in its place: geometries NAME_0, NAME_1, … with its
/// pose, friction and colour. What was there is drawn, if the link had nothing to be drawn. Problems go to
/// `diagnostics` with the place of the geometry.
void split_meshes(multibody::ModelSpec& model, Diagnostics& diagnostics);

}  // namespace deft::collision
