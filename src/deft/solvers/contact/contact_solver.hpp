#pragma once
// The solver of contact programs: a dual active set where it pays, an interior point for the rest.

#include <memory>

#include "deft/solvers/contact/program/contact_program.hpp"
#include "deft/solvers/contact/program/contact_solver_settings.hpp"

namespace deft::solvers::contact {

/// Solves contact programs one after the other. Owns all scratch; sized on first use, no allocation when the sizes
/// repeat (a singular Q costs some in the test of uniqueness). One object per thread.
class ContactSolver {
 public:
  ContactSolver();
  ~ContactSolver();
  ContactSolver(ContactSolver&&) noexcept;
  ContactSolver& operator=(ContactSolver&&) noexcept;

  /// Solves `program`. Warm-starts from the last solution of this object when enabled (`forget` drops it).
  /// @returns status and statistics; `solution` always holds the best iterate. A Solved is not certified here (see
  /// `confirmed`); Infeasible and Unbounded come with a certificate in `ContactSolution::proof` where
  /// `settings.diagnosis` asks for it.
  /// @throws std::invalid_argument on inconsistent sizes, NaN, or where Q is not positive semidefinite and the interior
  /// point is used.
  SolveInfo solve(const ContactProgram& program, const SolverSettings& settings, ContactSolution& solution);
  /// Drops the last solution, so that the next solve starts cold.
  void forget();

 private:
  struct Workspace;
  std::unique_ptr<Workspace> work_;
};

}  // namespace deft::solvers::contact
