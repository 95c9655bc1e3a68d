#pragma once
// Mesh files, through Coal's loader (Assimp) but for PLY and MuJoCo's own.

#include <string>
#include <vector>

#include "deft/multibody/description/shape_spec.hpp"

namespace deft::collision {

/// A surface as plain arrays.
struct TriangleMesh {
  std::vector<double> vertices;  // x y z x y z … [m]
  std::vector<int> triangles;    // triples of vertex indices
};

/// The ending of a mesh file's name, in small letters: ".stl".
std::string mesh_format(const std::string& path);

/// Reads STL, OBJ, DAE, PLY, MSH (MuJoCo's) or what else Assimp knows; the vertices are multiplied by `scale`. @throws
/// std::runtime_error that says what is wrong with the file: missing, unreadable, without triangles, a vertex that is
/// not finite.
TriangleMesh load_triangles(const std::string& path, const Eigen::Vector3d& scale);

/// The same. @throws InputError that names the file.
TriangleMesh read_mesh(const multibody::MeshSpec& spec);

}  // namespace deft::collision
