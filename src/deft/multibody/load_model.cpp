#include "deft/multibody/load_model.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "deft/multibody/description/load_sdf.hpp"
#include "deft/multibody/description/load_urdf.hpp"
#include "deft/multibody/description/xml_reader.hpp"
#include "deft/multibody/mjcf/load_mjcf.hpp"

namespace deft::multibody {

std::optional<ModelSpec> load_model(const std::string& path, const PackageMap& packages, Diagnostics& diagnostics) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".urdf") return load_urdf(path, packages, diagnostics);
  if (extension == ".sdf") return load_sdf(path, packages, diagnostics);
  if (extension == ".mjcf") return load_mjcf(path, diagnostics);
  if (extension != ".xml") {
    diagnostics.error({path, 0, 0},
                      fmt::format("unknown kind of model file '{}'; valid: .urdf, .sdf, .mjcf, .xml", extension));
    return std::nullopt;
  }
  XmlReader xml(path, packages, diagnostics);
  const XMLElement* root = xml.open();
  if (root == nullptr) return std::nullopt;
  const std::string kind = root->Name();
  if (kind == "robot") return load_urdf(path, packages, diagnostics);
  if (kind == "sdf") return load_sdf(path, packages, diagnostics);
  if (kind == "mujoco") return load_mjcf(path, diagnostics);
  xml.error(*root, fmt::format("<{}> is no model; valid: <robot> (URDF), <sdf>, <mujoco> (MJCF)", kind));
  return std::nullopt;
}

}  // namespace deft::multibody
