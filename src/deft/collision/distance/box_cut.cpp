#include "deft/collision/distance/box_cut.hpp"

#include <algorithm>

namespace deft::collision {
namespace {

constexpr double kMuchSmaller = 0.25;  // of the longest side: cutting less gains nothing

}  // namespace

BoxCut::BoxCut() {
  shape.kind = Kind::kBox;
  shape.core = make_box_polytope(Vector3d::Ones());
  posed.shape = &shape;
}

const PosedShape* cut_box(const PosedShape& box, const PosedShape& other, BoxCut& cut) {
  const Vector3d& half = box.shape->half;
  const double r = other.shape->bounding_radius;
  const Vector3d c = box.R_WG.transpose() * (other.centre_W() - box.p_WG);

  // Depth along the best face: how far the other core reaches behind it.
  double depth = INFINITY;
  for (int f = 0; f < 6; ++f) {
    const double sign = f % 2 ? 1.0 : -1.0;
    const Vector3d n = sign * box.R_WG.col(f / 2);
    const double lowest = n.dot(support_core(other, -n) - box.p_WG);
    depth = std::min(depth, half(f / 2) - lowest);
  }
  const double cut_distance = std::max(depth, 0.0) + 3 * r;
  const Vector3d low = (-half).cwiseMax(c - Vector3d::Constant(cut_distance)),
                 high = half.cwiseMin(c + Vector3d::Constant(cut_distance));
  if ((high - low).minCoeff() <= 0 || (high - low).maxCoeff() > kMuchSmaller * 2 * half.maxCoeff()) return nullptr;

  Shape& shape = cut.shape;
  shape.half = 0.5 * (high - low);
  for (int i = 0; i < 8; ++i)
    shape.core.vertices[i] = shape.half.cwiseProduct(Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
  for (int f = 0; f < 6; ++f) shape.core.faces[f].offset = shape.half(f / 2);
  shape.box_half = shape.half;
  shape.bounding_radius = shape.half.norm();
  cut.posed.shape = &shape;  // the scratch may have been moved
  cut.posed.R_WG = box.R_WG;
  cut.posed.p_WG = box.p_WG + box.R_WG * (0.5 * (low + high));
  cut.posed.transform_core();
  return &cut.posed;
}

}  // namespace deft::collision
