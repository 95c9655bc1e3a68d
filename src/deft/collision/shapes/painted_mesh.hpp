#pragma once
// Mesh files with their colours, for drawing.

#include <array>
#include <optional>
#include <vector>

#include "deft/collision/shapes/triangle_mesh.hpp"

namespace deft::collision {

/// What of a mesh file has one material.
struct PaintedMesh {
  TriangleMesh mesh;                          // [m]
  std::optional<std::array<double, 4>> rgba;  // sRGB and opacity, each 0 … 1; nothing: the file states no colour
  std::vector<double> colours;                // of each vertex r g b, sRGB 0 … 1; empty: none
};

/// Triangles with vertices multiplied by `scale`, in the frame of load_triangles, one part for each material: diffuse
/// colours of OBJ and COLLADA, base colours of glTF, colours of vertices (PLY). Textures are not read. Source: Assimp's
/// data structures. @throws std::runtime_error that says what is wrong with the file.
std::vector<PaintedMesh> load_painted_mesh(const std::string& path, const Eigen::Vector3d& scale);

/// The same. @throws InputError that names the file.
std::vector<PaintedMesh> read_painted_mesh(const multibody::MeshSpec& spec);

}  // namespace deft::collision
