#pragma once

#include <span>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/scene/scene.hpp"

namespace deft::scene {

/// The external wrenches of a scene on bodies of its model. Errors: unknown bodies, bodies that cannot move, bodies of
/// frozen objects, times in the wrong order.
std::vector<Wrench> resolve_wrenches(std::span<const WrenchSpec> specs, const multibody::Model& model,
                                     std::span<const Object> objects, Diagnostics& diagnostics);

}  // namespace deft::scene
