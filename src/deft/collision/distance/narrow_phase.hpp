#pragma once
// Which function answers for which pair of shapes.

#include "deft/collision/distance/curved_distance.hpp"
#include "deft/collision/distance/polytope_distance.hpp"

namespace deft::collision {

/// Scratch of find_proximity; one per thread.
struct NarrowScratch {
  EndScratch ends;  // of the general methods
};

/// Signed distance with witness points, radii included, n from B to A, whatever the order of the kinds. Polytope cores
/// must have their world vertices. @throws std::invalid_argument for two half-spaces.
Proximity find_proximity(const PosedShape& a, const PosedShape& b, NarrowScratch& scratch);

/// Whether find_proximity(a, b).distance < gap, for gap > 0 [m], without the depth of an overlap.
bool is_nearer(const PosedShape& a, const PosedShape& b, double gap, NarrowScratch& scratch);

}  // namespace deft::collision
