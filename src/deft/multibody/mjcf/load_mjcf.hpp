#pragma once
// MJCF files (MuJoCo's models) → ModelSpec.

#include <optional>
#include <string>

#include "deft/multibody/description/model_spec.hpp"

namespace deft::multibody {

/// Reads one MJCF file with what it includes (the elements in README.md). Bodies become links in the order of the file,
/// depth first; what stands in the worldbody itself is the link "worldbody". Errors and warnings go to `diagnostics`,
/// all mistakes of the file in one reading. @returns nothing after an error.
std::optional<ModelSpec> load_mjcf(const std::string& path, Diagnostics& diagnostics);

}  // namespace deft::multibody
