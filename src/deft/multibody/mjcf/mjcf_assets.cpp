#include "deft/multibody/mjcf/mjcf_assets.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "deft/multibody/description/inline_points.hpp"

namespace deft::multibody::mjcf {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
namespace fs = std::filesystem;

constexpr std::size_t kMostNumbers = 30'000'000;  // in one attribute

std::string folder_of(const std::string& path, const std::string& folder) {
  return (fs::path(path).parent_path() / folder).lexically_normal().string();
}

}  // namespace

Assets AssetReader::read(const Element& root, const std::string& path) const {
  Assets assets;
  root.for_each("asset", [&](const Element& asset) {
    for (const Element& element : asset.children) {
      if (element.tag == "mesh") read_mesh(defaults_.resolved(element, "", values_), path, assets);
      if (element.tag == "material") read_material(defaults_.resolved(element, "", values_), assets);
      if (element.tag == "model")
        assets.models.push_back(
            {values_.text(element, "name"), folder_of(path, values_.required(element, "file")), element.where});
    }
  });
  return assets;
}

void AssetReader::read_material(const Element& element, Assets& assets) const {
  const std::string name = values_.required(element, "name");
  assets.colours[name] = values_.colour(element).value_or(std::array<double, 4>{1, 1, 1, 1});
}

/// Beside the main file, in the folder that the compiler names.
std::string AssetReader::file_of(const Element& element, const std::string& path) const {
  const fs::path file = values_.required(element, "file");
  if (compiler_.strip_path) return folder_of(path, (fs::path(compiler_.mesh_folder) / file.filename()).string());
  return folder_of(path, (fs::path(compiler_.mesh_folder) / file).string());
}

void AssetReader::read_mesh(const Element& element, const std::string& path, Assets& assets) const {
  MeshAsset mesh;
  const std::string file = values_.text(element, "file");
  const std::string name = values_.text(element, "name", fs::path(file).stem().string());
  if (name.empty()) return values_.error(element, "<mesh> needs the attribute 'name' or 'file'");
  if (element.find("builtin") != nullptr)
    return values_.error(element, fmt::format("mesh '{}': builtin shapes are not read; valid: file, vertex", name));
  const Vector3d scale = values_.vector(element, "scale", Vector3d::Ones());
  const int inertia = values_.keyword(element, "inertia", {"legacy", "convex", "exact", "shell"}, 0);
  mesh.filling = inertia == 1 ? MeshFilling::kHull : inertia == 2 ? MeshFilling::kEnclosed : MeshFilling::kCones;
  mesh.shell = inertia == 3;
  const bool has_points = element.find("vertex") != nullptr;
  if (has_points ? !read_points(element, scale, mesh) : !place(element, scale, mesh)) return;
  if (!has_points) mesh.shape.path = file_of(element, path);
  if (!assets.meshes.emplace(name, std::move(mesh)).second)
    values_.error(element, fmt::format("a second mesh '{}'", name));
}

/// Of a file: refpos is taken away, then refquat, then the scale multiplies.
bool AssetReader::place(const Element& element, const Vector3d& scale, MeshAsset& mesh) const {
  const Vector3d origin = values_.vector(element, "refpos", Vector3d::Zero());
  const auto quat = values_.numbers(element, "refquat", 4, 4);
  const Matrix3d R = quat ? Matrix3d(rotation_from_quat_wxyz(Eigen::Vector4d(quat->data()))) : Matrix3d::Identity();
  mesh.shape.scale = scale;
  mesh.X_GM = make_transform(R.transpose(), scale.asDiagonal() * (R.transpose() * -origin));
  if (R.isIdentity(0) || (scale.x() == scale.y() && scale.x() == scale.z())) return true;
  values_.error(element, "<mesh>: refquat beside a scale that differs by axis is not read");
  return false;
}

bool AssetReader::read_points(const Element& element, const Vector3d& scale, MeshAsset& mesh) const {
  const auto vertices = values_.numbers(element, "vertex", 12, kMostNumbers);
  if (!vertices) return false;
  if (vertices->size() % 3 != 0) {
    values_.error(element, fmt::format("<mesh>: vertex has {} numbers; three per point expected", vertices->size()));
    return false;
  }
  if (!place(element, Vector3d::Ones(), mesh)) return false;
  std::vector<Vector3d> points;
  for (std::size_t i = 0; i < vertices->size(); i += 3)
    points.push_back(scale.asDiagonal() * (mesh.X_GM * Vector3d(vertices->data() + i)));
  mesh.X_GM.setIdentity();
  mesh.shape = MeshSpec{inline_points(points)};
  const auto faces = values_.numbers(element, "face", 3, kMostNumbers);
  if (!faces) return true;
  for (std::size_t i = 0; i + 2 < faces->size(); i += 3) {
    std::array<int, 3> triangle{};
    for (int k = 0; k < 3; ++k) {
      const double index = (*faces)[i + k];
      if (!(index >= 0 && index < static_cast<double>(points.size()))) {
        values_.error(element, fmt::format("<mesh>: face names the vertex {}; there are {}", index, points.size()));
        return false;
      }
      triangle[k] = static_cast<int>(index);
    }
    mesh.triangles.push_back(triangle);
  }
  return true;
}

}  // namespace deft::multibody::mjcf
