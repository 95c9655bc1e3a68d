#pragma once
// deft.plan.

#include <nanobind/nanobind.h>

namespace deft::python {

void bind_plans(nanobind::module_& module);

}  // namespace deft::python
