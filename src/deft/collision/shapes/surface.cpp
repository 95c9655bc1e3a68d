#include "deft/collision/shapes/surface.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace deft::collision {
namespace {

constexpr double kPi = std::numbers::pi;

/// Uniform on the unit sphere.
Vector3d direction(double u, double v) {
  const double z = 2 * u - 1, r = std::sqrt(std::max(0.0, 1 - z * z));
  return {r * std::cos(2 * kPi * v), r * std::sin(2 * kPi * v), z};
}

double triangle_area(const Vector3d& a, const Vector3d& b, const Vector3d& c) {
  return 0.5 * (b - a).cross(c - a).norm();
}

/// Corner k of a face.
const Vector3d& corner(const Polytope& core, const Polytope::Face& face, int k) {
  return core.vertices[core.corners[face.first + k]];
}

double polytope_area(const Polytope& core) {
  double area = 0;
  for (const Polytope::Face& face : core.faces) {
    for (int k = 2; k < face.count; ++k)
      area += triangle_area(corner(core, face, 0), corner(core, face, k - 1), corner(core, face, k));
  }
  return area;
}

/// A triangle of the faces' fans by area, then a point of it.
SurfacePoint polytope_point(const Polytope& core, const std::array<double, 3>& u) {
  double left = u[0] * polytope_area(core);
  const Polytope::Face* last = &core.faces.front();  // boxes and hulls have faces
  int last_k = 2;
  for (const Polytope::Face& face : core.faces) {
    for (int k = 2; k < face.count && left >= 0; ++k) {
      left -= triangle_area(corner(core, face, 0), corner(core, face, k - 1), corner(core, face, k));
      last = &face;
      last_k = k;
    }
    if (left < 0) break;
  }
  const double s = std::sqrt(u[1]);
  const Vector3d &a = corner(core, *last, 0), &b = corner(core, *last, last_k - 1), &c = corner(core, *last, last_k);
  return {(1 - s) * a + s * (1 - u[2]) * b + s * u[2] * c, last->normal};
}

/// Side, then the ends: discs of a cylinder, half spheres of a capsule.
SurfacePoint round_point(double radius, double half, bool has_discs, const std::array<double, 3>& u) {
  const double side = 4 * kPi * radius * half, ends = (has_discs ? 2 : 4) * kPi * radius * radius;
  const double at = u[0] * (side + ends), angle = 2 * kPi * u[1];
  const Vector3d out(std::cos(angle), std::sin(angle), 0);
  if (at < side) return {radius * out + (2 * u[2] - 1) * half * Vector3d::UnitZ(), out};
  const double share = (at - side) / ends;
  if (has_discs) {
    const double sign = share < 0.5 ? -1 : 1;
    return {radius * std::sqrt(u[2]) * out + sign * half * Vector3d::UnitZ(), sign * Vector3d::UnitZ()};
  }
  const Vector3d n = direction(u[2], u[1]);
  return {radius * n + std::copysign(half, n.z()) * Vector3d::UnitZ(), n};
}

}  // namespace

double surface_area(const Shape& shape) {
  const double r = shape.radius;
  switch (shape.kind) {
    case Kind::kSphere:
      return 4 * kPi * r * r;
    case Kind::kCapsule:
      return 4 * kPi * r * (r + shape.half.z());
    case Kind::kCylinder:
      return 2 * kPi * shape.half.x() * (shape.half.x() + 2 * shape.half.z());
    case Kind::kEllipsoid: {
      constexpr double p = 1.6075;
      const Eigen::Array3d a = shape.half.array().pow(p);
      return 4 * kPi * std::pow((a(0) * a(1) + a(0) * a(2) + a(1) * a(2)) / 3, 1 / p);
    }
    case Kind::kBox:
    case Kind::kHull:
      return polytope_area(shape.core);
    case Kind::kHalfSpace:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

SurfacePoint surface_point(const Shape& shape, const std::array<double, 3>& u) {
  for (const double x : u) {
    if (!(x >= 0 && x <= 1)) throw std::invalid_argument(fmt::format("surface_point: numbers from 0 to 1, not {}", x));
  }
  switch (shape.kind) {
    case Kind::kSphere: {
      const Vector3d n = direction(u[0], u[1]);
      return {shape.radius * n, n};
    }
    case Kind::kCapsule:
      return round_point(shape.radius, shape.half.z(), false, u);
    case Kind::kCylinder:
      return round_point(shape.half.x(), shape.half.z(), true, u);
    case Kind::kEllipsoid: {
      const Vector3d d = direction(u[0], u[1]);
      return {shape.half.cwiseProduct(d), d.cwiseQuotient(shape.half).normalized()};
    }
    case Kind::kBox:
    case Kind::kHull:
      return polytope_point(shape.core, u);
    case Kind::kHalfSpace:
      break;
  }
  throw std::invalid_argument("surface_point: a half-space has no finite surface");
}

}  // namespace deft::collision
