#pragma once
// Support functions of the shapes, written apart from the engine's, and random touching configurations whose answer is
// known.

#include <Eigen/Geometry>
#include <cmath>
#include <fstream>
#include <numbers>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "deft/multibody/description/shape_spec.hpp"

namespace deft::collision::reference {

using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Random = std::mt19937_64;

inline double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

inline Vector3d random_direction(Random& random) {
  std::normal_distribution<double> normal;
  return Vector3d(normal(random), normal(random), normal(random)).normalized();
}

inline Matrix3d random_rotation(Random& random) {
  std::normal_distribution<double> normal;
  return Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random))
      .normalized()
      .toRotationMatrix();
}

/// The rotation that takes unit a to unit b, with a random turn about b.
inline Matrix3d random_rotation_taking(const Vector3d& a, const Vector3d& b, Random& random) {
  const Matrix3d align = Eigen::Quaterniond::FromTwoVectors(a, b).toRotationMatrix();
  return Eigen::AngleAxisd(uniform(random, -std::numbers::pi, std::numbers::pi), b) * align;
}

/// A convex shape in its own frame.
struct Body {
  multibody::ShapeSpec spec;
  std::vector<Vector3d> vertices;      // polytopes
  std::vector<Vector3d> face_normals;  // polytopes and caps
  std::string name;

  bool is_polytope() const { return !vertices.empty(); }

  /// max n·x over the shape.
  double support(const Vector3d& n) const {
    if (is_polytope()) {
      double best = -INFINITY;
      for (const auto& v : vertices) best = std::max(best, n.dot(v));
      return best;
    }
    if (const auto* s = std::get_if<multibody::SphereSpec>(&spec)) return s->radius * n.norm();
    if (const auto* s = std::get_if<multibody::CapsuleSpec>(&spec))
      return s->radius * n.norm() + 0.5 * s->length * std::abs(n.z());
    if (const auto* s = std::get_if<multibody::CylinderSpec>(&spec))
      return s->radius * std::hypot(n.x(), n.y()) + 0.5 * s->length * std::abs(n.z());
    const auto& e = std::get<multibody::EllipsoidSpec>(spec).radii;
    return std::sqrt(std::pow(e.x() * n.x(), 2) + std::pow(e.y() * n.y(), 2) + std::pow(e.z() * n.z(), 2));
  }

  /// How far x is outside (> 0) the shape, measured by a function that is zero on the surface [m].
  double outside(const Vector3d& x) const {
    if (is_polytope()) {
      double worst = -INFINITY;
      for (const auto& n : face_normals) worst = std::max(worst, n.dot(x) - support(n));
      return worst;
    }
    if (const auto* s = std::get_if<multibody::SphereSpec>(&spec)) return x.norm() - s->radius;
    if (const auto* s = std::get_if<multibody::CapsuleSpec>(&spec)) {
      const double h = 0.5 * s->length;
      return (x - Vector3d(0, 0, std::clamp(x.z(), -h, h))).norm() - s->radius;
    }
    if (const auto* s = std::get_if<multibody::CylinderSpec>(&spec))
      return std::max(std::hypot(x.x(), x.y()) - s->radius, std::abs(x.z()) - 0.5 * s->length);
    const auto& e = std::get<multibody::EllipsoidSpec>(spec).radii;
    return (x.cwiseQuotient(e).norm() - 1) * e.minCoeff();
  }

  /// A point of the surface and an outward normal there, from all kinds of features.
  std::pair<Vector3d, Vector3d> random_surface_point(Random& random) const {
    Vector3d n = random_direction(random);
    const double choice = uniform(random, 0, 1);
    if (!face_normals.empty() && choice < 0.3) {
      n = face_normals[random() % face_normals.size()];
    } else if (is_polytope() && choice < 0.65) {
      n = random_edge_normal(random);
    }
    if (std::holds_alternative<multibody::CapsuleSpec>(spec) && choice < 0.5)
      n = Vector3d(n.x(), n.y(), 0).normalized();
    if (std::holds_alternative<multibody::CylinderSpec>(spec) && choice >= 0.3 && choice < 0.65)
      n = Vector3d(n.x(), n.y(), 0).normalized();
    return {random_support_point(n, random), n};
  }

