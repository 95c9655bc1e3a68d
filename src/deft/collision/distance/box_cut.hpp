#pragma once
// The part of a large box that matters to a small shape in it: iterative searches are slow when sizes differ by orders.

#include "deft/collision/shapes/shape.hpp"

namespace deft::collision {

/// Scratch of cut_box: the smaller box and its pose. One per thread.
struct BoxCut {
  BoxCut();          // a cube, to be resized
  Shape shape;       // the smaller box in its own frame
  PosedShape posed;  // that shape at its pose, vertices and normals computed
};

/// A box inside `box` with the same penetration depth and witnesses against `other`, or nullptr when it would not be
/// much smaller. With D ≥ 0 the depth along the best face of `box` and r the bounding radius of `other`, the box is cut
/// at D + 3r around the centre of `other`. A normal turned by α ≤ π/2 from a true face towards a cut then loses at
/// least r(3 sin α − α) > 0, so no cut can be the nearest way out. No allocation.
const PosedShape* cut_box(const PosedShape& box, const PosedShape& other, BoxCut& cut);

}  // namespace deft::collision
