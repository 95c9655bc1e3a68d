#pragma once
// What commands report as JSON: deft.check and deft.solve.

#include <nanobind/nanobind.h>

namespace deft::python {

void bind_reports(nanobind::module_& module);

}  // namespace deft::python
