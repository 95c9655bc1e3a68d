#include "deft/collision/patches/curvature.hpp"

#include <algorithm>
#include <cmath>

#include "deft/collision/distance/closed_forms.hpp"
#include "deft/collision/distance/pieces.hpp"

namespace deft::collision {
namespace {

constexpr double kPerpendicular = 1e-9;  // [rad] far above the rounding of a normal, far below any real tilt
constexpr double kAtEnd = 1e-8;          // [m] a witness point this near to the end of its feature is on the border

Matrix3d across(const Vector3d& m) { return Matrix3d::Identity() - m * m.transpose(); }

void make_face(const Vector3d& m, Curvature& c) {
  const TangentFrame frame(Vector3d::Zero(), m);
  c.flat = 2;
  c.along = {frame.t1, frame.t2};
}

/// Distance of x to the nearer end of the segment, along it.
bool is_at_end(const Vector3d& x, const Vector3d& from, const Vector3d& to) {
  const Vector3d along = (to - from).normalized();
  return along.dot(x - from) < kAtEnd || along.dot(to - x) < kAtEnd;
}

Curvature polytope_curvature(const PosedShape& s, const Vector3d& m, const Vector3d& x) {
  const Polytope& core = s.shape->core;
  Curvature c;
  for (std::size_t f = 0; f < s.normals.size(); ++f) {
    if ((s.normals[f] - m).norm() > kPerpendicular) continue;
    make_face(m, c);
    const auto& face = core.faces[f];
    for (int k = 0; k < face.count; ++k) {
      const Vector3d &p = s.vertices[core.corners[face.first + k]],
                     &q = s.vertices[core.corners[face.first + (k + 1) % face.count]];
      if (s.normals[f].cross(q - p).normalized().dot(x - p) < kAtEnd) c.nonsmooth = NonsmoothPoint::kBorder;
    }
    return c;
  }
  std::size_t best = 0;
  for (std::size_t v = 1; v < s.vertices.size(); ++v)
    if (m.dot(s.vertices[v]) > m.dot(s.vertices[best])) best = v;
  for (const auto& edge : core.edges) {
    if (edge.from != static_cast<int>(best) && edge.to != static_cast<int>(best)) continue;
    const Vector3d &p = s.vertices[edge.from], &q = s.vertices[edge.to];
    if (std::abs(m.dot(q - p)) > kPerpendicular * (q - p).norm()) continue;
    c = line_curvature(q - p);
    if (is_at_end(x, p, q)) c.nonsmooth = NonsmoothPoint::kBorder;
    return c;
  }
  return c;
}

Curvature cylinder_curvature(const PosedShape& s, const Vector3d& m, const Vector3d& x) {
  const Vector3d axis = s.R_WG.col(2);
  const double r = s.shape->half.x(), h = s.shape->half.z();
  const Vector3d turn = axis.cross(m);
  const double sine = turn.norm();
  Curvature c;
  if (sine <= kPerpendicular) {
    make_face(m, c);
    if (axis.cross(x - s.p_WG).norm() > r - kAtEnd) c.nonsmooth = NonsmoothPoint::kBorder;
    return c;
  }
  const Vector3d tangent = turn / sine;
  if (std::abs(axis.dot(m)) <= kPerpendicular) {
    c = line_curvature(axis);
    c.R = r * tangent * tangent.transpose();
    if (std::abs(axis.dot(x - s.p_WG)) > h - kAtEnd) c.nonsmooth = NonsmoothPoint::kBorder;
    return c;
  }
  c.R = r / sine * tangent * tangent.transpose();
  return c;
}

Curvature ellipsoid_curvature(const PosedShape& s, const Vector3d& m) {
  const Matrix3d N = s.R_WG * s.shape->half.cwiseAbs2().asDiagonal() * s.R_WG.transpose();
  const Vector3d Nm = N * m;
  const double h = std::sqrt(m.dot(Nm));
  Curvature c;
  c.R = N / h - Nm * Nm.transpose() / (h * h * h);
  return c;
}

/// The farthest side line of a cylinder as pieces.hpp defines it: u turns with the normal and, nearly upright, the
/// radius shrinks.
FlatFeature side_feature(const PosedShape& s, const Vector3d& m, int dimension) {
  const Vector3d axis = s.R_WG.col(2);
  const SideLine line = side_line_scale(axis.cross(m).norm());
  FlatFeature f{.dimension = dimension, .direction = axis};
  const double tilt = axis.cross(m).norm();
  if (tilt <= kPerpendicular) {
    f.nonsmooth = NonsmoothPoint::kUpright;
    return f;
  }
  const Vector3d u = (m - axis.dot(m) * axis) / tilt;
  const Vector3d tangent = axis.cross(u);
  f.slide = s.shape->half.x() * (line.scale / tilt * tangent * tangent.transpose() + line.slope * u * u.transpose());
  return f;
}

}  // namespace

void Curvature::offset(double radius, const Vector3d& normal) { R += radius * across(normal); }

Curvature line_curvature(const Vector3d& direction) {
  Curvature c;
  c.flat = 1;
  c.along[0] = direction.normalized();
  return c;
}

Curvature core_curvature(const PosedShape& s, const Vector3d& m, const Vector3d& x) {
  switch (s.shape->kind) {
    case Kind::kSphere:
      return point_curvature();
    case Kind::kCapsule:
    case Kind::kBox:
    case Kind::kHull:
      return polytope_curvature(s, m, x);
    case Kind::kCylinder:
      return cylinder_curvature(s, m, x);
    case Kind::kEllipsoid:
      return ellipsoid_curvature(s, m);
    case Kind::kHalfSpace:
      break;
  }
  Curvature c;
  make_face(m, c);
  return c;
}

FlatFeature flat_feature(const PosedShape& s, int feature, const Vector3d& m) {
  const Polytope& core = s.shape->core;
  if (s.shape->kind == Kind::kHalfSpace) return {.dimension = 2, .direction = world_plane(s).n};
  if (s.shape->kind == Kind::kCylinder) {
    if (feature >= kCapFeature)
      return {.dimension = 2, .direction = (feature == kCapFeature ? -1.0 : 1.0) * s.R_WG.col(2)};
    if (feature == kSideLineFeature) return side_feature(s, m, 1);
    if (feature >= kRimEdgeFeature) {
      const int cap = (feature - kRimEdgeFeature) / kRimPoints, k = (feature - kRimEdgeFeature) % kRimPoints;
      return {.dimension = 1,
              .direction = (rim_point(s, cap, (k + 1) % kRimPoints) - rim_point(s, cap, k)).normalized()};
    }
    return feature % kCapVertices == kRimPoints ? side_feature(s, m, 0) : FlatFeature{};
  }
  const int vertices = static_cast<int>(core.vertices.size()), edges = static_cast<int>(core.edges.size());
  if (feature < vertices) return {};
  if (feature < vertices + edges) {
    const auto& edge = core.edges[feature - vertices];
    return {.dimension = 1, .direction = (s.vertices[edge.to] - s.vertices[edge.from]).normalized()};
  }
  return {.dimension = 2, .direction = s.normals[feature - vertices - edges]};
}

}  // namespace deft::collision
