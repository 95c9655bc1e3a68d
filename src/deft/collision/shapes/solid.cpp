#include "deft/collision/shapes/solid.hpp"

#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

namespace deft::collision {
namespace {

using namespace multibody;  // the specs
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Triangle = std::array<int, 3>;

double cross(const Vector2d& a, const Vector2d& b) { return a.x() * b.y() - a.y() * b.x(); }

SolidProperties ellipsoid_solid(const Vector3d& r) {
  const double V = 4.0 / 3.0 * std::numbers::pi * r.prod();
  const Vector3d s = r.cwiseAbs2();
  return {V, Vector3d::Zero(), (V / 5 * Vector3d(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())).asDiagonal()};
}

SolidProperties box_solid(const Vector3d& size) {
  const double V = size.prod();
  const Vector3d s = size.cwiseAbs2();
  return {V, Vector3d::Zero(), (V / 12 * Vector3d(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())).asDiagonal()};
}

SolidProperties cylinder_solid(double r, double l) {
  const double V = std::numbers::pi * r * r * l;
  const double across = V * (3 * r * r + l * l) / 12;
  return {V, Vector3d::Zero(), Vector3d(across, across, V * r * r / 2).asDiagonal()};
}

/// A cylinder and two half-balls, whose centroids lie 3r/8 beyond the cylinder's ends.
SolidProperties capsule_solid(double r, double l) {
  SolidProperties solid = cylinder_solid(r, l);
  const double V = 4.0 / 3.0 * std::numbers::pi * r * r * r;
  const double across = V * (2.0 / 5.0 * r * r + l * l / 4 + 3.0 / 8.0 * r * l);
  solid.volume += V;
  solid.I_Com_G += Vector3d(across, across, V * 2.0 / 5.0 * r * r).asDiagonal();
  return solid;
}

/// Moments of a polygon by Green's theorem, triangle by triangle from the first corner (which keeps the numbers small).
SolidProperties prism_solid(const PrismSpec& prism) {
  const Vector2d o = prism.vertices[0];
  double area = 0;
  Vector2d first = Vector2d::Zero();
  Eigen::Matrix2d second = Eigen::Matrix2d::Zero();
  for (std::size_t i = 1; i + 1 < prism.vertices.size(); ++i) {
    const Vector2d a = prism.vertices[i] - o, b = prism.vertices[i + 1] - o;
    const double A = cross(a, b) / 2;
    area += A;
    first += A * (a + b) / 3;
    second += A / 12 * (a * a.transpose() + b * b.transpose() + (a + b) * (a + b).transpose());
  }
  const Vector2d c = first / area;
  second -= area * c * c.transpose();
  const double H = prism.height, zz = area * H * H * H / 12;
  SolidProperties solid{area * H, Vector3d(o.x() + c.x(), o.y() + c.y(), 0), Matrix3d::Zero()};
  solid.I_Com_G << H * second(1, 1) + zz, -H * second(0, 1), 0, -H * second(0, 1), H * second(0, 0) + zz, 0, 0, 0,
      H * second.trace();
  return solid;
}

/// Σ x xᵀ over the corners and their sum: twelve times the mean of x xᵀ over a triangle, twenty times that over a
/// cone from the origin.
Matrix3d second_moment(const Vector3d& a, const Vector3d& b, const Vector3d& c) {
  const Vector3d sum = a + b + c;
  return sum * sum.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose();
}

/// The centroid of a surface, and its area.
std::pair<Vector3d, double> surface_centroid(const std::vector<Vector3d>& points,
                                             const std::vector<Triangle>& triangles) {
  Vector3d sum = Vector3d::Zero();
  double area = 0;
  for (const Triangle& t : triangles) {
    const Vector3d &a = points[t[0]], &b = points[t[1]], &c = points[t[2]];
    const double part = 0.5 * (b - a).cross(c - a).norm();
    sum += part / 3 * (a + b + c);
    area += part;
  }
  if (area > 0) sum /= area;
  return {sum, area};
}

}  // namespace

Matrix3d point_inertia(const Vector3d& d) { return d.squaredNorm() * Matrix3d::Identity() - d * d.transpose(); }

std::optional<SolidProperties> solid_properties(const ShapeSpec& shape) {
  if (const auto* sphere = std::get_if<SphereSpec>(&shape)) return ellipsoid_solid(Vector3d::Constant(sphere->radius));
  if (const auto* ellipsoid = std::get_if<EllipsoidSpec>(&shape)) return ellipsoid_solid(ellipsoid->radii);
  if (const auto* box = std::get_if<BoxSpec>(&shape)) return box_solid(box->size);
  if (const auto* cylinder = std::get_if<CylinderSpec>(&shape))
    return cylinder_solid(cylinder->radius, cylinder->length);
  if (const auto* capsule = std::get_if<CapsuleSpec>(&shape)) return capsule_solid(capsule->radius, capsule->length);
  if (const auto* prism = std::get_if<PrismSpec>(&shape)) return prism_solid(*prism);
  return std::nullopt;
}

std::optional<InertialSpec> solid_inertia(const std::vector<GeometrySpec>& shapes, double mass) {
  std::vector<SolidProperties> solids;
  InertialSpec inertial;
  inertial.mass = mass;
  double volume = 0;
  for (const GeometrySpec& geometry : shapes) {
    const auto solid = solid_properties(geometry.shape);
    if (!solid) return std::nullopt;
    solids.push_back(*solid);
    volume += solid->volume;
  }
  const auto weight = [&](std::size_t i) {
    return volume > 0 ? solids[i].volume / volume : 1.0 / static_cast<double>(solids.size());
  };
  for (std::size_t i = 0; i < solids.size(); ++i) inertial.p_LCom += weight(i) * (shapes[i].X_LG * solids[i].p_GCom);
  if (volume <= 0) return inertial;
  for (std::size_t i = 0; i < solids.size(); ++i) {
    const Matrix3d R = shapes[i].X_LG.linear();
    const Vector3d d = shapes[i].X_LG * solids[i].p_GCom - inertial.p_LCom;
    inertial.I_Com_L += mass / volume * (R * solids[i].I_Com_G * R.transpose() + solids[i].volume * point_inertia(d));
  }
  return inertial;
}

SolidProperties mesh_solid(const std::vector<Vector3d>& points, const std::vector<Triangle>& triangles,
                           MeshFilling filling) {
  const auto cone = [&](const Triangle& t, const Vector3d& apex) {
    const double volume = (points[t[0]] - apex).dot((points[t[1]] - apex).cross(points[t[2]] - apex)) / 6;
    return filling == MeshFilling::kCones ? std::abs(volume) : volume;
  };
  SolidProperties solid;
  const Vector3d middle = surface_centroid(points, triangles).first;
  for (const Triangle& t : triangles) {
    const double part = cone(t, middle);
    solid.volume += part;
    solid.p_GCom += part / 4 * (middle + points[t[0]] + points[t[1]] + points[t[2]]);
  }
  if (solid.volume == 0) return {};
  solid.p_GCom /= solid.volume;
  // The volume again about the centroid: cones that count as positive make another sum from there.
  solid.volume = 0;
  Matrix3d second = Matrix3d::Zero();
  const Vector3d& p = solid.p_GCom;
  for (const Triangle& t : triangles) {
    const double part = cone(t, p);
    solid.volume += part;
    second += part / 20 * second_moment(points[t[0]] - p, points[t[1]] - p, points[t[2]] - p);
  }
  solid.I_Com_G = second.trace() * Matrix3d::Identity() - second;
  return solid;
}

SolidProperties shell_solid(const std::vector<Vector3d>& points, const std::vector<Triangle>& triangles) {
  SolidProperties shell;
  std::tie(shell.p_GCom, shell.volume) = surface_centroid(points, triangles);
  const Vector3d& p = shell.p_GCom;
  Matrix3d second = Matrix3d::Zero();
  for (const Triangle& t : triangles) {
    const Vector3d a = points[t[0]] - p, b = points[t[1]] - p, c = points[t[2]] - p;
    second += (b - a).cross(c - a).norm() / 24 * second_moment(a, b, c);
  }
  shell.I_Com_G = second.trace() * Matrix3d::Identity() - second;
  return shell;
}

}  // namespace deft::collision
