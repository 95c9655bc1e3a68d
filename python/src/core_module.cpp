// deft._core: what the package `deft` calls.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdio>

#include "batch_bindings.hpp"
#include "deft/core/process.hpp"
#include "deft/core/resources.hpp"
#include "deft/core/version.hpp"
#include "errors.hpp"
#include "goal_bindings.hpp"
#include "interrupt.hpp"
#include "limit_surface_bindings.hpp"
#include "plan_bindings.hpp"
#include "program.hpp"
#include "report_bindings.hpp"
#include "run_bindings.hpp"
#include "scene_bindings.hpp"
#include "step_bindings.hpp"
#include "track_bindings.hpp"
#include "yaml_objects.hpp"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  module.attr("version") = deft::version();
  module.def(
      "main",
      [](const std::vector<std::string>& arguments) {
        std::vector<std::string> words{"deft"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        const nb::gil_scoped_release unlocked;
        const int code = deft::cli::run(static_cast<int>(words.size()), argv.data());
        deft::cli::forget_interrupts();
        std::fflush(nullptr);
        return code;
      },
      nb::arg("arguments"));
  module.def("resource", &deft::resource, nb::arg("place"));
  module.def("set_interpreter", &deft::set_interpreter, nb::arg("path"));
  deft::python::translate_errors();
  deft::python::bind_yaml(module);
  deft::python::bind_scene(module);
  deft::python::bind_steps(module);
  deft::python::bind_batches(module);
  deft::python::bind_runs(module);
  deft::python::bind_goals(module);
  deft::python::bind_plans(module);
  deft::python::bind_tracking(module);
  deft::python::bind_limit_surfaces(module);
  deft::python::bind_reports(module);
}
