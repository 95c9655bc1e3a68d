#include "deft/collision/patches/patch.hpp"

#include <algorithm>
#include <cmath>

#include "deft/collision/distance/closed_forms.hpp"
#include "deft/collision/distance/pieces.hpp"

namespace deft::collision {
namespace {

constexpr double kMerge = 1e-9;  // [m] points closer than this are one
constexpr double kWeightFloor = 1e-6;
constexpr double kBelow = 1e-8;  // [m] no point is deeper than the signed distance by more than rounding

bool has_flat_features(Kind kind) { return kind != Kind::kEllipsoid && kind != Kind::kSphere; }

/// Half the area of the two triangles at each corner with the centroid of the area; for a segment half its length times
/// `width`.
void add_areas(const std::vector<ClippedCorner>& corners, double width, std::size_t first,
               std::vector<PatchPoint>& points) {
  const std::size_t n = corners.size();
  if (n == 2) {
    for (std::size_t k = 0; k < 2; ++k) points[first + k].area = 0.5 * width * (corners[1].x - corners[0].x).norm();
  }
  if (n < 3) return;
  const auto cross = [](const Vector2d& a, const Vector2d& b) { return a.x() * b.y() - a.y() * b.x(); };
  double twice_area = 0;
  Vector2d centroid = Vector2d::Zero();
  const Vector2d& origin = corners[0].x;
  for (std::size_t k = 1; k + 1 < n; ++k) {
    const Vector2d u = corners[k].x - origin, v = corners[k + 1].x - origin;
    const double area = cross(u, v);
    twice_area += area;
    centroid += area * (u + v) / 3;
  }
  if (!(twice_area > 0)) return;
  centroid = origin + centroid / twice_area;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t next = (k + 1) % n;
    const double area = 0.25 * std::max(0.0, cross(corners[k].x - centroid, corners[next].x - centroid));
    points[first + k].area += area;
    points[first + next].area += area;
  }
}

bool is_before(const PatchPoint& p, const PatchPoint& q) {
  return p.feature_a != q.feature_a   ? p.feature_a < q.feature_a
         : p.feature_b != q.feature_b ? p.feature_b < q.feature_b
         : p.steepness != q.steepness ? p.steepness < q.steepness
                                      : p.gap < q.gap;
}

/// Sorts by features and joins points with the same features or at the same place. The gap is that of the least steep
/// pieces: a face seen edge-on ends in its corners too, with rounding magnified, and would shake a body at rest.
void merge_points(std::vector<PatchPoint>& points) {
  std::sort(points.begin(), points.end(), is_before);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto is_same = [&](const PatchPoint& q) {
      const PatchPoint& p = points[i];
      const bool same_features = p.feature_a == q.feature_a && p.feature_b == q.feature_b;
      const double slack = same_features ? 100 * kMerge : kMerge;
      return (p.p_A - q.p_A).squaredNorm() < slack * slack && (p.p_B - q.p_B).squaredNorm() < slack * slack;
    };
    const auto twin = std::find_if(points.begin(), points.begin() + kept, is_same);
    if (twin == points.begin() + kept) {
      points[kept++] = points[i];
    } else {
      if (points[i].steepness < twin->steepness) {
        twin->p_A = points[i].p_A;
        twin->p_B = points[i].p_B;
        twin->gap = points[i].gap;
        twin->steepness = points[i].steepness;
      }
      twin->area += points[i].area;
    }
  }
  points.resize(kept);
}

void add_witness(const Proximity& witness, std::vector<PatchPoint>& points) {
  for (const auto& p : points) {
    if (p.gap <= witness.distance + kMerge) return;
  }
  points.push_back({.p_A = witness.p_A,
                    .p_B = witness.p_B,
                    .n = witness.n,
                    .gap = witness.distance,
                    .feature_a = kWitnessFeature,
                    .feature_b = kWitnessFeature});
}

/// Capsules: the ends of each against the other, beside the nearest points (which alone would jump along parallel
/// capsules).
void find_capsule_points(const PosedShape& a, const PosedShape& b, const Proximity& witness, double margin,
                         std::vector<PatchPoint>& points) {
  const auto offer = [&](const Vector3d& x, const Vector3d& y, int feature_a, int feature_b) {
    const Proximity p = between_points(x, a.shape->radius, y, b.shape->radius, witness.n);
    if (p.distance < margin)
      points.push_back(
          {.p_A = p.p_A, .p_B = p.p_B, .n = p.n, .gap = p.distance, .feature_a = feature_a, .feature_b = feature_b});
  };
  const auto nearest = [](const std::vector<Vector3d>& segment, const Vector3d& x) {
    const Vector3d along = segment[1] - segment[0];
    return Vector3d(segment[0] + std::clamp(along.dot(x - segment[0]) / along.squaredNorm(), 0.0, 1.0) * along);
  };
  for (int k = 0; k < 2; ++k) offer(a.vertices[k], nearest(b.vertices, a.vertices[k]), k, 2);
  for (int k = 0; k < 2; ++k) offer(nearest(a.vertices, b.vertices[k]), b.vertices[k], 2, k);
  merge_points(points);
  add_witness(witness, points);
  for (auto& p : points) p.area = 1;
}

