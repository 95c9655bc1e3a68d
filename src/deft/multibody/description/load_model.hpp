#pragma once
// Model files → ModelSpec. Everything a file says that deft does not use is warned of once per tag.

#include <optional>
#include <string>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"
#include "deft/multibody/description/package_map.hpp"

namespace deft::multibody {

/// Reads one robot from a URDF file. Problems go to `diagnostics`. @returns nothing after an error.
std::optional<ModelSpec> load_urdf(const std::string& path, const PackageMap& packages, Diagnostics& diagnostics);
/// Reads the one <model> of an SDFormat file (the subset of README.md).
std::optional<ModelSpec> load_sdf(const std::string& path, const PackageMap& packages, Diagnostics& diagnostics);
/// Chooses by extension: .urdf, .sdf (and .xml by its root element). @returns nothing after an error.
std::optional<ModelSpec> load_model(const std::string& path, const PackageMap& packages, Diagnostics& diagnostics);

}  // namespace deft::multibody
