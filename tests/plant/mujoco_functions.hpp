#pragma once
// Functions of MuJoCo that the library does not call itself: DEFT_OF_MUJOCO(mj_loadXML)(…).

#include <dlfcn.h>

#include "deft/plant/mujoco_library.hpp"

namespace deft::test {

template <typename Function>
Function* of_mujoco(const char* name) {
  void* const library = dlopen(plant::mujoco().path.c_str(), RTLD_NOW);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace deft::test

#define DEFT_OF_MUJOCO(name) deft::test::of_mujoco<decltype(name)>(#name)
