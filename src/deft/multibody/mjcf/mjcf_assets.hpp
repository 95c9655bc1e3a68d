#pragma once
// `<asset>`: meshes and materials of an MJCF file.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deft/multibody/description/model_spec.hpp"
#include "deft/multibody/mjcf/mjcf_compiler.hpp"
#include "deft/multibody/mjcf/mjcf_defaults.hpp"

namespace deft::multibody::mjcf {

/// A mesh as geometries use it: v ↦ X_GM · (what `shape` gives).
struct MeshAsset {
  MeshSpec shape;                                    // a file and its scale, or inline points
  RigidTransform X_GM = RigidTransform::Identity();  // of the file's frame in that of the geometry
  MeshFilling filling = MeshFilling::kCones;         // what of it weighs
  bool shell = false;                                // only its surface weighs
  std::vector<std::array<int, 3>> triangles;         // of inline points
};

/// Another file, whose bodies `<attach>` takes.
struct ModelAsset {
  std::string name;      // empty: that which the file states
  std::string file;      // beside the file that names it
  SourceLocation where;  // of its element
};

/// The assets of one file by name.
struct Assets {
  std::map<std::string, MeshAsset> meshes;               // without those in error
  std::map<std::string, std::array<double, 4>> colours;  // of materials: red, green, blue, opacity, each 0 … 1
  std::vector<ModelAsset> models;                        // file order
};

/// Reads every `<asset>` of the root element. The files of meshes are named here, not opened.
class AssetReader {
 public:
  /// All must outlive this object.
  AssetReader(const Compiler& compiler, const Defaults& defaults, const Values& values)
      : compiler_(compiler), defaults_(defaults), values_(values) {}

  /// Of the main file of a model. @param path  that file.
  Assets read(const Element& root, const std::string& path) const;

 private:
  void read_mesh(const Element& element, const std::string& path, Assets& assets) const;
  void read_material(const Element& element, Assets& assets) const;
  bool place(const Element& element, const Eigen::Vector3d& scale, MeshAsset& mesh) const;
  bool read_points(const Element& element, const Eigen::Vector3d& scale, MeshAsset& mesh) const;
  std::string file_of(const Element& element, const std::string& path) const;

  const Compiler& compiler_;
  const Defaults& defaults_;
  const Values& values_;
};

}  // namespace deft::multibody::mjcf
