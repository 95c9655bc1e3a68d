#pragma once
// MuJoCo as a plant.

#include <memory>

#include "deft/plant/plant.hpp"

namespace deft::plant {

/// An independent simulator to check plans with: soft convex contact, implicit in springs and dampers, its own
/// collision detection, the model built from the scene (README.md: how, and with what contact settings). Its contact
/// points are those of its own geometry.
/// @throws InputError for what MuJoCo cannot simulate, named, and with how to install it if the library is not there,
/// or if deft was built without its headers.
std::unique_ptr<Plant> make_mujoco_plant(const scene::Scene& scene, const PlantOptions& options);

}  // namespace deft::plant
