#pragma once
// What of a core is at its end along a normal, and where the ends of two cores meet.

#include "deft/collision/distance/box_cut.hpp"
#include "deft/collision/distance/clip.hpp"

namespace deft::collision {

/// Scratch of this file's functions; one per thread.
struct EndScratch {
  Piece a, b;                          // the end features of A and B
  ClipScratch clip;                    // of their intersection
  std::vector<ClippedCorner> corners;  // of their intersection
  std::vector<double> azimuths;        // of rim points
  BoxCut cut;                          // of the box in a pair of very different sizes
};

/// Sets `piece` to the feature of the core within `slab` [m] of its end along frame.n: the lowest for A, the highest
/// for B. Faces take precedence over edges, edges over vertices; curved cores give caps, side lines or points. @returns
/// its face number, or −1.
int set_end_piece(const PosedShape& posed, bool lowest_end, double slab, const TangentFrame& frame, Piece& piece);

/// The middle of the common part of both end features, seen along frame.n. @returns false if they do not meet.
bool find_common_point(const PosedShape& a, const PosedShape& b, const TangentFrame& frame, double slab,
                       EndScratch& scratch, Vector2d& x);

/// Witness points for the normal n with s(n) = s: the common point of the thinnest slab that has one.
Proximity proximity_along(const PosedShape& a, const PosedShape& b, const Vector3d& n, double s, EndScratch& scratch);

}  // namespace deft::collision
