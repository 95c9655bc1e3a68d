// deft._core: what the package `deft` calls.

#include <nanobind/nanobind.h>

#include "batch_bindings.hpp"
#include "deft/core/log.hpp"
#include "errors.hpp"
#include "plan_bindings.hpp"
#include "run_bindings.hpp"
#include "scene_bindings.hpp"
#include "step_bindings.hpp"
#include "yaml_objects.hpp"

NB_MODULE(_core, module) {
  module.attr("__version__") = DEFT_VERSION;
  deft::python::translate_errors();
  deft::python::bind_yaml(module);
  deft::python::bind_scene(module);
  deft::python::bind_steps(module);
  deft::python::bind_batches(module);
  deft::python::bind_runs(module);
  deft::python::bind_plans(module);
}
