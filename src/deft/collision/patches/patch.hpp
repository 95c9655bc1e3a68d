#pragma once
// The contact points of one pair: every corner of the clipped flat features, each with its own gap.

#include <vector>

#include "deft/collision/distance/clip.hpp"
#include "deft/collision/patches/contact_pair.hpp"
#include "deft/collision/shapes/shape.hpp"

namespace deft::collision {

/// One contact point of a pair: witness points [m, world], unit normal from B to A, its own gap [m], the features that
/// made it.
struct PatchPoint {
  Vector3d p_A = Vector3d::Zero(), p_B = Vector3d::Zero();  // world [m], p_A − p_B = gap · n
  Vector3d n = Vector3d::UnitZ();                           // unit, from B to A
  double gap = 0;                                           // [m]
  double area = 0;       // share of the patch [m²]; after assign_weights its weight [-]
  double steepness = 0;  // slope of the steeper of its pieces: the factor by which rounding of the place enters the gap
  int feature_a = 0, feature_b = 0;  // numbers as in clip.hpp and pieces.hpp, or kWitnessFeature
};

/// Scratch and result of find_patch; one per thread.
struct PatchScratch {
  std::vector<Piece> pieces_a, pieces_b;  // flat features of A and B
  ClipScratch clip;                       // of one pair of them
  std::vector<ClippedCorner> corners;     // of their intersection
  std::vector<PatchPoint> points;         // the result
};

/// Largest feature number of an id, used for the witness point itself.
inline constexpr int kWitnessFeature = (1 << 18) - 1;

/// Fills `scratch.points`, ordered by features, for the pair at the signed distance `witness`; all have gap < margin.
/// Pieces of A that face along −n are clipped against pieces of B that face along n, both seen along n; each corner x
/// gets the gap φ(x) = height_A(x) − height_B(x) − r_A − r_B. The witness point is added if no corner is as deep as it.
/// `a`, `b` need their `vertices` and `normals`.
void find_patch(const PosedShape& a, const PosedShape& b, const Proximity& witness, double margin,
                PatchScratch& scratch);

/// Replaces the areas by weights that sum to 1:  w_i ∝ (area_i/Σ area + 1e-6/count) (1 − φ_i/margin); with an infinite
/// margin without the last factor.
void assign_weights(std::vector<PatchPoint>& points, double margin);

}  // namespace deft::collision
