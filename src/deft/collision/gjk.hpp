#pragma once
// Distance of two disjoint convex cores by the Gilbert–Johnson–Keerthi algorithm, always started from the same guess.

#include "deft/collision/shape.hpp"

namespace deft::collision {

struct GjkResult {
  bool disjoint = false;  // false: the cores touch or overlap (to rounding), the rest is not set
  Proximity proximity;    // of the cores, radii not included
};

/// Minimises ‖x − y‖ over x ∈ core(A), y ∈ core(B). Stops when ‖v‖ − s(v/‖v‖) ≤ 1e-15 scale, or without progress
/// (curved cores leave an error of 1e-8 in n, which the feature polish removes). No allocation. Source: Gilbert,
/// Johnson, Keerthi 1988; closest points on simplices as in Ericson, Real-Time Collision Detection, ch. 5.
GjkResult gjk_distance(const PosedShape& a, const PosedShape& b);

}  // namespace deft::collision
