#include "deft/core/diagnostics.hpp"
#include "deft/plant/drake_plant.hpp"
#include "deft/plant/mujoco_plant.hpp"
#include "deft/plant/step_plant.hpp"
#ifdef DEFT_HAS_MUJOCO
#include "deft/plant/mujoco_library.hpp"
#endif

namespace deft::plant {
namespace {

template <typename Find>
Simulator look_for(const char* name, const Find& find) {
  Simulator simulator{.name = name};
  try {
    find(simulator);
  } catch (const InputError& error) {
    simulator.missing = error.what();
  }
  return simulator;
}

}  // namespace

std::vector<Simulator> find_simulators() {
  return {look_for("mujoco",
                   [](Simulator& simulator) {
#ifdef DEFT_HAS_MUJOCO
                     simulator.version = mujoco().mj_versionString();
                     simulator.place = mujoco().path;
#else
                     simulator.missing = "deft was built without MuJoCo's headers";
#endif
                   }),
          look_for("drake", [](Simulator& simulator) {
            const DrakeInstallation found = find_drake();
            simulator.version = found.version;
            simulator.place = found.python;
          })};
}

std::unique_ptr<Plant> make_plant(PlantKind kind, const scene::Scene& scene, const PlantOptions& options) {
  if (kind == PlantKind::kDrake) return make_drake_plant(scene, options);
  return kind == PlantKind::kMujoco ? make_mujoco_plant(scene, options) : make_step_plant(kind, scene, options);
}

}  // namespace deft::plant
