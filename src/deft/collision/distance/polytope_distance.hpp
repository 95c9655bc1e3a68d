#pragma once
// Signed distance of two polytope cores (points, segments, boxes, hulls): exact to rounding, apart and penetrating.

#include "deft/collision/distance/end_features.hpp"
#include "deft/collision/shapes/shape.hpp"

namespace deft::collision {

/// Below this distance [m] cores count as touching: the normal is that of the best separating axis.
inline constexpr double kTouching = 1e-10;

/// Cores with `vertices` and `normals` filled; radii are not added.
/// Apart: the distance normal, snapped to the face or edge pair that realises it, so that rounding does not tilt it.
/// Touching or penetrating: max over face normals and edge pairs of s(n) (separating axes); faces take precedence over
/// edge pairs, A's faces over B's, when within 1e-10 m, so that parallel faces do not flicker.
Proximity polytope_distance(const PosedShape& a, const PosedShape& b, EndScratch& scratch);

}  // namespace deft::collision
