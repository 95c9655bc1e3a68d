#include "deft/collision/shapes/triangle_mesh.hpp"

#include <coal/BVH/BVH_model.h>
#include <coal/mesh_loader/loader.h>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "deft/collision/shapes/collada_check.hpp"
#include "deft/collision/shapes/msh_file.hpp"
#include "deft/collision/shapes/painted_mesh.hpp"
#include "deft/collision/shapes/ply_file.hpp"
#include "deft/core/diagnostics.hpp"

namespace deft::collision {

std::string mesh_format(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

namespace {

/// The same with the vertices multiplied by `scale`. @throws std::runtime_error as load_triangles does.
TriangleMesh scaled(TriangleMesh mesh, const Eigen::Vector3d& scale) {
  if (mesh.triangles.empty()) throw std::runtime_error("the mesh has no triangles");
  for (std::size_t k = 0; k < mesh.vertices.size(); ++k) {
    if (!std::isfinite(mesh.vertices[k])) throw std::runtime_error("the mesh has a vertex that is not finite");
    mesh.vertices[k] *= scale(static_cast<Eigen::Index>(k % 3));
  }
  return mesh;
}

TriangleMesh merged(const std::vector<PaintedMesh>& parts) {
  TriangleMesh all;
  for (const PaintedMesh& part : parts) {
    const int first = static_cast<int>(all.vertices.size() / 3);
    all.vertices.insert(all.vertices.end(), part.mesh.vertices.begin(), part.mesh.vertices.end());
    for (const int corner : part.mesh.triangles) all.triangles.push_back(first + corner);
  }
  return all;
}

}  // namespace

TriangleMesh load_triangles(const std::string& path, const Eigen::Vector3d& scale) {
  if (!std::filesystem::is_regular_file(path)) throw std::runtime_error("no such file");
  if (mesh_format(path) == ".msh") return scaled(load_msh(path), scale);
  if (mesh_format(path) == ".ply") return scaled(load_ply(path).mesh, scale);
  if (mesh_format(path) == ".gltf" || mesh_format(path) == ".glb") return merged(load_painted_mesh(path, scale));
  if (mesh_format(path) == ".dae") check_collada(path);
  coal::BVHModelPtr_t model;
  try {
    model = coal::MeshLoader(coal::BV_AABB).load(path, scale);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("the mesh cannot be read: ") + error.what());
  }
  if (!model || !model->vertices || !model->tri_indices || model->num_tris == 0)
    throw std::runtime_error("the mesh has no triangles");
  TriangleMesh mesh;
  for (unsigned v = 0; v < model->num_vertices; ++v) {
    const auto& p = (*model->vertices)[v];
    if (!p.allFinite()) throw std::runtime_error("the mesh has a vertex that is not finite");
    mesh.vertices.insert(mesh.vertices.end(), p.data(), p.data() + 3);
  }
  for (unsigned t = 0; t < model->num_tris; ++t) {
    for (int corner = 0; corner < 3; ++corner)
      mesh.triangles.push_back(static_cast<int>((*model->tri_indices)[t][corner]));
  }
  return mesh;
}

TriangleMesh read_mesh(const multibody::MeshSpec& spec) {
  try {
    return load_triangles(spec.path, spec.scale);
  } catch (const std::runtime_error& error) {
    throw InputError({spec.path, 0, 0}, error.what());
  }
}

}  // namespace deft::collision
