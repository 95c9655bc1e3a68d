#pragma once

#include <vector>

#include "deft/multibody/description/shape_spec.hpp"

namespace deft::collision {

/// A surface as plain arrays.
struct TriangleMesh {
  std::vector<double> vertices;  // x y z x y z … [m]
  std::vector<int> triangles;    // triples of vertex indices
};

/// Reads a mesh file (STL, OBJ, DAE), scaled. @throws InputError naming the file when it is missing, unreadable or
/// empty.
TriangleMesh read_mesh(const multibody::MeshSpec& spec);

}  // namespace deft::collision
