#pragma once
// Convex hulls by Qhull's C interface: the one that Coal would call keeps at most 255 neighbours of a vertex and
// refuses larger fans.

#include <Eigen/Core>
#include <array>
#include <vector>

namespace deft::collision {

/// The triangulated surface of a hull.
struct HullSurface {
  std::vector<Eigen::Vector3d> points;        // its vertices
  std::vector<std::array<int, 3>> triangles;  // indices of `points`, oriented either way
};

/// The hull of points that are finite and span space. @throws std::runtime_error with what Qhull says.
HullSurface qhull_surface(const std::vector<Eigen::Vector3d>& points);

}  // namespace deft::collision
