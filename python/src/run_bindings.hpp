#pragma once
// deft.simulate and deft.Run.

#include <nanobind/nanobind.h>

#include <string>

#include "deft/dynamics/trajectory.hpp"
#include "deft/io/runs/run_folder.hpp"

namespace deft::python {

/// A run: its motion, and the facts that its file keeps.
struct Run {
  io::RunHeader header;
  dynamics::Trajectory motion;
  std::string status, reason;  // empty: as the folder's summary says
  bool complete = false;       // it has ended
};

void bind_runs(nanobind::module_& module);

}  // namespace deft::python
