#pragma once
// deft.LimitSurface.

#include <nanobind/nanobind.h>

namespace deft::python {

void bind_limit_surfaces(nanobind::module_& module);

}  // namespace deft::python
