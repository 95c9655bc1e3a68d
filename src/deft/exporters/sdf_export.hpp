#pragma once
// A scene as SDFormat, alone or with Drake's model directives.

#include <string>

#include "deft/exporters/exported.hpp"
#include "deft/scene/scene.hpp"

namespace deft::exporters {

/// Writes FOLDER/MODEL.sdf for each model (SdfModels) with its meshes in FOLDER/assets, package.xml, which makes the
/// folder the package NAME of the scene, and FOLDER/NAME.deft.yaml: a scene on these models with what SDFormat cannot
/// hold, the start, welds between models, stiffness, friction of pairs.
/// @throws std::runtime_error naming a file that cannot be written.
Exported export_sdf(const scene::Scene& scene, const std::string& folder);

/// The same with Drake's properties, and FOLDER/NAME.dmd.yaml: add_model with the joints at the start, add_weld between
/// models, groups of bodies that do not collide; FOLDER/NAME.plant.yaml, a MultibodyPlantConfig with steps and
/// contacts. @throws as export_sdf.
Exported export_directives(const scene::Scene& scene, const std::string& folder);

}  // namespace deft::exporters
