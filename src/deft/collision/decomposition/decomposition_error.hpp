#pragma once
// How well convex parts stand for the mesh that they were made of.

#include <vector>

#include "deft/collision/shapes/triangle_mesh.hpp"

namespace deft::collision {

/// How well parts stand for a mesh.
struct DecompositionError {
  double mesh_volume = 0;   // [m³] that the triangles enclose
  double hull_volume = 0;   // [m³] of the mesh's convex hull
  double parts_volume = 0;  // [m³], the parts' sum: what two of them share counts twice
  double hausdorff = 0;     // [m], of the solids: the farthest that a point of one is from the other
};

/// Compares the mesh with its parts: each part must be convex. The Hausdorff distance max(max over a ∈ mesh of
/// d(a, parts), max over b ∈ parts of d(b, mesh)) is taken over all corners and `samples` points of each surface,
/// evenly by area, so that it is a lower bound; a point inside the other solid is at distance 0 (inside the mesh:
/// winding number above ½). @throws std::runtime_error if the mesh has no hull.
DecompositionError decomposition_error(const TriangleMesh& mesh, const std::vector<TriangleMesh>& parts,
                                       int samples = 2000);

}  // namespace deft::collision
