#pragma once
// Drake as a plant.

#include <memory>
#include <string>

#include "deft/plant/plant.hpp"

namespace deft::plant {

/// A second independent simulator to check plans with: Drake's discrete contact (its lagged approximation), its own
/// collision detection, the model built from the scene (README.md: how), in a Python process that this one starts.
/// @throws InputError for what Drake cannot simulate, named, and with how to install it if it is not there.
std::unique_ptr<Plant> make_drake_plant(const scene::Scene& scene, const PlantOptions& options);

/// An interpreter that has Drake, and its version.
struct DrakeInstallation {
  std::string python, version;  // path or name; of the package
};
/// The interpreter that DEFT_DRAKE_PYTHON names, and no other if it is set; else the first that has Drake of the
/// environment of benchmarks (.venv-bench beside the sources) and `python3`. @throws InputError with the line that
/// installs Drake if there is none.
std::string find_drake_python();
/// The same with Drake's version, which takes as long as loading it does. @throws InputError likewise.
DrakeInstallation find_drake();

}  // namespace deft::plant
