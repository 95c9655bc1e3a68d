#include "deft/collision/distance/polytope_distance.hpp"

#include <algorithm>
#include <cmath>

#include "deft/collision/distance/gjk.hpp"

namespace deft::collision {
namespace {

constexpr double kEqualAxes = 1e-10;  // [m] axes this close in s(n) count as equal

struct Axis {
  double s = -INFINITY;
  Vector3d n = Vector3d::UnitZ();
  void offer(double candidate_s, const Vector3d& candidate_n, double margin = 0) {
    if (candidate_s > s + margin) s = candidate_s, n = candidate_n;
  }
};

double lowest(const std::vector<Vector3d>& vertices, const Vector3d& n) {
  double h = n.dot(vertices[0]);
  for (std::size_t i = 1; i < vertices.size(); ++i) h = std::min(h, n.dot(vertices[i]));
  return h;
}

bool is_centred(const PosedShape& s) { return s.shape->kind == Kind::kBox || s.shape->kind == Kind::kCapsule; }

/// Boxes and segments are symmetric about their origin: one axis per pair of directions.
double half_width(const PosedShape& s, const Vector3d& n) {
  return (s.R_WG.transpose() * n).cwiseAbs().dot(s.shape->half);
}

void offer_edges_of_centred(const PosedShape& a, const PosedShape& b, Axis& best) {
  const Vector3d offset = a.p_WG - b.p_WG;
  const auto directions = [](const PosedShape& s) { return s.shape->kind == Kind::kBox ? 0 : 2; };
  for (int i = directions(a); i < 3; ++i) {
    for (int j = directions(b); j < 3; ++j) {
      Vector3d n = a.R_WG.col(i).cross(b.R_WG.col(j));
      const double length = n.norm();
      if (length < 1e-8) continue;
      n /= length;
      const double along = n.dot(offset);
      best.offer(std::abs(along) - half_width(a, n) - half_width(b, n), std::copysign(1.0, along) * n, kEqualAxes);
    }
  }
}

/// Edge pairs that make a face of the difference A − B: the arcs of their normals on the Gauss maps of A and −B cross.
void offer_edges(const PosedShape& a, const PosedShape& b, Axis& best) {
  const auto &edges_a = a.shape->core.edges, &edges_b = b.shape->core.edges;
  for (const auto& ea : edges_a) {
    const Vector3d da = a.vertices[ea.to] - a.vertices[ea.from];
    const double length_a = da.norm();
    for (const auto& eb : edges_b) {
      // Arc of A from a1 to a2, arc of −B from −b1 to −b2; a segment's arc is the whole circle.
      const bool has_arc_a = ea.left >= 0, has_arc_b = eb.left >= 0;
      const Vector3d db = b.vertices[eb.to] - b.vertices[eb.from];
      if (has_arc_a && db.dot(a.normals[ea.left]) * db.dot(a.normals[ea.right]) > 0) continue;
      if (has_arc_b && da.dot(b.normals[eb.left]) * da.dot(b.normals[eb.right]) > 0) continue;
      Vector3d n = da.cross(db);
      const double length = n.norm();
      if (length < 1e-8 * length_a * db.norm()) continue;
      n /= length;
      // Orientation: −n must lie on A's arc and n on B's.
      if (has_arc_a && n.dot(a.normals[ea.left] + a.normals[ea.right]) > 0) n = -n;
      if (has_arc_b && n.dot(b.normals[eb.left] + b.normals[eb.right]) < 0) {
        if (has_arc_a) continue;
        n = -n;
      }
      if (!has_arc_a && !has_arc_b && n.dot(a.p_WG - b.p_WG) < 0) n = -n;
      const double s = n.dot(a.vertices[ea.from] - b.vertices[eb.from]);
      if (s > best.s + kEqualAxes) best.offer(separation_along(a, b, n), n, kEqualAxes);
    }
  }
}

Axis best_axis(const PosedShape& a, const PosedShape& b) {
  Axis best;
  for (std::size_t f = 0; f < a.normals.size(); ++f) {
    const Vector3d& normal = a.normals[f];
    const double top = normal.dot(a.p_WG) + a.shape->core.faces[f].offset;
    best.offer(lowest(b.vertices, normal) - top, -normal);
  }
  for (std::size_t f = 0; f < b.normals.size(); ++f) {
    const Vector3d& normal = b.normals[f];
    const double top = normal.dot(b.p_WG) + b.shape->core.faces[f].offset;
    best.offer(lowest(a.vertices, normal) - top, normal, kEqualAxes);
  }
  if (is_centred(a) && is_centred(b)) {
    offer_edges_of_centred(a, b, best);
  } else {
    offer_edges(a, b, best);
  }
  return best;
}

/// GJK's normal carries rounding of 1e-16/d; the face or the edge pair that it stands on has an exact one.
Proximity snap_to_features(const PosedShape& a, const PosedShape& b, const Proximity& rough, EndScratch& scratch) {
  const double size = a.shape->bounding_radius + b.shape->bounding_radius;
  const double slab = kEqualAxes + 1e-14 * size * size / rough.distance;
  const TangentFrame frame(rough.p_B, rough.n);
  const int face_a = set_end_piece(a, true, slab, frame, scratch.a);
  const int face_b = set_end_piece(b, false, slab, frame, scratch.b);
  Vector3d candidates[3];
  int count = 0;
  if (face_a >= 0) candidates[count++] = -a.normals[face_a];
  if (face_b >= 0) candidates[count++] = b.normals[face_b];
  if (count == 0 && scratch.a.corners.size() == 2 && scratch.b.corners.size() == 2) {
    const Vector3d da =
        scratch.a.corners.size() == 2
            ? Vector3d(a.vertices[scratch.a.corner_feature[1]] - a.vertices[scratch.a.corner_feature[0]])
            : Vector3d::Zero();
    const Vector3d db = b.vertices[scratch.b.corner_feature[1]] - b.vertices[scratch.b.corner_feature[0]];
    const Vector3d n = da.cross(db);
    if (n.norm() > 1e-6 * da.norm() * db.norm())
      candidates[count++] = std::copysign(1.0, n.dot(rough.n)) * n.normalized();
  }
  Axis best;
  Proximity snapped;
  for (int k = 0; k < count; ++k) {
    const double s = separation_along(a, b, candidates[k]);
    if (s <= best.s + kEqualAxes) continue;
    const TangentFrame exact(rough.p_B, candidates[k]);
    Vector2d x;
    if (!find_common_point(a, b, exact, kEqualAxes, scratch, x)) continue;
    best.offer(s, candidates[k]);
    snapped.p_B = exact.at(x, exact.height(support_core(b, candidates[k])));
    snapped.p_A = snapped.p_B + s * candidates[k];
  }
  if (best.s == -INFINITY) return rough;
  snapped.distance = best.s;
  snapped.n = best.n;
  return snapped;
}

}  // namespace

Proximity polytope_distance(const PosedShape& a, const PosedShape& b, EndScratch& scratch) {
  const GjkResult apart = gjk_distance(a, b);
  if (apart.disjoint && apart.proximity.distance > kTouching) {
    const Proximity p = snap_to_features(a, b, apart.proximity, scratch);
    // A stalled GJK leaves a gap between its upper and the lower bound: look at every axis then.
    if (p.distance - separation_along(a, b, p.n) < kEqualAxes) return p;
    const Axis axis = best_axis(a, b);
    return axis.s > separation_along(a, b, p.n) ? proximity_along(a, b, axis.n, axis.s, scratch) : p;
  }
  const Axis axis = best_axis(a, b);
  return proximity_along(a, b, axis.n, axis.s, scratch);
}

}  // namespace deft::collision
