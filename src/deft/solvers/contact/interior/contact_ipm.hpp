#pragma once
// Primal–dual interior point for the contact program: exact and smoothed, pyramid and cone, one code. It is called by
// ContactSolver.

#include <memory>

#include "deft/solvers/contact/interior/inner_solver.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"
#include "deft/solvers/contact/program/contact_solver_settings.hpp"

namespace deft::solvers::contact {

class WarmMemory;

/// Owns all scratch; sized on first use, no allocation when the sizes repeat (except with a singular Q and for
/// certificates). One object per thread.
class ContactIpm {
 public:
  /// @param inner  solves the programs of optimal faces, where Q is singular.
  explicit ContactIpm(InnerSolver inner);
  ~ContactIpm();

  /// Solves a checked `program`, from the solution in `memory` if it is valid for it, and stores its own there (or
  /// clears it).
  /// @returns status and iterations; `solution` always holds the best iterate.
  /// @throws std::invalid_argument if Q is not positive semidefinite.
  SolveInfo solve(const ContactProgram& program, const SolverSettings& settings, WarmMemory& memory,
                  ContactSolution& solution);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> work_;
};

}  // namespace deft::solvers::contact
