#include "deft/collision/curved_distance.hpp"

#include "deft/collision/gjk.hpp"

namespace deft::collision {

Proximity curved_distance(const PosedShape& a, const PosedShape& b, CoalGuess& guess) {
  const GjkResult apart = gjk_distance(a, b);
  if (apart.disjoint && apart.proximity.distance > 1e-6) return apart.proximity;
  const auto n = guess.normal(a, b);
  Proximity p;
  p.n = n ? *n : Vector3d((a.centre_W() - b.centre_W()).normalized());
  p.distance = separation_along(a, b, p.n);
  p.p_B = support_core(b, p.n);
  p.p_A = p.p_B + p.distance * p.n;
  return p;
}

}  // namespace deft::collision
