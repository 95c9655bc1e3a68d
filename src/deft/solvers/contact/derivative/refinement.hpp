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
///   Qδ + b − Σ Jᵀf − m,   active rows E s,   sliding cones s_n − ‖diag(μe) s_t‖,   barriers f = f(s), m = m(δ),
///
/// are summed in extended precision: with large multipliers (nearly jammed bodies) and with sharp barriers they cancel
/// to less than the rounding of their terms, where a solver in double precision must stop. Keeps its scratch; one
/// object per thread.
class Refinement {
 public:
  /// Refines a solution of a checked `program` in place. @returns whether it was accepted: then `solution` is exact to
  /// the rounding of its own numbers. It is untouched otherwise: if its certificate is above kCertified, at a nonsmooth
  /// point, with compliance, linear rows or equalities, where the steps do not contract, and where the certificate
  /// becomes worse.
  bool refine(const ContactProgram& program, ContactSolution& solution);

 private:
  using Real = long double;
  using Rows = std::array<Real, 4>;

  /// Takes the solution as the first trial.
  void start(const ContactProgram& program, const ContactSolution& solution);
  /// s = φe₁ + Jδ + (0, o) of all contacts.
  void measure_rows(const ContactProgram& program);
  /// The forces and the residuals of rows that δ implies. @returns false if δ is outside a barrier.
  bool apply_laws(const ContactProgram& program);
  bool apply_rays(const ContactProgram& program, int contact, double* beta);
  bool apply_cone(const ContactProgram& program, int contact);
  bool apply_bounds(const ContactProgram& program);
  /// Qδ + b − Σ Jᵀf − m, with m the forces of barriers: of an active bound the gradient is the multiplier.
  void measure_gradient(const ContactProgram& program);
  /// One step of Newton's method. @returns its length in the metric Q̃ over √E0.
  double step(const ContactProgram& program, double energy_J);
  /// Rounds the trial to double precision, with its slacks and multipliers.
  void store(const ContactProgram& program);
  /// The multipliers of rays that make up the force: the smallest change of those they had (barriers: relative to
  /// them). `active`, `beta` and `slack` are those of the contact's rays.
  void store_rays(const ContactProgram& program, int contact, const char* active, double* beta, double* slack);

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
