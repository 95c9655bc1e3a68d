#include "deft/collision/shapes/shape.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace deft::collision {

void connect_edges(Polytope& polytope) {
  polytope.edges.clear();
  polytope.corner_edges.assign(polytope.corners.size(), -1);
  std::map<std::pair<int, int>, int> index;  // (smaller, larger vertex) → edge
  for (int f = 0; f < static_cast<int>(polytope.faces.size()); ++f) {
    const auto& face = polytope.faces[f];
    for (int k = 0; k < face.count; ++k) {
      const int from = polytope.corners[face.first + k];
      const int to = polytope.corners[face.first + (k + 1) % face.count];
      const auto [entry, is_new] = index.try_emplace(std::minmax(from, to), static_cast<int>(polytope.edges.size()));
      if (is_new) {
        polytope.edges.push_back({.from = from, .to = to, .left = f, .right = -1});
      } else {
        auto& edge = polytope.edges[entry->second];
        if (edge.right >= 0 || edge.from != to) throw std::invalid_argument("an edge does not join exactly two faces");
        edge.right = f;
      }
      polytope.corner_edges[face.first + k] = entry->second;
    }
  }
  for (const auto& edge : polytope.edges) {
    if (edge.right < 0) throw std::invalid_argument("an edge belongs to one face only");
  }
}

Polytope make_box_polytope(const Vector3d& half) {
  Polytope box;
  for (int i = 0; i < 8; ++i) {
    box.vertices.push_back(half.cwiseProduct(Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  }
  constexpr int kLoops[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  for (int f = 0; f < 6; ++f) {
    box.faces.push_back({.normal = (f % 2 ? 1.0 : -1.0) * Vector3d::Unit(f / 2), .first = 4 * f, .count = 4});
    box.corners.insert(box.corners.end(), kLoops[f], kLoops[f] + 4);
  }
  connect_edges(box);
  return box;
}

Polytope make_prism_polytope(const std::vector<Eigen::Vector2d>& polygon, double half_height) {
  Polytope prism;
  const int n = static_cast<int>(polygon.size());
  for (const double z : {-half_height, half_height}) {
    for (const auto& v : polygon) prism.vertices.emplace_back(v.x(), v.y(), z);
  }
  prism.faces.push_back({.normal = -Vector3d::UnitZ(), .first = 0, .count = n});
  for (int k = 0; k < n; ++k) prism.corners.push_back(n - 1 - k);
  prism.faces.push_back({.normal = Vector3d::UnitZ(), .first = n, .count = n});
  for (int k = 0; k < n; ++k) prism.corners.push_back(n + k);
  for (int k = 0; k < n; ++k) {
    const int next = (k + 1) % n;
    const Eigen::Vector2d along = polygon[next] - polygon[k];
    prism.faces.push_back({.normal = Vector3d(along.y(), -along.x(), 0).normalized(),
                           .first = static_cast<int>(prism.corners.size()),
                           .count = 4});
    prism.corners.insert(prism.corners.end(), {k, next, n + next, n + k});
  }
  connect_edges(prism);
  return prism;
}

void PosedShape::transform_core() {
  const Polytope& core = shape->core;
  vertices.resize(core.vertices.size());
  normals.resize(core.faces.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) vertices[i] = p_WG + R_WG * core.vertices[i];
  for (std::size_t f = 0; f < normals.size(); ++f) normals[f] = R_WG * core.faces[f].normal;
}

Vector3d support_core(const PosedShape& posed, const Vector3d& direction) {
  const Shape& shape = *posed.shape;
  switch (shape.kind) {
    case Kind::kSphere:
      return posed.p_WG;
    case Kind::kBox:
    case Kind::kCapsule: {
      const Vector3d local = posed.R_WG.transpose() * direction;
      return posed.p_WG + posed.R_WG * Vector3d(std::copysign(shape.half.x(), local.x()),
                                                std::copysign(shape.half.y(), local.y()),
                                                std::copysign(shape.half.z(), local.z()));
    }
    case Kind::kHull: {
      std::size_t best = 0;
      double height = posed.vertices[0].dot(direction);
      for (std::size_t i = 1; i < posed.vertices.size(); ++i) {
        const double h = posed.vertices[i].dot(direction);
        if (h > height) height = h, best = i;
      }
      return posed.vertices[best];
    }
    case Kind::kCylinder: {
      const Vector3d local = posed.R_WG.transpose() * direction;
      const double across = std::hypot(local.x(), local.y());
      const double scale = across > 0 ? shape.half.x() / across : 0.0;
      return posed.p_WG +
             posed.R_WG * Vector3d(scale * local.x(), scale * local.y(), std::copysign(shape.half.z(), local.z()));
    }
    case Kind::kEllipsoid: {
      const Vector3d stretched = shape.half.cwiseProduct(posed.R_WG.transpose() * direction);
      return posed.p_WG + posed.R_WG * shape.half.cwiseProduct(stretched.normalized());
    }
    case Kind::kHalfSpace:
      break;
  }
  throw std::logic_error("a half-space has no support point");
}

double separation_along(const PosedShape& a, const PosedShape& b, const Vector3d& n) {
  return n.dot(support_core(a, -n) - support_core(b, n));
}

std::optional<ConvexSet> make_convex_set(const Shape& shape) {
  ConvexSet set;
  switch (shape.kind) {
    case Kind::kCapsule:
      return std::nullopt;
    case Kind::kSphere:
      if (!(shape.radius > 0)) return std::nullopt;
      set.curvature.setConstant(1 / (shape.radius * shape.radius));
      set.size = set.radius = shape.radius;
      break;
    case Kind::kEllipsoid:
      set.curvature = shape.half.cwiseAbs2().cwiseInverse();
      set.size = std::cbrt(shape.half.prod());
      set.radius = shape.half.maxCoeff();
      break;
    case Kind::kCylinder:
      set.curvature << 1 / (shape.half.x() * shape.half.x()), 1 / (shape.half.y() * shape.half.y()), 0;
      set.size = shape.half.x();
      set.radius = std::hypot(shape.half.x(), shape.half.z());
      set.planes = {{Vector3d::UnitZ(), shape.half.z()}, {-Vector3d::UnitZ(), shape.half.z()}};
      break;
    case Kind::kBox:
    case Kind::kHull:
      for (const Polytope::Face& face : shape.core.faces) set.planes.push_back({face.normal, face.offset});
      set.vertices = shape.core.vertices;
      for (const Vector3d& v : set.vertices) set.radius = std::max(set.radius, v.norm());
      break;
    case Kind::kHalfSpace:
      set.planes = {{shape.normal, shape.offset}};
      set.bounded = false;
      set.radius = std::numeric_limits<double>::infinity();
      break;
  }
  set.curved = set.curvature.squaredNorm() > 0;
  return set;
}

}  // namespace deft::collision
