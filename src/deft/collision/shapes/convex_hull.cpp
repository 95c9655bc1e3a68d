#include "deft/collision/shapes/convex_hull.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "deft/collision/shapes/qhull.hpp"
#include "deft/collision/shapes/triangle_mesh.hpp"
#include "deft/math/dense.hpp"

namespace deft::collision {
namespace {

using Triangle = std::array<int, 3>;
constexpr double kCoplanar = 1e-7;  // of the extent
constexpr double kFlat = 1e-5;      // of the extent

double extent(const std::vector<Vector3d>& points) {
  Eigen::AlignedBox3d box;
  for (const auto& p : points) box.extend(p);
  return box.diagonal().norm();
}

/// The least width of the points over their principal directions: Qhull is not asked about flat input.
double thickness(const std::vector<Vector3d>& points) {
  Vector3d mean = Vector3d::Zero();
  for (const auto& p : points) mean += p / static_cast<double>(points.size());
  Matrix3d covariance = Matrix3d::Zero();
  for (const auto& p : points) covariance += (p - mean) * (p - mean).transpose();
  const Vector3d n = symmetric_eigen(covariance).vectors.col(0);
  double low = INFINITY, high = -INFINITY;
  for (const auto& p : points) low = std::min(low, n.dot(p)), high = std::max(high, n.dot(p));
  return high - low;
}

/// Triangles of the hull, counter-clockwise from outside.
std::vector<Triangle> outward_triangles(const HullSurface& hull) {
  const std::vector<Vector3d>& hull_points = hull.points;
  Vector3d middle = Vector3d::Zero();
  for (const auto& p : hull_points) middle += p / static_cast<double>(hull_points.size());
  std::vector<Triangle> triangles;
  for (Triangle corners : hull.triangles) {
    const Vector3d normal =
        (hull_points[corners[1]] - hull_points[corners[0]]).cross(hull_points[corners[2]] - hull_points[corners[0]]);
    if (normal.dot(hull_points[corners[0]] - middle) < 0) std::swap(corners[1], corners[2]);
    triangles.push_back(corners);
  }
  return triangles;
}

/// Groups triangles that lie in one plane, the largest first as the seed of each group. @returns the group of each
/// triangle.
std::vector<int> group_coplanar(const std::vector<Vector3d>& points, const std::vector<Triangle>& triangles) {
  const int n = static_cast<int>(triangles.size());
  const double tolerance = kCoplanar * extent(points);
  std::map<std::pair<int, int>, int> owner;  // directed edge → triangle
  std::vector<Vector3d> area(n);
  for (int t = 0; t < n; ++t) {
    const auto& c = triangles[t];
    area[t] = (points[c[1]] - points[c[0]]).cross(points[c[2]] - points[c[0]]);
    for (int k = 0; k < 3; ++k) owner[{c[k], c[(k + 1) % 3]}] = t;
  }
  std::vector<int> order(n), group(n, -1), front;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return area[a].norm() > area[b].norm(); });
  int groups = 0;
  for (const int seed : order) {
    if (group[seed] >= 0) continue;
    const Vector3d normal = area[seed].normalized();
    const double offset = normal.dot(points[triangles[seed][0]]);
    group[seed] = groups;
    front = {seed};
    while (!front.empty()) {
      const auto c = triangles[front.back()];
      front.pop_back();
      for (int k = 0; k < 3; ++k) {
        const auto neighbour = owner.find({c[(k + 1) % 3], c[k]});
        if (neighbour == owner.end() || group[neighbour->second] >= 0) continue;
        const auto& d = triangles[neighbour->second];
        const bool is_coplanar = std::all_of(
            d.begin(), d.end(), [&](int v) { return std::abs(normal.dot(points[v]) - offset) <= tolerance; });
        if (!is_coplanar) continue;
        group[neighbour->second] = groups;
        front.push_back(neighbour->second);
      }
    }
    ++groups;
  }
  return group;
}

