#include "report_bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "check_json.hpp"
#include "deft/io/problems/problem_file.hpp"
#include "interrupt.hpp"
#include "solve_report.hpp"

namespace deft::python {
namespace {

namespace nb = nanobind;
using nb::literals::operator""_a;

/// Ctrl-C ends the solve at hand, as that of the command line.
struct Interruptible {
  Interruptible() { cli::catch_interrupts(); }
  ~Interruptible() { cli::forget_interrupts(); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

std::string solve(const std::string& text, const std::string& name, std::optional<double> tolerance,
                  std::optional<double> time_limit_s, const std::string& solver, const std::string& uniqueness,
                  const std::string& forces, int threads, bool in_main_thread) {
  std::string result;
  bool is_interrupted = false;
  {
    const nb::gil_scoped_release unlocked;
    const io::ProblemFile problem = io::parse_problem(text, name);
    std::optional<Interruptible> caught;
    if (in_main_thread) caught.emplace();
    result = cli::solve_json(name, problem,
                             {.output = {.quiet = true},
                              .solver = solver,
                              .uniqueness = uniqueness,
                              .forces = forces,
                              .tolerance = tolerance,
                              .time_limit_s = time_limit_s,
                              .threads = threads});
    is_interrupted = in_main_thread && cli::interrupted();
  }
  if (is_interrupted) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
  return result;
}

std::string check(const std::string& scene, const std::vector<std::string>& package_paths) {
  const nb::gil_scoped_release unlocked;
  return cli::check_json(scene, package_paths);
}

}  // namespace

void bind_reports(nb::module_& module) {
  module.def("check", &check, "scene"_a, "package_paths"_a);
  module.def("solve", &solve, "text"_a, "name"_a, "tolerance"_a.none(), "time_limit_s"_a.none(), "solver"_a,
             "uniqueness"_a, "forces"_a, "threads"_a, "in_main_thread"_a);
}

}  // namespace deft::python
