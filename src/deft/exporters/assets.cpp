#include "deft/exporters/assets.hpp"

#include <filesystem>

#include "deft/collision/decomposition/part_files.hpp"
#include "deft/collision/shapes/shape.hpp"
#include "deft/core/index.hpp"

namespace deft::exporters {

std::string Assets::add(const collision::TriangleMesh& mesh) {
  const std::filesystem::path folder = std::filesystem::path(folder_) / "assets";
  std::filesystem::create_directories(folder);
  const std::string name = "mesh_" + std::to_string(files_.size()) + ".obj";
  collision::write_obj(mesh, folder / name);
  files_.push_back((folder / name).string());
  return name;
}

collision::TriangleMesh hull_of(const multibody::GeometrySpec& geometry) {
  collision::GeometryInfo info;
  Diagnostics repeated;  // what it warns of was said when the scene was built
  const collision::Polytope hull =
      collision::build_shape({geometry.name, 0, geometry.X_LG, geometry.shape, geometry.where}, info, repeated).core;
  collision::TriangleMesh mesh;
  for (const Eigen::Vector3d& p : hull.vertices) mesh.vertices.insert(mesh.vertices.end(), p.begin(), p.end());
  for (const collision::Polytope::Face& face : hull.faces)
    for (int k = 1; k + 1 < face.count; ++k)
      for (const int corner : {0, k, k + 1}) mesh.triangles.push_back(hull.corners[to_size(face.first + corner)]);
  return mesh;
}

}  // namespace deft::exporters
