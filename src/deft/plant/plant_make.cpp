#include "deft/plant/drake_plant.hpp"
#include "deft/plant/mujoco_plant.hpp"
#include "deft/plant/step_plant.hpp"

namespace deft::plant {

std::unique_ptr<Plant> make_plant(PlantKind kind, const scene::Scene& scene, const PlantOptions& options) {
  if (kind == PlantKind::kDrake) return make_drake_plant(scene, options);
  return kind == PlantKind::kMujoco ? make_mujoco_plant(scene, options) : make_step_plant(kind, scene, options);
}

}  // namespace deft::plant
