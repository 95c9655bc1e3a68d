#pragma once
// Of all multipliers that balance a given motion: those of least norm, which do not depend on the solver.

#include <memory>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::solvers::contact {

/// The selection for programs one after the other: it starts from where the last one ended and keeps scratch, so that a
/// warm one does not allocate. One object per thread.
class LeastNorm {
 public:
  LeastNorm();
  ~LeastNorm();
  LeastNorm(LeastNorm&&) noexcept;
  LeastNorm& operator=(LeastNorm&&) noexcept;

  /// Replaces the multipliers of an exact solution by those of least Σ w_i²|λ_i|², the limit of compliance R_i = r
  /// w_i², r → 0⁺: λ are the rays' β, a cone's (f_n, f_t/(μe)), the multipliers of bounds and linear rows; w_i are the
  /// scales of row_scales. The motion stays. Smoothed programs and contacts with compliance have only one set of
  /// multipliers, which stays too.
  /// @returns whether the selection succeeded and the certificate confirms it; if not, `solution` is as it was. Rays:
  /// exact. Cones: to rounding, unless the only possible forces lie on the boundary of a sticking cone.
  /// @throws std::invalid_argument if `solution` does not belong to `program`.
  bool select(const ContactProgram& program, ContactSolution& solution);
  /// Forgets where the last selection ended: the next one starts from zero.
  void forget();

 private:
  class Selection;
  std::unique_ptr<Selection> selection_;
};

/// One selection, LeastNorm::select. Allocates; safe to call from many threads.
bool select_least_norm(const ContactProgram& program, ContactSolution& solution);

}  // namespace deft::solvers::contact
