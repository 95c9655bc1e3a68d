#pragma once
// deft.simulate and deft.Run.

#include <nanobind/nanobind.h>

namespace deft::python {

void bind_runs(nanobind::module_& module);

}  // namespace deft::python
