#pragma once
// The last digits of a solution. Private to src/deft/solvers.

#include <array>
#include <vector>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/derivative/sensitivity.hpp"
#include "deft/solvers/contact/derivative/sensitivity_terms.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::solvers::contact {

/// Newton's method on the optimality conditions of a solved program, with the active rows of its solution. The matrix
/// is that of `Sensitivity`, in double precision; the residuals
///
///   Qδ + b − Σ Jᵀf − m,   held rows E s,   sliding cones s_n − ‖diag(μe) s_t‖,   barriers f = f(s), m = m(δ),
///
/// are summed in extended precision: with large multipliers (nearly jammed bodies) and with sharp barriers they cancel
/// to less than the rounding of their terms, where a solver in double precision must stop. Keeps its scratch; one
/// object per thread.
class Refinement {
 public:
  /// @returns whether `solution` now has the digits of its own numbers. It is untouched otherwise: at a nonsmooth
  /// point, with compliance, linear rows or equalities, and where the active rows do not hold.
  bool refine(const ContactProgram& program, ContactSolution& solution);

 private:
  using Real = long double;
  using Rows = std::array<Real, 4>;

  void start(const ContactProgram& program, const ContactSolution& solution);
  void measure_rows(const ContactProgram& program);
  /// Forces and residuals of the rows that belong to δ. @returns false outside a barrier.
  bool apply_laws(const ContactProgram& program);
  bool apply_rays(const ContactProgram& program, int contact, double* beta);
  bool apply_cone(const ContactProgram& program, int contact);
  bool apply_bounds(const ContactProgram& program);
  void measure_gradient(const ContactProgram& program);
  /// One step of Newton's method. @returns its length, scaled.
  double step(const ContactProgram& program, double energy_J);
  /// The trial's numbers in double precision, with its slacks and multipliers.
  void store(const ContactProgram& program);
  void store_rays(const ContactProgram& program, int contact, const char* held, double* beta, double* slack);

  Sensitivity sensitivity_;
  SensitivityTerms terms_;
  Certifier certifier_;
  ContactSolution trial_;
  ProgramChange change_;
  SolutionChange moved_;
  std::vector<Real> delta_, gradient_, bound_;
  std::vector<Rows> s_, force_;  // per contact
};

}  // namespace deft::solvers::contact
