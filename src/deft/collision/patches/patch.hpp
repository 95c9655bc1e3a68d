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
  Vector3d p_A = Vector3d::Zero(), p_B = Vector3d::Zero(), n = Vector3d::UnitZ();
  double gap = 0;
  double area = 0;       // share of the patch before the factor (1 − gap/margin)
  double steepness = 0;  // of the steeper of its pieces against n: rounding of the place, so often, is in the gap
  int feature_a = 0, feature_b = 0;
};

/// Scratch and result of find_patch; one per thread.
struct PatchScratch {
  std::vector<Piece> pieces_a, pieces_b;
  ClipScratch clip;
  std::vector<ClippedCorner> corners;
  std::vector<PatchPoint> points;
};

/// Largest feature number of an id, used for the witness point itself.
inline constexpr int kWitnessFeature = (1 << 18) - 1;

/// Fills `scratch.points`, ordered by features, for the pair at the signed distance `witness`; all have gap < margin.
/// Pieces of A that look along −n are clipped against pieces of B that look along n, both seen along n; each corner x
/// gets the gap φ(x) = height_A(x) − height_B(x) − r_A − r_B. The witness point is added if no corner is as deep as it.
/// `a`, `b` need their `vertices` and `normals`.
void find_patch(const PosedShape& a, const PosedShape& b, const Proximity& witness, double margin,
                PatchScratch& scratch);

/// The weights of the points, summing to 1:  w_i ∝ area_i (1 − φ_i/margin), with a floor of 1e-6.
void assign_weights(std::vector<PatchPoint>& points, double margin);

}  // namespace deft::collision
