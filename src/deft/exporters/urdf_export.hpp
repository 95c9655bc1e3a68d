#pragma once
// A scene as URDF.

#include <string>

#include "deft/exporters/exported.hpp"
#include "deft/scene/scene.hpp"

namespace deft::exporters {

/// Writes FOLDER/MODEL.urdf for each model with its meshes in FOLDER/assets, package.xml, which makes the folder the
/// package NAME of the scene, and FOLDER/NAME.deft.yaml: a scene on these models with what URDF cannot hold, the start,
/// welds between models, gains, friction of pairs. A joint whose frame is not its child's gets a link between; a
/// half-space is a box of 100 m; friction stands in drake:proximity_properties, capsules and ellipsoids are Drake's.
/// @throws InputError for ball joints and for models of several free bodies, which URDF has not; std::runtime_error
/// naming a file that cannot be written.
Exported export_urdf(const scene::Scene& scene, const std::string& folder);

}  // namespace deft::exporters
