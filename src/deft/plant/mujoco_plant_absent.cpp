// A build without MuJoCo's headers.
#ifndef DEFT_HAS_MUJOCO
#include "deft/core/diagnostics.hpp"
#include "deft/plant/mujoco_plant.hpp"

namespace deft::plant {

std::unique_ptr<Plant> make_mujoco_plant(const scene::Scene&, const PlantOptions&) {
  throw InputError({},
                   "plant mujoco: deft was built without MuJoCo's headers; install them with 'python -m pip install "
                   "mujoco-core==" DEFT_MUJOCO_VERSION "' in the environment of the build and configure again");
}

}  // namespace deft::plant
#endif
