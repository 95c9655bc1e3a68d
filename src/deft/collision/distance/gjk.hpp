#pragma once
// Distance of two disjoint convex cores by the Gilbert–Johnson–Keerthi algorithm, always started from the same guess.

#include <array>
#include <optional>

#include "deft/collision/shapes/shape.hpp"

namespace deft::collision {

/// Answer of gjk_distance.
struct GjkResult {
  bool disjoint = false;            // false: the cores touch or overlap (to rounding)
  Proximity proximity;              // if disjoint: of the cores, radii not included
  int corners = 0;                  // otherwise: of a simplex of the difference A − B that contains the origin
  std::array<Vector3d, 4> simplex;  // these corners, differences of points of the cores [m]
};

/// Minimises ‖x − y‖ over x ∈ core(A), y ∈ core(B). Stops when ‖v‖ − s(v/‖v‖) ≤ max(1e-15 scale, relative_tolerance
/// ‖v‖), which leaves n wrong by up to √(2 relative_tolerance) rad, or without progress. Curved cores converge
/// linearly: give a coarse tolerance and polish the answer. No allocation. Source: Gilbert, Johnson, Keerthi 1988;
/// closest points on simplices as in Ericson, Real-Time Collision Detection, ch. 5.
GjkResult gjk_distance(const PosedShape& a, const PosedShape& b, double relative_tolerance = 0);

/// A start for the polish of overlapping cores.
struct PenetrationGuess {
  Vector3d n = Vector3d::UnitZ();  // from B to A
  double upper_bound = 0;          // of the signed distance
  bool is_global = false;          // s(n) is within 1e-4 of the sizes of the upper bound, 1e-5 as a rule
};

/// The normal of least penetration, roughly: grows a polytope inside the difference A − B from GJK's simplex, until
/// its nearest face is on the surface, the fixed number of corners is used up or rounding tears the outline of what a
/// corner sees (rare). Nothing if the difference is flat. No allocation. Source: van den Bergen 2001 (expanding
/// polytope algorithm), with a fixed number of corners.
std::optional<PenetrationGuess> guess_penetration(const PosedShape& a, const PosedShape& b, const GjkResult& gjk);

}  // namespace deft::collision
