#pragma once
// What C++ throws, as the exceptions of the package.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <optional>
#include <span>
#include <string>

#include "deft/core/diagnostics.hpp"
#include "deft/solvers/status.hpp"

namespace deft::python {

namespace nb = nanobind;

/// Errors and warnings as a list of deft.Diagnostic.
nb::list diagnostics_list(std::span<const Diagnostic> diagnostics);
/// The member of deft.Status.
nb::object status_of(solvers::Status status);
/// Raises deft.SolveError.
[[noreturn]] void raise_solve_error(const std::string& text, std::optional<solvers::Status> status = {},
                                    double residual = std::numeric_limits<double>::quiet_NaN());
/// Raises deft.InputError for InputError, with its diagnostics; std::invalid_argument is a ValueError already.
void translate_errors();
/// Looks for Ctrl-C and raises it. Any thread of the interpreter's may call it; takes the lock.
void raise_interrupts();

}  // namespace deft::python
