#include "deft/collision/distance/gjk.hpp"

#include <algorithm>
#include <cmath>

namespace deft::collision {
namespace {

struct Corner {
  Vector3d w, a, b;  // w = a − b
};

/// Up to four corners of the difference A − B with the barycentric weights of its point nearest to the origin.
struct Simplex {
  std::array<Corner, 4> corner;
  std::array<double, 4> weight{};
  int size = 0;

  void keep(std::initializer_list<int> indices, std::initializer_list<double> weights) {
    std::array<Corner, 4> kept;
    int n = 0;
    for (const int i : indices) kept[n++] = corner[i];
    std::copy(kept.begin(), kept.begin() + n, corner.begin());
    std::copy(weights.begin(), weights.end(), weight.begin());
    size = n;
  }
  Vector3d nearest() const {
    Vector3d v = Vector3d::Zero();
    for (int i = 0; i < size; ++i) v += weight[i] * corner[i].w;
    return v;
  }
};

void reduce_segment(Simplex& s) {
  const Vector3d& a = s.corner[0].w;
  const Vector3d ab = s.corner[1].w - a;
  const double length2 = ab.squaredNorm();
  const double t = length2 > 0 ? -a.dot(ab) / length2 : 0.0;
  if (t <= 0) return s.keep({0}, {1.0});
  if (t >= 1) return s.keep({1}, {1.0});
  s.weight = {1 - t, t};
}

/// Barycentric coordinates of the origin's projection onto the plane of a triangle; zeros if its corners are in line.
/// By Gram and Schmidt's method from its shortest edge: products of areas would lose all digits of a needle.
std::array<double, 3> project_origin(const Simplex& s) {
  int p = 0, q = 1, r = 2;
  double shortest = INFINITY;
  for (int k = 0; k < 3; ++k) {
    const double length2 = (s.corner[(k + 1) % 3].w - s.corner[k].w).squaredNorm();
    if (length2 < shortest) shortest = length2, p = k, q = (k + 1) % 3, r = (k + 2) % 3;
  }
  const Vector3d &origin = s.corner[p].w, e = s.corner[q].w - origin, f = s.corner[r].w - origin;
  const double along = e.dot(f) / e.squaredNorm();
  const Vector3d across = f - along * e;
  std::array<double, 3> weight{};
  if (!(across.squaredNorm() > 0)) return weight;
  weight[r] = -across.dot(origin) / across.squaredNorm();
  weight[q] = -e.dot(origin) / e.squaredNorm() - weight[r] * along;
  weight[p] = 1 - weight[q] - weight[r];
  return weight;
}

void reduce_triangle(Simplex& s) {
  const Vector3d &a = s.corner[0].w, &b = s.corner[1].w, &c = s.corner[2].w;
  const auto [va, vb, vc] = project_origin(s);
  const Vector3d ab = b - a, ac = c - a;
  const double d1 = -ab.dot(a), d2 = -ac.dot(a);
  if (d1 <= 0 && d2 <= 0) return s.keep({0}, {1.0});
  const double d3 = -ab.dot(b), d4 = -ac.dot(b);
  if (d3 >= 0 && d4 <= d3) return s.keep({1}, {1.0});
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return s.keep({0, 1}, {1 - d1 / (d1 - d3), d1 / (d1 - d3)});
  const double d5 = -ab.dot(c), d6 = -ac.dot(c);
  if (d6 >= 0 && d5 <= d6) return s.keep({2}, {1.0});
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return s.keep({0, 2}, {1 - d2 / (d2 - d6), d2 / (d2 - d6)});
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return s.keep({1, 2}, {1 - t, t});
  }
  if (va + vb + vc < 0.5) return s.keep({0}, {1.0});  // in line, and rounding left the origin beside every edge
  s.weight = {va, vb, vc};
}

/// @returns true when the origin is inside the tetrahedron.
bool reduce_tetrahedron(Simplex& s) {
  constexpr int kFaces[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
  Simplex best;
  double best_norm2 = INFINITY;
  bool inside = true;
  for (const auto& face : kFaces) {
    const Vector3d &a = s.corner[face[0]].w, &b = s.corner[face[1]].w, &c = s.corner[face[2]].w,
                   &d = s.corner[face[3]].w;
    const Vector3d normal = (b - a).cross(c - a);
    const double side_of_origin = -normal.dot(a), side_of_fourth = normal.dot(d - a);
    // A flat tetrahedron counts as "outside of every face": the nearest of its triangles is taken.
    if (side_of_origin * side_of_fourth > 0) continue;
    inside = false;
    Simplex candidate = s;
    candidate.keep({face[0], face[1], face[2]}, {0, 0, 0});
    reduce_triangle(candidate);
    const double norm2 = candidate.nearest().squaredNorm();
    if (norm2 < best_norm2) best_norm2 = norm2, best = candidate;
  }
  if (!inside) s = best;
  return inside;
}

}  // namespace

GjkResult gjk_distance(const PosedShape& a, const PosedShape& b, double relative_tolerance) {
  constexpr int kMaxIterations = 128;
  const double scale = a.shape->bounding_radius + b.shape->bounding_radius + (a.p_WG - b.p_WG).norm();
  const double touching = 1e-15 * scale;
  GjkResult result;
  Simplex simplex, best;
  double best_norm = INFINITY;
  Vector3d v = a.centre_W() - b.centre_W();
  if (v.squaredNorm() == 0) v = Vector3d::UnitX();
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    Corner corner;
    corner.a = support_core(a, -v);
    corner.b = support_core(b, v);
    corner.w = corner.a - corner.b;
    if (iteration > 0) {
      // ‖v‖ is an upper, v·w/‖v‖ a lower bound of the distance.
      const double norm = v.norm();
      if (norm - v.dot(corner.w) / norm <= std::max(touching, relative_tolerance * norm)) break;
      const bool is_known = std::any_of(simplex.corner.begin(), simplex.corner.begin() + simplex.size,
                                        [&](const Corner& c) { return c.w == corner.w; });
      if (is_known) break;
    }
    simplex.corner[simplex.size++] = corner;
    if (simplex.size == 1) simplex.weight = {1.0};
    if (simplex.size == 2) reduce_segment(simplex);
    if (simplex.size == 3) reduce_triangle(simplex);
    const bool is_inside = simplex.size == 4 && reduce_tetrahedron(simplex);
    v = simplex.nearest();
    const double norm = v.norm();
    if (is_inside || norm <= touching) {
      for (int k = 0; k < simplex.size; ++k) result.simplex[result.corners++] = simplex.corner[k].w;
      return result;
    }
    if (!(norm < best_norm)) break;  // rounding: no more progress
    best_norm = norm;
    best = simplex;
  }
  result.disjoint = true;
  Proximity& p = result.proximity;
  p.p_A = p.p_B = Vector3d::Zero();
  for (int i = 0; i < best.size; ++i) {
    p.p_A += best.weight[i] * best.corner[i].a;
    p.p_B += best.weight[i] * best.corner[i].b;
  }
  p.n = best.nearest() / best_norm;
  p.distance = best_norm;
  return result;
}

}  // namespace deft::collision
