#pragma once
// Model files of every format → ModelSpec.

#include <optional>
#include <string>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"
#include "deft/multibody/description/package_map.hpp"

namespace deft::multibody {

/// Reads the model of a file; its ending says how: .urdf, .sdf, .mjcf, and .xml by its root element. @param packages
/// finds the mesh files of URDF and SDFormat. @returns nothing after an error.
std::optional<ModelSpec> load_model(const std::string& path, const PackageMap& packages, Diagnostics& diagnostics);

}  // namespace deft::multibody
