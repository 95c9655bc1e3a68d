#pragma once
// Mesh files beside an exported model.

#include <span>
#include <string>
#include <vector>

#include "deft/collision/shapes/triangle_mesh.hpp"
#include "deft/multibody/description/model_spec.hpp"

namespace deft::exporters {

/// FOLDER/assets, made with the first file that is put there.
class Assets {
 public:
  explicit Assets(std::string folder) : folder_(std::move(folder)) {}

  /// Writes mesh_N.obj. @returns its name in assets. @throws std::runtime_error naming a file that cannot be written.
  std::string add(const collision::TriangleMesh& mesh);
  std::span<const std::string> files() const { return files_; }  // written, with their folders

 private:
  std::string folder_;
  std::vector<std::string> files_;
};

/// The convex hull with which a mesh or prism collides, in the geometry's frame.
collision::TriangleMesh hull_of(const multibody::GeometrySpec& geometry);

}  // namespace deft::exporters
