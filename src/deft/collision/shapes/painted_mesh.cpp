#include "deft/collision/shapes/painted_mesh.hpp"

#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <fmt/core.h>

#include <assimp/BaseImporter.h>
#include <algorithm>

#include <assimp/Importer.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>

#include "deft/collision/shapes/collada_check.hpp"
#include "deft/collision/shapes/ply_file.hpp"
#include "deft/core/diagnostics.hpp"

namespace deft::collision {
namespace {

constexpr unsigned kSteps =
    aiProcess_RemoveComponent | aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_SortByPType;
// The page makes its own normals; vertices that differ in these alone are one.
constexpr int kLeftOut = aiComponent_NORMALS | aiComponent_TANGENTS_AND_BITANGENTS | aiComponent_TEXCOORDS |
                         aiComponent_BONEWEIGHTS | aiComponent_ANIMATIONS | aiComponent_TEXTURES | aiComponent_LIGHTS |
                         aiComponent_CAMERAS;

/// Of one channel: glTF states colours in linear light.
double srgb_from_linear(double value) {
  return value <= 0.0031308 ? 12.92 * value : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
}

std::optional<std::array<double, 4>> colour_of(const aiMaterial& material, bool is_linear) {
  aiString name;
  if (material.Get(AI_MATKEY_NAME, name) == aiReturn_SUCCESS && !std::strcmp(name.C_Str(), AI_DEFAULT_MATERIAL_NAME))
    return std::nullopt;
  aiColor4D colour;
  if (material.Get(AI_MATKEY_BASE_COLOR, colour) != aiReturn_SUCCESS &&
      material.Get(AI_MATKEY_COLOR_DIFFUSE, colour) != aiReturn_SUCCESS)
    return std::nullopt;
  float opacity = colour.a;
  if (!is_linear) material.Get(AI_MATKEY_OPACITY, opacity);
  std::array<double, 4> rgba{colour.r, colour.g, colour.b, opacity};
  for (int k = 0; k < 3 && is_linear; ++k) rgba[k] = srgb_from_linear(rgba[k]);
  for (double& value : rgba) {
    if (!(value >= 0 && value <= 1)) return std::nullopt;
  }
  return rgba;
}

/// Parts by material of what a scene's nodes hold, in the order of first use.
class Painter {
 public:
  Painter(const aiScene& scene, const Eigen::Vector3d& scale, bool is_linear)
      : scene_(scene), scale_(scale), is_linear_(is_linear) {}

  /// The transform of the root stays out below it, where Assimp keeps a turn to its own upward axis; Coal's reader of
  /// collision meshes leaves it out too.
  std::vector<PaintedMesh> parts() {
    add(*scene_.mRootNode, scene_.mRootNode->mTransformation);
    for (unsigned k = 0; k < scene_.mRootNode->mNumChildren; ++k) descend(*scene_.mRootNode->mChildren[k], {});
    return std::move(parts_);
  }

 private:
  void descend(const aiNode& node, const aiMatrix4x4& X_parent) {
    const aiMatrix4x4 X = X_parent * node.mTransformation;
    add(node, X);
    for (unsigned k = 0; k < node.mNumChildren; ++k) descend(*node.mChildren[k], X);
  }

  void add(const aiNode& node, const aiMatrix4x4& X) {
    for (unsigned k = 0; k < node.mNumMeshes; ++k) {
      const aiMesh& mesh = *scene_.mMeshes[node.mMeshes[k]];
      if (mesh.mPrimitiveTypes & aiPrimitiveType_TRIANGLE) append(mesh, X);
    }
  }