  /// A random point of the set where n·x is largest.
  Vector3d random_support_point(const Vector3d& n, Random& random) const {
    if (is_polytope()) {
      Vector3d sum = Vector3d::Zero();
      double total = 0;
      for (const auto& v : vertices) {
        if (n.dot(v) < support(n) - 1e-9) continue;
        const double w = uniform(random, 0, 1);
        sum += w * v, total += w;
      }
      return sum / total;
    }
    if (const auto* s = std::get_if<multibody::SphereSpec>(&spec)) return s->radius * n;
    if (const auto* s = std::get_if<multibody::CapsuleSpec>(&spec)) {
      const double z =
          std::abs(n.z()) < 1e-12 ? uniform(random, -0.5, 0.5) * s->length : std::copysign(0.5 * s->length, n.z());
      return s->radius * n + Vector3d(0, 0, z);
    }
    if (const auto* s = std::get_if<multibody::CylinderSpec>(&spec)) {
      const double across = std::hypot(n.x(), n.y());
      const double z =
          std::abs(n.z()) < 1e-12 ? uniform(random, -0.5, 0.5) * s->length : std::copysign(0.5 * s->length, n.z());
      if (across < 1e-12) {
        const double r = s->radius * std::sqrt(uniform(random, 0, 1)), angle = uniform(random, 0, 2 * std::numbers::pi);
        return {r * std::cos(angle), r * std::sin(angle), z};
      }
      return {s->radius * n.x() / across, s->radius * n.y() / across, z};
    }
    const auto& e = std::get<multibody::EllipsoidSpec>(spec).radii;
    const Vector3d stretched = e.cwiseProduct(n);
    return e.cwiseProduct(stretched) / stretched.norm();
  }

 private:
  /// A normal between those of two faces that share an edge.
  Vector3d random_edge_normal(Random& random) const {
    while (true) {
      const Vector3d &a = face_normals[random() % face_normals.size()],
                     &b = face_normals[random() % face_normals.size()];
      if (a.cross(b).norm() < 1e-6) continue;
      const double t = uniform(random, 0.05, 0.95);
      const Vector3d n = (t * a + (1 - t) * b).normalized();
      int touching = 0;
      for (const auto& v : vertices) touching += n.dot(v) > support(n) - 1e-9;
      if (touching == 2) return n;
    }
  }
};

inline Body sphere(double radius) { return {.spec = multibody::SphereSpec{radius}, .name = "sphere"}; }
inline Body capsule(double radius, double length) {
  return {.spec = multibody::CapsuleSpec{radius, length}, .name = "capsule"};
}
inline Body cylinder(double radius, double length) {
  return {.spec = multibody::CylinderSpec{radius, length},
          .face_normals = {Vector3d::UnitZ(), -Vector3d::UnitZ()},
          .name = "cylinder"};
}
inline Body ellipsoid(const Vector3d& radii) { return {.spec = multibody::EllipsoidSpec{radii}, .name = "ellipsoid"}; }
inline Body box(const Vector3d& size) {
  Body b{.spec = multibody::BoxSpec{size}, .name = "box"};
  for (int i = 0; i < 8; ++i)
    b.vertices.push_back(0.5 * size.cwiseProduct(Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  for (int axis = 0; axis < 3; ++axis) {
    b.face_normals.push_back(Vector3d::Unit(axis));
    b.face_normals.push_back(-Vector3d::Unit(axis));
  }
  return b;
}
/// A prism over a regular polygon.
inline Body prism(int sides, double radius, double height) {
  Body b{.name = "prism"};
  multibody::PrismSpec spec{.vertices = {}, .height = height};
  for (int k = 0; k < sides; ++k) {
    const double angle = 2 * std::numbers::pi * k / sides, middle = angle + std::numbers::pi / sides;
    spec.vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle));
    b.face_normals.emplace_back(std::cos(middle), std::sin(middle), 0);
    for (const double z : {-0.5 * height, 0.5 * height})
      b.vertices.emplace_back(spec.vertices.back().x(), spec.vertices.back().y(), z);
  }
  b.face_normals.push_back(Vector3d::UnitZ());
  b.face_normals.push_back(-Vector3d::UnitZ());
  b.spec = spec;
  return b;
}

/// A convex OBJ file, read without the engine (which holds single precision numbers, as its loader does).
inline Body mesh(const std::string& path) {
  Body b{.spec = multibody::MeshSpec{path}, .name = "mesh"};
  std::ifstream file(path);
  std::string kind;
  double x, y, z;
  while (file >> kind >> x >> y >> z) {
    if (kind == "v") {
      b.vertices.emplace_back(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
    } else {
      const auto corner = [&](double index) { return b.vertices[static_cast<std::size_t>(index) - 1]; };
      b.face_normals.push_back((corner(y) - corner(x)).cross(corner(z) - corner(x)).normalized());
    }
  }
  return b;
}

}  // namespace deft::collision::reference
