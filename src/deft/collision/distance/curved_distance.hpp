#pragma once
// Signed distance of pairs with a cylinder or an ellipsoid that have no formula: a guess, polished to rounding and
// certified.

#include <optional>

#include "deft/collision/distance/end_features.hpp"

namespace deft::collision {

/// Cores only; radii are not added. Apart (GJK's guess): the first candidate with s(n) = d, which proves it. Touching
/// or penetrating (guesses: GJK, expanding polytope, face normals, centres): the candidate of largest s(n).
Proximity curved_distance(const PosedShape& a, const PosedShape& b, EndScratch& scratch);

/// Whether the cores are nearer than `gap` [m] > 0, where GJK's bounds of the distance tell; nothing where they do not.
std::optional<bool> cores_nearer(const PosedShape& a, const PosedShape& b, double gap);

}  // namespace deft::collision