  void append(const aiMesh& mesh, const aiMatrix4x4& X) {
    PaintedMesh& part = part_of(mesh);
    const int first = static_cast<int>(part.mesh.vertices.size() / 3);
    for (unsigned v = 0; v < mesh.mNumVertices; ++v) {
      const aiVector3D p = X * mesh.mVertices[v];
      part.mesh.vertices.insert(part.mesh.vertices.end(), {scale_.x() * p.x, scale_.y() * p.y, scale_.z() * p.z});
      if (!mesh.HasVertexColors(0)) continue;
      for (const float value : {mesh.mColors[0][v].r, mesh.mColors[0][v].g, mesh.mColors[0][v].b})
        part.colours.push_back(is_linear_ ? srgb_from_linear(value) : value);
    }
    for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
      if (mesh.mFaces[f].mNumIndices != 3) continue;  // points and lines that share a mesh with triangles
      for (int corner = 0; corner < 3; ++corner) {
        if (mesh.mFaces[f].mIndices[corner] >= mesh.mNumVertices) throw std::runtime_error("a face names no vertex");
        part.mesh.triangles.push_back(first + static_cast<int>(mesh.mFaces[f].mIndices[corner]));
      }
    }
  }

  PaintedMesh& part_of(const aiMesh& mesh) {
    const auto [place, is_new] = index_.try_emplace({mesh.mMaterialIndex, mesh.HasVertexColors(0)}, parts_.size());
    if (is_new) {
      parts_.emplace_back();
      parts_.back().rgba = colour_of(*scene_.mMaterials[mesh.mMaterialIndex], is_linear_);
    }
    return parts_[place->second];
  }

  const aiScene& scene_;
  const Eigen::Vector3d scale_;
  const bool is_linear_;
  std::vector<PaintedMesh> parts_;
  std::map<std::pair<unsigned, bool>, std::size_t> index_;
};

/// Those of other endings would take a damaged file for one of theirs: some never come to an end then.
void keep_importers_of(const std::string& format, Assimp::Importer& importer) {
  for (std::size_t k = importer.GetImporterCount(); k-- > 0;) {
    Assimp::BaseImporter* const one = importer.GetImporter(k);
    std::istringstream endings(one->GetInfo()->mFileExtensions);
    bool is_kept = false;
    for (std::string ending; endings >> ending;) is_kept |= "." + ending == format;
    if (is_kept) continue;
    importer.UnregisterLoader(one);
    delete one;  // ours, once it is unregistered
  }
}

}  // namespace

std::vector<PaintedMesh> load_painted_mesh(const std::string& path, const Eigen::Vector3d& scale) {
  const std::string format = mesh_format(path);
  if (format == ".ply") return {{load_triangles(path, scale), std::nullopt, load_ply(path).colours}};
  if (format == ".msh" || format == ".stl") return {{load_triangles(path, scale), std::nullopt, {}}};
  if (!std::filesystem::is_regular_file(path)) throw std::runtime_error("no such file");
  if (format == ".dae") check_collada(path);
  Assimp::Importer importer;
  keep_importers_of(format, importer);
  importer.SetPropertyInteger(AI_CONFIG_PP_RVC_FLAGS, kLeftOut);
  importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_LINE | aiPrimitiveType_POINT);
  const aiScene* const scene = importer.ReadFile(path, kSteps);
  if (!scene || !scene->mRootNode)
    throw std::runtime_error(fmt::format("the mesh cannot be read: {}", importer.GetErrorString()));
  std::vector<PaintedMesh> parts = Painter(*scene, scale, format == ".glb" || format == ".gltf").parts();
  const auto has_triangles = [](const PaintedMesh& part) { return !part.mesh.triangles.empty(); };
  if (std::none_of(parts.begin(), parts.end(), has_triangles)) throw std::runtime_error("the mesh has no triangles");
  for (const PaintedMesh& part : parts)
    for (const double x : part.mesh.vertices)
      if (!std::isfinite(x)) throw std::runtime_error("the mesh has a vertex that is not finite");
  return parts;
}

std::vector<PaintedMesh> read_painted_mesh(const multibody::MeshSpec& spec) {
  try {
    return load_painted_mesh(spec.path, spec.scale);
  } catch (const std::runtime_error& error) {
    throw InputError({spec.path, 0, 0}, error.what());
  }
}

}  // namespace deft::collision
