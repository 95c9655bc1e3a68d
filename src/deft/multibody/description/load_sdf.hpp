#pragma once
// SDFormat files → ModelSpec. Every tag of a file that is not used is warned of once.

#include <optional>
#include <string>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"
#include "deft/multibody/description/package_map.hpp"

namespace deft::multibody {

/// Reads the one `<model>` of an SDFormat file (the elements in README.md). Errors and warnings go to `diagnostics`,
/// all mistakes of the file in one reading. @param packages  finds the mesh files. @returns nothing after an error.
std::optional<ModelSpec> load_sdf(const std::string& path, const PackageMap& packages, Diagnostics& diagnostics);

}  // namespace deft::multibody
