#pragma once

#include <vector>

#include "deft/multibody/description/shape_spec.hpp"

namespace deft::collision {

/// A surface as plain arrays: vertices x y z x y z … [m], triangles as triples of vertex indices.
struct TriangleMesh {
  std::vector<double> vertices;
  std::vector<int> triangles;
};

/// Reads a mesh file (STL, OBJ, DAE), scaled. @throws InputError naming the file when it is missing, unreadable or
/// empty.
TriangleMesh read_mesh(const multibody::MeshSpec& spec);

}  // namespace deft::collision
