#pragma once
// A concave mesh as a union of convex parts, by CoACD.

#include <vector>

#include "deft/collision/shapes/triangle_mesh.hpp"
#include "deft/multibody/description/shape_spec.hpp"

namespace deft::collision {

/// Convex parts whose union approximates what a mesh encloses, each the surface of a convex hull of at most 64 corners;
/// CoACD cuts where the concavity of a part is above `how.concavity` and merges what hardly grows by it. The seed is
/// fixed. Source: Wei, Liu, Ling, Su: Approximate convex decomposition for 3D meshes with collision-aware concavity and
/// tree search (SIGGRAPH 2022). @throws InputError if CoACD is not there, std::runtime_error if the mesh is flat or
/// nothing comes out.
std::vector<TriangleMesh> convex_parts(const TriangleMesh& mesh, const multibody::DecompositionSpec& how);

}  // namespace deft::collision
