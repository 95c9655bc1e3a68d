#pragma once
// Mesh files and their convex hulls (through Coal's loader and Qhull).

#include <string>
#include <vector>

#include "deft/collision/shapes/shape.hpp"

namespace deft::collision {

/// The vertices of a mesh file [m], and the volume that its triangles enclose [m³].
struct Mesh {
  std::vector<Vector3d> vertices;  // as the file lists them, scaled
  double volume = 0;               // |Σ a·(b × c)|/6 over the triangles: the enclosed volume of a closed, oriented mesh
};

/// Reads STL, OBJ or DAE; the vertices are multiplied by `scale`. @throws std::runtime_error that says what is wrong
/// with the file.
Mesh load_mesh(const std::string& path, const Vector3d& scale);

/// The hull of the points with coplanar facets merged into polygons (points within 1e-7 of the extent off a facet's
/// plane belong to it) and without vertices inside faces or on straight edges.
/// @throws std::runtime_error if the points lie in a plane.
Polytope make_convex_hull(const std::vector<Vector3d>& points);

/// Volume of a polytope [m³], by cones from its first vertex to its faces.
double volume(const Polytope& polytope);

}  // namespace deft::collision
