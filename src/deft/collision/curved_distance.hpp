#pragma once
// Signed distance of pairs with a cylinder or an ellipsoid that have no formula.

#include "deft/collision/coal_guess.hpp"
#include "deft/collision/shape.hpp"

namespace deft::collision {

/// Cores only; radii are not added.
Proximity curved_distance(const PosedShape& a, const PosedShape& b, CoalGuess& guess);

}  // namespace deft::collision
