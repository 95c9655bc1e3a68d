#pragma once
// deft.Batch.

#include <nanobind/nanobind.h>

namespace deft::python {

void bind_batches(nanobind::module_& module);

}  // namespace deft::python
