#pragma once
// The solver of the small, strictly convex programs in which an optimal face is searched.

#include <functional>

#include "deft/solvers/contact/program/contact_program.hpp"
#include "deft/solvers/contact/program/contact_solver_settings.hpp"

namespace deft::solvers::contact {

/// Solves a contact program with Q ≻ 0 and returns its status. The interior point gets one from its owner, which
/// has all methods (usually the active set solves these programs), and so depends on no solver above it.
using InnerSolver =
    std::function<Status(const ContactProgram& program, const SolverSettings& settings, ContactSolution& solution)>;

}  // namespace deft::solvers::contact
