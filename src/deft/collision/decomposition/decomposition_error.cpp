#include "deft/collision/decomposition/decomposition_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "deft/collision/shapes/convex_hull.hpp"
#include "deft/core/index.hpp"

namespace deft::collision {
namespace {

using Triangle = std::array<Vector3d, 3>;

std::vector<Triangle> triangles_of(const TriangleMesh& mesh) {
  const auto corner = [&](int v) -> Vector3d { return Eigen::Map<const Vector3d>(&mesh.vertices[3 * to_size(v)]); };
  std::vector<Triangle> triangles;
  for (std::size_t t = 0; t < mesh.triangles.size(); t += 3)
    triangles.push_back({corner(mesh.triangles[t]), corner(mesh.triangles[t + 1]), corner(mesh.triangles[t + 2])});
  return triangles;
}

double area_of(const Triangle& t) { return 0.5 * (t[1] - t[0]).cross(t[2] - t[0]).norm(); }

double volume_of(const std::vector<Triangle>& triangles) {
  double six_volumes = 0;
  for (const Triangle& t : triangles) six_volumes += t[0].dot(t[1].cross(t[2]));
  return std::abs(six_volumes) / 6;
}

/// Squared distance [m²] to a segment.
double to_segment(const Vector3d& p, const Vector3d& a, const Vector3d& b) {
  const Vector3d d = b - a;
  const double length2 = d.squaredNorm();
  const double s = length2 > 0 ? std::clamp((p - a).dot(d) / length2, 0.0, 1.0) : 0.0;
  return (p - a - s * d).squaredNorm();
}

/// Squared distance [m²] to a triangle: that to its plane where the foot lies inside, else to the nearest side.
double to_triangle(const Vector3d& p, const Triangle& t) {
  const Vector3d n = (t[1] - t[0]).cross(t[2] - t[0]);
  bool inside = n.squaredNorm() > 0;
  for (std::size_t k = 0; k < 3 && inside; ++k) inside = n.dot((t[(k + 1) % 3] - t[k]).cross(p - t[k])) >= 0;
  if (inside) return std::pow(n.dot(p - t[0]), 2) / n.squaredNorm();
  return std::min({to_segment(p, t[0], t[1]), to_segment(p, t[1], t[2]), to_segment(p, t[2], t[0])});
}

double to_surface(const Vector3d& p, const std::vector<Triangle>& triangles) {
  double least = INFINITY;
  for (const Triangle& t : triangles) least = std::min(least, to_triangle(p, t));
  return std::sqrt(least);
}

/// Solid angle of the surface as seen from p over 4π: 1 inside, 0 outside. Source: van Oosterom, Strackee 1983.
double winding_number(const Vector3d& p, const std::vector<Triangle>& triangles) {
  double angle = 0;
  for (const Triangle& t : triangles) {
    const Vector3d a = t[0] - p, b = t[1] - p, c = t[2] - p;
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    angle += 2 * std::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
  }
  return angle / (4 * std::numbers::pi);
}

/// All corners of a surface and `samples` of its points: at equal steps of area, by a sequence of two irrational steps
/// inside each triangle.
std::vector<Vector3d> points_of(const std::vector<Triangle>& triangles, int samples) {
  std::vector<Vector3d> points;
  std::vector<double> until;  // area up to and with each triangle
  double area = 0;
  for (const Triangle& t : triangles) {
    points.insert(points.end(), t.begin(), t.end());
    until.push_back(area += area_of(t));
  }
  std::size_t at = 0;
  for (int i = 0; i < samples && area > 0; ++i) {
    while (at + 1 < until.size() && until[at] < area * (i + 0.5) / samples) ++at;
    double u = std::fmod(0.7548776662466927 * i, 1.0), v = std::fmod(0.5698402909980532 * i, 1.0);
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const Triangle& t = triangles[at];
    points.push_back(t[0] + u * (t[1] - t[0]) + v * (t[2] - t[0]));
  }
  return points;
}

/// A convex part as the intersection of the half-spaces of its triangles.
bool is_inside(const Vector3d& p, const std::vector<Triangle>& part) {
  return std::all_of(part.begin(), part.end(),
                     [&](const Triangle& t) { return (t[1] - t[0]).cross(t[2] - t[0]).dot(p - t[0]) <= 0; });
}

}  // namespace

DecompositionError decomposition_error(const TriangleMesh& mesh, const std::vector<TriangleMesh>& parts, int samples) {
  const std::vector<Triangle> surface = triangles_of(mesh);
  std::vector<Vector3d> corners;
  for (const Triangle& t : surface) corners.insert(corners.end(), t.begin(), t.end());
  DecompositionError error{.mesh_volume = volume_of(surface), .hull_volume = volume(make_convex_hull(corners))};
  std::vector<std::vector<Triangle>> bodies;
  for (const TriangleMesh& part : parts) {
    bodies.push_back(triangles_of(part));
    error.parts_volume += volume_of(bodies.back());
    for (const Vector3d& p : points_of(bodies.back(), std::max(1, samples / static_cast<int>(parts.size()))))
      if (std::abs(winding_number(p, surface)) <= 0.5)
        error.hausdorff = std::max(error.hausdorff, to_surface(p, surface));
  }
  for (const Vector3d& p : points_of(surface, samples)) {
    double least = INFINITY;
    for (const std::vector<Triangle>& body : bodies) {
      least = is_inside(p, body) ? 0 : std::min(least, to_surface(p, body));
      if (least <= error.hausdorff) break;  // no farther than what is known
    }
    error.hausdorff = std::max(error.hausdorff, least);
  }
  return error;
}

}  // namespace deft::collision
