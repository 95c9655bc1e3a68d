#include "deft/plant/simulators.hpp"

#include "deft/core/diagnostics.hpp"
#include "deft/plant/drake_plant.hpp"
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

}  // namespace deft::plant