/// Every vertex of A below the margin of the half-space B (given by the witness).
void find_half_space_points(const PosedShape& a, const Proximity& witness, double margin, PatchScratch& scratch) {
  auto& points = scratch.points;
  const Vector3d& n = witness.n;
  const double plane = n.dot(witness.p_B);
  const auto offer = [&](const Vector3d& core_point, int feature) {
    const Vector3d p_A = core_point - a.shape->radius * n;
    const double gap = n.dot(p_A) - plane;
    if (gap < margin) points.push_back({.p_A = p_A, .p_B = p_A - gap * n, .n = n, .gap = gap, .feature_a = feature});
  };
  if (a.shape->kind == Kind::kCylinder) {
    const auto line = side_line(a, -n);
    for (int cap = 0; cap < 2; ++cap) {
      for (int k = 0; k < kRimPoints; ++k) offer(rim_point(a, cap, k), (kRimPoints + 1) * cap + k);
      offer(line[cap], (kRimPoints + 1) * cap + kRimPoints);
    }
  } else {
    for (std::size_t v = 0; v < a.vertices.size(); ++v) offer(a.vertices[v], static_cast<int>(v));
  }
  // Areas of the faces seen from the plane, shared among their corners.
  const TangentFrame frame(witness.p_B, n);
  const int count = collect_pieces(a, -1, frame, 0, INFINITY, scratch.pieces_a);
  for (int i = 0; i < count; ++i) {
    const Piece& piece = scratch.pieces_a[i];
    scratch.corners.clear();
    for (std::size_t k = 0; k < piece.corners.size(); ++k)
      scratch.corners.push_back({piece.corners[k], piece.corner_feature[k], 0});
    const std::size_t first = points.size();
    for (const auto& c : scratch.corners) points.push_back({.gap = INFINITY, .feature_a = c.feature_a});
    add_areas(scratch.corners, 0.1 * a.shape->bounding_radius, first, points);
    for (std::size_t k = first; k < points.size(); ++k) {
      for (std::size_t q = 0; q < first; ++q) {
        if (points[q].feature_a == points[k].feature_a) points[q].area += points[k].area;
      }
    }
    points.resize(first);
  }
}

}  // namespace

void find_patch(const PosedShape& a, const PosedShape& b, const Proximity& witness, double margin,
                PatchScratch& scratch) {
  auto& points = scratch.points;
  points.clear();
  const Kind kind_a = a.shape->kind, kind_b = b.shape->kind;
  if (!has_flat_features(kind_a) || !has_flat_features(kind_b)) return add_witness(witness, points);
  if (kind_b == Kind::kHalfSpace) {
    find_half_space_points(a, witness, margin, scratch);
    return;
  }
  if (kind_a == Kind::kCapsule && kind_b == Kind::kCapsule) return find_capsule_points(a, b, witness, margin, points);

  const TangentFrame frame(witness.p_B, witness.n);
  const double radii = a.shape->radius + b.shape->radius;
  // Only pieces within the margin of the other shape's end matter.
  const double search_margin = margin + std::max(0.0, -witness.distance);
  const double end_a = frame.height(support_core(a, -frame.n)), end_b = frame.height(support_core(b, frame.n));
  const int count_a = collect_pieces(a, -1, frame, -end_b, search_margin + radii, scratch.pieces_a);
  const int count_b = collect_pieces(b, 1, frame, end_a, search_margin + radii, scratch.pieces_b);
  for (int i = 0; i < count_a; ++i) {
    const Piece& piece_a = scratch.pieces_a[i];
    for (int j = 0; j < count_b; ++j) {
      const Piece& piece_b = scratch.pieces_b[j];
      clip(piece_a, piece_b, scratch.clip, scratch.corners);
      const std::size_t first = points.size();
      const double steepness = std::sqrt(std::max(piece_a.slope.squaredNorm(), piece_b.slope.squaredNorm()));
      for (const auto& c : scratch.corners) {
        const double height_a = piece_a.height(c.x) - a.shape->radius, height_b = piece_b.height(c.x) + b.shape->radius;
        points.push_back({.p_A = frame.at(c.x, height_a),
                          .p_B = frame.at(c.x, height_b),
                          .n = frame.n,
                          .gap = height_a - height_b,
                          .steepness = steepness,
                          .feature_a = c.feature_a,
                          .feature_b = c.feature_b});
      }
      add_areas(scratch.corners, 0.1 * std::min(a.shape->bounding_radius, b.shape->bounding_radius), first, points);
    }
  }
  // A face seen almost edge-on rises a million times faster than it is wide: rounding of x then puts its height
  // anywhere. No point of the bodies has a gap along n below s(n) = d, so that one below it is such an artefact.
  std::erase_if(points, [&](const PatchPoint& p) { return !(p.gap < margin) || p.gap < witness.distance - kBelow; });
  merge_points(points);
  add_witness(witness, points);
}

void assign_weights(std::vector<PatchPoint>& points, double margin) {
  double area = 0, total = 0;
  for (const auto& p : points) area += p.area;
  const double count = static_cast<double>(points.size());
  for (auto& p : points) {
    p.area = area > 0 ? p.area / area + kWeightFloor / count : 1 / count;
    if (std::isfinite(margin)) p.area *= std::max(0.0, 1 - p.gap / margin);
    total += p.area;
  }
  for (auto& p : points) p.area = total > 0 ? p.area / total : 1 / count;
}

}  // namespace deft::collision
