#include "deft/collision/shapes/triangle_mesh.hpp"

#include <coal/BVH/BVH_model.h>
#include <coal/mesh_loader/loader.h>
#include <fmt/core.h>

#include <filesystem>

#include "deft/core/diagnostics.hpp"

namespace deft::collision {

TriangleMesh read_mesh(const multibody::MeshSpec& spec) {
  const SourceLocation where{spec.path, 0, 0};
  if (!std::filesystem::is_regular_file(spec.path)) throw InputError(where, "no such mesh file");
  coal::BVHModelPtr_t model;
  try {
    model = coal::MeshLoader(coal::BV_AABB).load(spec.path, spec.scale);
  } catch (const std::exception& error) {
    throw InputError(where, fmt::format("the mesh cannot be read: {}", error.what()));
  }
  if (!model || !model->vertices || !model->tri_indices || model->num_tris == 0)
    throw InputError(where, "the mesh has no triangles");
  TriangleMesh mesh;
  for (unsigned v = 0; v < model->num_vertices; ++v) {
    for (int axis = 0; axis < 3; ++axis) mesh.vertices.push_back((*model->vertices)[v](axis));
  }
  for (unsigned t = 0; t < model->num_tris; ++t) {
    for (int corner = 0; corner < 3; ++corner)
      mesh.triangles.push_back(static_cast<int>((*model->tri_indices)[t][corner]));
  }
  return mesh;
}

}  // namespace deft::collision
