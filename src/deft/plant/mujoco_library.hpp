#pragma once
// MuJoCo's C interface, loaded when it is asked for. Internal to the module: includes MuJoCo's headers.

#include <mujoco/mujoco.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace deft::plant {

/// What MuJoCo reports through its error handler, as an exception: it never ends the process.
class MujocoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The functions that the module calls, with the types of the headers, so that signatures cannot drift.
struct MujocoLibrary {
#define DEFT_MUJOCO_FUNCTIONS(X)                                                                                      \
  X(mj_version) X(mj_versionString) X(mju_setLogHandler) X(mju_error) X(mj_makeSpec) X(mj_deleteSpec) X(mj_compile)   \
  X(mjs_getError) X(mjs_findBody) X(mjs_addBody) X(mjs_addFreeJoint) X(mjs_addJoint) X(mjs_addGeom) X(mjs_addMesh)    \
  X(mjs_addPair) X(mjs_addEquality) X(mjs_addActuator) X(mjs_setName) X(mjs_setString) X(mjs_setFloat)                \
  X(mj_deleteModel) X(mj_makeData) X(mj_deleteData) X(mj_resetData) X(mj_name2id) X(mj_step1) X(mj_step2) X(mj_mulM)  \
  X(mj_contactForce) X(mj_objectVelocity)
#define DEFT_MUJOCO_POINTER(name) decltype(&::name) name = nullptr;
  DEFT_MUJOCO_FUNCTIONS(DEFT_MUJOCO_POINTER)
#undef DEFT_MUJOCO_POINTER
  /// Of the file that was loaded.
  std::string path;
};

/// The library: loaded at the first call and kept. Looked for where the environment variable DEFT_MUJOCO_LIBRARY says,
/// and nowhere else if it is set; else by its name, where the loader looks: the run path of deft, which names the
/// folder in which the build found it or beside which the package is installed, and the system's folders. Its errors
/// become MujocoError.
/// @throws InputError with what was tried and how to install it if it is not there or not the version of the headers.
const MujocoLibrary& mujoco();

/// Loads one file. @throws InputError as above.
MujocoLibrary load_mujoco(const std::string& path);

/// Frees a specification by MuJoCo's own function, because MuJoCo allocated it.
struct SpecDeleter {
  void operator()(mjSpec* spec) const { mujoco().mj_deleteSpec(spec); }  // for std::unique_ptr
};
/// The same for models.
struct ModelDeleter {
  void operator()(mjModel* model) const { mujoco().mj_deleteModel(model); }  // for std::unique_ptr
};
/// The same for simulations.
struct DataDeleter {
  void operator()(mjData* data) const { mujoco().mj_deleteData(data); }  // for std::unique_ptr
};
using SpecPointer = std::unique_ptr<mjSpec, SpecDeleter>;     // owns what mj_makeSpec returns
using ModelPointer = std::unique_ptr<mjModel, ModelDeleter>;  // owns what mj_compile returns
using DataPointer = std::unique_ptr<mjData, DataDeleter>;     // owns what mj_makeData returns

}  // namespace deft::plant