/// The outline of each group as a loop of vertices. @throws std::runtime_error if an outline is not one loop.
std::vector<std::vector<int>> trace_outlines(const std::vector<Triangle>& triangles, const std::vector<int>& group) {
  std::map<std::pair<int, int>, int> owner;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) owner[{triangles[t][k], triangles[t][(k + 1) % 3]}] = group[t];
  }
  const int groups = 1 + *std::max_element(group.begin(), group.end());
  std::vector<std::map<int, int>> next(groups);  // of each group: vertex → next vertex of the outline
  for (const auto& [edge, g] : owner) {
    const auto twin = owner.find({edge.second, edge.first});
    if (twin == owner.end()) throw std::runtime_error("its convex hull is not closed");
    if (twin->second != g && !next[g].emplace(edge.first, edge.second).second)
      throw std::runtime_error("a merged facet of its hull touches itself");
  }
  std::vector<std::vector<int>> outlines(groups);
  for (int g = 0; g < groups; ++g) {
    const int start = next[g].begin()->first;
    int v = start;
    do {
      outlines[g].push_back(v);
      v = next[g].at(v);
    } while (v != start && outlines[g].size() <= next[g].size());
    if (outlines[g].size() != next[g].size()) throw std::runtime_error("a merged facet of its hull has a hole");
  }
  return outlines;
}

/// Newell's normal of a nearly flat loop.
Vector3d loop_normal(const std::vector<Vector3d>& points, const std::vector<int>& loop) {
  Vector3d sum = Vector3d::Zero();
  for (std::size_t k = 1; k + 1 < loop.size(); ++k)
    sum += (points[loop[k]] - points[loop[0]]).cross(points[loop[k + 1]] - points[loop[0]]);
  return sum.normalized();
}

}  // namespace

Mesh load_mesh(const std::string& path, const Vector3d& scale) {
  const std::string format = mesh_format(path);
  if (format != ".stl" && format != ".obj" && format != ".dae" && format != ".msh")
    throw std::runtime_error("unknown mesh format '" + format + "'; valid: .stl, .obj, .dae, .msh");
  const TriangleMesh triangles = load_triangles(path, scale);
  const auto vertex = [&](std::size_t v) -> Vector3d { return Eigen::Map<const Vector3d>(&triangles.vertices[3 * v]); };
  Mesh mesh;
  for (std::size_t v = 0; 3 * v < triangles.vertices.size(); ++v) mesh.vertices.push_back(vertex(v));
  if (mesh.vertices.size() < 4) throw std::runtime_error("the mesh holds no solid (fewer than four vertices)");
  for (std::size_t t = 0; t < triangles.triangles.size(); t += 3) {
    const int* c = &triangles.triangles[t];
    mesh.volume += vertex(c[0]).dot(vertex(c[1]).cross(vertex(c[2]))) / 6;
  }
  mesh.volume = std::abs(mesh.volume);
  return mesh;
}

Polytope make_convex_hull(const std::vector<Vector3d>& points) {
  const double size = extent(points);
  if (!(size > 0)) throw std::runtime_error("all points coincide");
  if (thickness(points) < kFlat * size)
    throw std::runtime_error("it is flat: its points have no convex hull of positive volume");
  const HullSurface surface = qhull_surface(points);
  const std::vector<Vector3d>& hull_points = surface.points;
  const std::vector<Triangle> triangles = outward_triangles(surface);
  auto outlines = trace_outlines(triangles, group_coplanar(hull_points, triangles));
  // A true vertex belongs to at least three faces.
  std::vector<int> faces_at(hull_points.size(), 0), renumbered(hull_points.size(), -1);
  for (const auto& loop : outlines) {
    for (const int v : loop) ++faces_at[v];
  }
  Polytope hull;
  for (std::size_t v = 0; v < hull_points.size(); ++v) {
    if (faces_at[v] < 3) continue;
    renumbered[v] = static_cast<int>(hull.vertices.size());
    hull.vertices.push_back(hull_points[v]);
  }
  for (const auto& outline : outlines) {
    std::vector<int> loop;
    for (const int v : outline) {
      if (renumbered[v] >= 0) loop.push_back(renumbered[v]);
    }
    if (loop.size() < 3) throw std::runtime_error("its hull has a facet that is too thin");
    hull.faces.push_back({.normal = loop_normal(hull.vertices, loop),
                          .first = static_cast<int>(hull.corners.size()),
                          .count = static_cast<int>(loop.size())});
    hull.corners.insert(hull.corners.end(), loop.begin(), loop.end());
  }
  connect_edges(hull);
  return hull;
}

double volume(const Polytope& polytope) {
  double six_volumes = 0;
  for (const auto& face : polytope.faces) {
    const Vector3d& a = polytope.vertices[polytope.corners[face.first]];
    for (int k = 1; k + 1 < face.count; ++k) {
      six_volumes += a.dot(polytope.vertices[polytope.corners[face.first + k]].cross(
          polytope.vertices[polytope.corners[face.first + k + 1]]));
    }
  }
  return six_volumes / 6;
}

}  // namespace deft::collision
