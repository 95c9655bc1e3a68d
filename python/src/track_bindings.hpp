#pragma once
// deft.track: plans on plants.

#include <nanobind/nanobind.h>

namespace deft::python {

void bind_tracking(nanobind::module_& module);

}  // namespace deft::python
