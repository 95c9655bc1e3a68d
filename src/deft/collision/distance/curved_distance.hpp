#pragma once
// Signed distance of pairs with a cylinder or an ellipsoid that have no formula: a guess, polished to rounding and
// certified.

#include "deft/collision/distance/end_features.hpp"

namespace deft::collision {

/// Cores only; radii are not added. Apart (GJK's guess): the first candidate with s(n) = d, which proves it. Touching
/// or penetrating (guesses: GJK, expanding polytope, face normals, centres): the candidate of largest s(n).
Proximity curved_distance(const PosedShape& a, const PosedShape& b, EndScratch& scratch);

}  // namespace deft::collision
