#pragma once
// MuJoCo's own mesh files.

#include <string>

#include "deft/collision/shapes/triangle_mesh.hpp"

namespace deft::collision {

/// Reads a file of 4-byte numbers, least significant byte first: the counts of vertices, normals, texture coordinates
/// and faces, then three floats per vertex and per normal, two per texture coordinate, three vertex indices per face. A
/// file without faces holds points alone: its `triangles` are empty. @throws std::runtime_error for one of another size
/// than its counts say, and for indices of vertices that are not there.
/// Source: MuJoCo's documentation, "XML reference", mesh.
TriangleMesh load_msh(const std::string& path);

}  // namespace deft::collision
