#include "deft/collision/distance/narrow_phase.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "deft/collision/distance/closed_forms.hpp"

namespace deft::collision {
namespace {

using PairFunction = Proximity (*)(const PosedShape& a, const PosedShape& b, NarrowScratch& scratch);

template <Proximity (*formula)(const PosedShape&, const PosedShape&)>
Proximity closed(const PosedShape& a, const PosedShape& b, NarrowScratch&) {
  return formula(a, b);
}

Proximity polytopes(const PosedShape& a, const PosedShape& b, NarrowScratch& scratch) {
  Proximity p = polytope_distance(a, b, scratch.ends);
  add_radii(a, b, p);
  return p;
}

Proximity curved(const PosedShape& a, const PosedShape& b, NarrowScratch& scratch) {
  Proximity p = curved_distance(a, b, scratch.ends);
  add_radii(a, b, p);
  return p;
}

Proximity half_spaces(const PosedShape&, const PosedShape&, NarrowScratch&) {
  throw std::invalid_argument("two half-spaces have no distance");
}

constexpr PairFunction kPlane = &closed<any_half_space>;

/// Rows: kind of A; columns: kind of B ≥ kind of A.
constexpr PairFunction kTable[kKinds][kKinds] = {
    //  sphere                 capsule                   box                   hull       cylinder ellipsoid half-space
    {&closed<sphere_sphere>, &closed<sphere_capsule>, &closed<sphere_box>, &polytopes, &closed<sphere_cylinder>,
     &closed<sphere_ellipsoid>, kPlane},
    {nullptr, &closed<capsule_capsule>, &polytopes, &polytopes, &curved, &curved, kPlane},
    {nullptr, nullptr, &polytopes, &polytopes, &curved, &curved, kPlane},
    {nullptr, nullptr, nullptr, &polytopes, &curved, &curved, kPlane},
    {nullptr, nullptr, nullptr, nullptr, &curved, &curved, kPlane},
    {nullptr, nullptr, nullptr, nullptr, nullptr, &curved, kPlane},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &half_spaces},
};

}  // namespace

Proximity find_proximity(const PosedShape& a, const PosedShape& b, NarrowScratch& scratch) {
  const int i = static_cast<int>(a.shape->kind), j = static_cast<int>(b.shape->kind);
  if (i <= j) return kTable[i][j](a, b, scratch);
  Proximity p = kTable[j][i](b, a, scratch);
  std::swap(p.p_A, p.p_B);
  p.n = -p.n;
  return p;
}

bool is_nearer(const PosedShape& a, const PosedShape& b, double gap, NarrowScratch& scratch) {
  const auto [i, j] = std::minmax({static_cast<int>(a.shape->kind), static_cast<int>(b.shape->kind)});
  if (kTable[i][j] == &curved) {
    if (const std::optional<bool> known = cores_nearer(a, b, gap + a.shape->radius + b.shape->radius)) return *known;
  }
  return find_proximity(a, b, scratch).distance < gap;
}

}  // namespace deft::collision
