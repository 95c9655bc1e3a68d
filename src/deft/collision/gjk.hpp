#pragma once
// Distance of two disjoint convex cores by the Gilbert–Johnson–Keerthi algorithm, always started from the same guess.

#include <array>
#include <optional>

#include "deft/collision/shape.hpp"

namespace deft::collision {

struct GjkResult {
  bool disjoint = false;  // false: the cores touch or overlap (to rounding)
  Proximity proximity;    // if disjoint: of the cores, radii not included
  int corners = 0;        // otherwise: of a simplex of the difference A − B that holds the origin
  std::array<Vector3d, 4> simplex;
};

/// Minimises ‖x − y‖ over x ∈ core(A), y ∈ core(B). Stops when ‖v‖ − s(v/‖v‖) ≤ max(1e-15 scale, relative_tolerance
/// ‖v‖), which leaves n wrong by up to √(2 relative_tolerance) rad, or without progress. Curved cores converge
/// linearly: ask for little and polish. No allocation. Source: Gilbert, Johnson, Keerthi 1988; closest points on
/// simplices as in Ericson, Real-Time Collision Detection, ch. 5.
GjkResult gjk_distance(const PosedShape& a, const PosedShape& b, double relative_tolerance = 0);

/// The normal (from B to A) of least penetration of overlapping cores, to about 1e-2 rad: a start for the polish.
/// Grows a polytope inside the difference A − B from GJK's tetrahedron; nothing if that is degenerate. No allocation.
/// Source: van den Bergen 2001 (expanding polytope algorithm), with a fixed number of faces.
std::optional<Vector3d> guess_penetration_normal(const PosedShape& a, const PosedShape& b, const GjkResult& gjk);

}  // namespace deft::collision
