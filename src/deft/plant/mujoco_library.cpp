#ifdef DEFT_HAS_MUJOCO
#include "deft/plant/mujoco_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>

#include "deft/core/diagnostics.hpp"
#include "deft/core/log.hpp"

namespace deft::plant {
namespace {

constexpr const char* kFile = "libmujoco.so." DEFT_MUJOCO_VERSION;
constexpr const char* kInstall =
    "install it with 'python -m pip install mujoco-core==" DEFT_MUJOCO_VERSION
    "' beside deft, or set DEFT_MUJOCO_LIBRARY to the file libmujoco.so." DEFT_MUJOCO_VERSION;

/// MuJoCo's handler of all its messages; errors leave it as exceptions, through MuJoCo's frames.
void handle(const mjLogMessage* message) {
  if (message->level >= mjLOG_ERROR)
    throw MujocoError(fmt::format("MuJoCo: {}{}{}", message->subject, message->body != nullptr ? ": " : "",
                                  message->body != nullptr ? message->body : ""));
  if (message->level == mjLOG_WARNING) log::debug(fmt::format("MuJoCo: {}", message->subject));
}

MujocoLibrary find_mujoco() {
  const char* const named = std::getenv("DEFT_MUJOCO_LIBRARY");
  if (named != nullptr && *named != '\0') return load_mujoco(named);
  return load_mujoco(kFile);  // the loader looks in our run path, too
}

}  // namespace

MujocoLibrary load_mujoco(const std::string& path) {
  void* const handle_of_file = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_of_file == nullptr)
    throw InputError({}, fmt::format("plant mujoco: MuJoCo's library is not there ({}); {}", dlerror(), kInstall));
  MujocoLibrary library;
  link_map* place = nullptr;
  library.path = dlinfo(handle_of_file, RTLD_DI_LINKMAP, &place) == 0 ? place->l_name : path;
  const auto find = [&](const char* name) {
    void* const function = dlsym(handle_of_file, name);
    if (function == nullptr)
      throw InputError({}, fmt::format("plant mujoco: '{}' has no function {}; {}", path, name, kInstall));
    return function;
  };
#define DEFT_MUJOCO_FIND(name) library.name = reinterpret_cast<decltype(library.name)>(find(#name));
  DEFT_MUJOCO_FUNCTIONS(DEFT_MUJOCO_FIND)
#undef DEFT_MUJOCO_FIND
  // Its structures are read as the headers lay them out.
  if (library.mj_version() != mjVERSION_HEADER)
    throw InputError({}, fmt::format("plant mujoco: '{}' is version {}, this build needs " DEFT_MUJOCO_VERSION "; {}",
                                     path, library.mj_versionString(), kInstall));
  library.mju_setLogHandler(&handle);
  return library;
}

const MujocoLibrary& mujoco() {
  static const MujocoLibrary library = find_mujoco();
  return library;
}

}  // namespace deft::plant
#endif
