#pragma once
// The Stanford format of polygons, read by ourselves: Assimp's reader does not survive damaged files.

#include <string>
#include <vector>

#include "deft/collision/shapes/triangle_mesh.hpp"

namespace deft::collision {

/// Vertices x y z and faces of a PLY file.
struct PlyMesh {
  TriangleMesh mesh;            // polygons as fans of triangles, in the unit of the file
  std::vector<double> colours;  // red green blue of each vertex, 0 … 1; empty: none
};

/// Reads text and both binary forms, version 1.0; other elements and properties are passed over.
/// Source: G. Turk, The PLY Polygon File Format (1994). @throws std::runtime_error that says what is wrong: no file, a
/// header that cannot be understood, data that end too early, a face that names no vertex.
PlyMesh load_ply(const std::string& path);

}  // namespace deft::collision
