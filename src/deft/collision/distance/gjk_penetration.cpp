#include <algorithm>
#include <cmath>

#include "deft/collision/distance/gjk.hpp"

namespace deft::collision {
namespace {

constexpr int kMaxVertices = 256;
constexpr int kMaxFaces = 2 * kMaxVertices;  // of a closed polytope of triangles: 2 vertices − 4
constexpr int kMaxEdges = 3 * kMaxVertices;  // of these 3 vertices − 6
constexpr double kConverged = 1e-5;          // of the sizes: between s(n) and its bound
constexpr double kGlobal = 1e-4;             // what still counts as near the optimum when the polytope cannot grow
constexpr double kSlack = 1e-12;             // of the sizes: a face sees only what is farther than this over its plane,
constexpr double kRounding = 2e-15;          // and farther than rounding may tilt it

struct Face {
  std::array<int, 3> v;
  Vector3d normal;    // outward
  double height = 0;  // of its plane over the origin
  double sees = 0;    // what is higher over the origin than this
};

/// A growing convex polytope around the origin.
struct Hull {
  using Edge = std::array<int, 2>;

  std::array<Vector3d, kMaxVertices> vertices;
  std::array<Face, kMaxFaces> faces;
  std::array<Edge, kMaxEdges> horizon;
  int vertex_count = 0, face_count = 0;
  double slack = 0, rounding = 0;  // [m], [m²]

  bool add_face(int i, int j, int k) {
    if (face_count == kMaxFaces) return false;
    Face face{.v = {i, j, k}, .normal = (vertices[j] - vertices[i]).cross(vertices[k] - vertices[i])};
    const double length = face.normal.norm();
    if (!(length > 0)) return false;
    face.normal /= length;
    face.height = face.normal.dot(vertices[i]);
    const double longest = std::max(
        {(vertices[j] - vertices[i]).norm(), (vertices[k] - vertices[i]).norm(), (vertices[k] - vertices[j]).norm()});
    face.sees = face.height + slack + rounding * longest / length;
    faces[face_count++] = face;
    return true;
  }

  /// Whether the first `count` edges of the horizon are one closed line that meets no corner twice. Sorts them along
  /// it.
  bool is_horizon_closed(int count) {
    for (int k = 1; k < count; ++k) {
      const auto is_met = [&](const Edge& edge) { return edge[0] == horizon[k - 1][0]; };
      if (std::any_of(horizon.begin() + k, horizon.begin() + count, is_met)) return false;
      const auto next = std::find_if(horizon.begin() + k, horizon.begin() + count,
                                     [&](const Edge& edge) { return edge[0] == horizon[k - 1][1]; });
      if (next == horizon.begin() + count) return false;
      std::swap(horizon[k], *next);
    }
    return count > 2 && horizon[count - 1][1] == horizon[0][0];
  }

  /// Replaces the faces that see w by a fan from w to their outline. @returns false without room for it, or if
  /// rounding has torn the outline.
  bool grow(const Vector3d& w) {
    if (vertex_count == kMaxVertices) return false;
    int edges = 0;
    for (int f = 0; f < face_count;) {
      // What lies in a face's plane does so to rounding: without the slack, faces at random would go.
      if (faces[f].normal.dot(w) <= faces[f].sees) {
        ++f;
        continue;
      }
      for (int k = 0; k < 3; ++k) {
        // An edge of two removed faces is inside the outline: it is met twice, in opposite senses.
        const Edge edge = {faces[f].v[k], faces[f].v[(k + 1) % 3]}, twin = {edge[1], edge[0]};
        const auto met = std::find(horizon.begin(), horizon.begin() + edges, twin);
        if (met != horizon.begin() + edges) {
          *met = horizon[--edges];
        } else if (edges < kMaxEdges) {
          horizon[edges++] = edge;
        } else {
          return false;
        }
      }
      faces[f] = faces[--face_count];
    }
    if (!is_horizon_closed(edges)) return false;
    vertices[vertex_count++] = w;
    for (int e = 0; e < edges; ++e) {
      if (!add_face(horizon[e][0], horizon[e][1], vertex_count - 1)) return false;
    }
    return true;
  }
};

Vector3d support_difference(const PosedShape& a, const PosedShape& b, const Vector3d& direction) {
  return support_core(a, direction) - support_core(b, -direction);
}

/// Completes a point, segment or triangle through the origin to a tetrahedron of the difference. @returns false if it
/// is flat.
bool complete_simplex(const PosedShape& a, const PosedShape& b, int corners, std::array<Vector3d, kMaxVertices>& w) {
  const double flat = 1e-10 * (a.shape->bounding_radius + b.shape->bounding_radius);
  // Tries directions until one leads away from the span of the corners so far.
  const auto extend = [&](std::initializer_list<Vector3d> directions, auto distance) {
    for (const Vector3d& direction : directions) {
      for (const double sign : {1.0, -1.0}) {
        w[corners] = support_difference(a, b, sign * direction);
        if (distance(w[corners]) <= flat) continue;
        ++corners;
        return;
      }
    }
  };
  if (corners == 1)
    extend({Vector3d::UnitX(), Vector3d::UnitY(), Vector3d::UnitZ()},
           [&](const Vector3d& x) { return (x - w[0]).norm(); });
  if (corners == 2) {
    const Vector3d along = (w[1] - w[0]).normalized();
    extend({along.cross(Vector3d::UnitX()), along.cross(Vector3d::UnitY()), along.cross(Vector3d::UnitZ())},
           [&](const Vector3d& x) { return along.cross(x - w[0]).norm(); });
  }
  if (corners == 3) {
    const Vector3d normal = (w[1] - w[0]).cross(w[2] - w[0]).normalized();
    extend({normal}, [&](const Vector3d& x) { return std::abs(normal.dot(x - w[0])); });
  }
  return corners == 4;
}

}  // namespace

std::optional<PenetrationGuess> guess_penetration(const PosedShape& a, const PosedShape& b, const GjkResult& gjk) {
  if (gjk.disjoint || gjk.corners == 0) return std::nullopt;
  const double size = a.shape->bounding_radius + b.shape->bounding_radius;
  Hull hull;
  hull.slack = kSlack * size;
  hull.rounding = kRounding * size * (size + a.centre_W().norm() + b.centre_W().norm());
  hull.vertex_count = 4;
  std::copy(gjk.simplex.begin(), gjk.simplex.begin() + gjk.corners, hull.vertices.begin());
  if (!complete_simplex(a, b, gjk.corners, hull.vertices)) return std::nullopt;
  const double volume = (hull.vertices[1] - hull.vertices[0])
                            .cross(hull.vertices[2] - hull.vertices[0])
                            .dot(hull.vertices[3] - hull.vertices[0]);
  if (volume > 0) std::swap(hull.vertices[1], hull.vertices[2]);
  constexpr int kFaces[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
  for (const auto& f : kFaces) {
    if (!hull.add_face(f[0], f[1], f[2])) return std::nullopt;
  }
  while (true) {
    const auto nearest = std::min_element(hull.faces.begin(), hull.faces.begin() + hull.face_count,
                                          [](const Face& p, const Face& q) { return p.height < q.height; });
    const Vector3d normal = nearest->normal;
    const Vector3d w = support_difference(a, b, normal);
    const double excess = normal.dot(w) - nearest->height;
    const PenetrationGuess guess{.n = -normal, .upper_bound = -nearest->height, .is_global = excess <= kGlobal * size};
    if (excess <= kConverged * size || !hull.grow(w)) return guess;
  }
}

}  // namespace deft::collision
