#pragma once
// Finds and reads model files for readers of scenes: the interface from `io` to the model readers of `multibody`.

#include <optional>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"
#include "deft/multibody/description/package_map.hpp"

namespace deft::scene {

/// Look-up and reading of model files along the package paths that it keeps.
class ModelFiles {
 public:
  /// @param package_paths  folders searched first;  @param bundled_scenes  what package://deft_scenes names, empty =
  /// nothing.
  ModelFiles(const std::vector<std::string>& package_paths, const std::string& bundled_scenes);

  /// The answer to a look-up.
  struct Place {
    std::string path;                // canonical; empty if not found
    std::vector<std::string> tried;  // every path looked at
  };
  /// The file behind a URI or a path relative to `speaking_file` (PackageMap).
  Place find(const std::string& uri, const std::string& speaking_file) const;
  /// Reads a model file (multibody::load_model). Problems go to `diagnostics`. @returns nothing after an error.
  std::optional<multibody::ModelSpec> load(const std::string& path, Diagnostics& diagnostics) const;
  /// Computes what a model leaves to its geometries (collision::weigh).
  static void weigh(multibody::ModelSpec& model, Diagnostics& diagnostics);

 private:
  multibody::PackageMap packages_;
};

}  // namespace deft::scene
