#include "deft/exporters/assets.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "deft/collision/decomposition/part_files.hpp"
#include "deft/collision/shapes/painted_mesh.hpp"
#include "deft/collision/shapes/shape.hpp"
#include "deft/core/index.hpp"
#include "deft/math/small_dense.hpp"

namespace deft::exporters {

std::string Assets::add(const collision::TriangleMesh& mesh) {
  const std::filesystem::path folder = std::filesystem::path(folder_) / "assets";
  std::filesystem::create_directories(folder);
  const std::string name = "mesh_" + std::to_string(files_.size()) + ".obj";
  collision::write_obj(mesh, folder / name);
  files_.push_back((folder / name).string());
  return name;
}

std::vector<DrawnPart> drawn_parts(const multibody::GeometrySpec& visual, std::vector<std::string>& notes) {
  const auto* const mesh = std::get_if<multibody::MeshSpec>(&visual.shape);
  if (!mesh) return {{visual.name, visual.rgba, std::nullopt}};
  std::vector<DrawnPart> parts;
  try {
    for (collision::PaintedMesh& painted : collision::read_painted_mesh(*mesh))
      parts.push_back({fmt::format("{}_{}", visual.name, parts.size()), visual.rgba ? visual.rgba : painted.rgba,
                       std::move(painted.mesh)});
  } catch (const InputError& error) {
    notes.push_back(fmt::format("'{}' is not drawn: {}", visual.name, error.what()));
  }
  return parts;
}

RigidTransform plane_pose(const multibody::HalfSpaceSpec& half_space) {
  const double length = half_space.normal.norm();
  const Eigen::Vector3d n = half_space.normal / length;
  return make_transform(rotation_between(Eigen::Vector3d::UnitZ(), n), half_space.offset / length * n);
}

multibody::BoxSpec ground_box() { return {{kGroundWidth_m, kGroundWidth_m, kGroundDepth_m}}; }

RigidTransform ground_pose(const multibody::HalfSpaceSpec& half_space) {
  return plane_pose(half_space) *
         make_transform(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -0.5 * kGroundDepth_m));
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
