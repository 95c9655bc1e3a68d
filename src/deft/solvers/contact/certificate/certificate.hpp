#pragma once
// The judge of a solution: residuals recomputed from the raw program by code that shares nothing with the solvers.

#include <limits>
#include <memory>
#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"
#include "deft/solvers/status.hpp"

namespace deft::solvers::contact {

/// Scaled residuals r_d = ‖·‖_{Q̃⁻¹}/√E0, r_p = max|·|/(w_i √E0), r_c = max|s·f|/E0 (formulation in README.md), and the
/// absolute ones in N, m and J. Smoothed: complementarity is |s·f − 1/κ| (rays) or the cone's ‖s∘f − (2/κ)e‖,
/// and E0 is at least the barrier's own energy 1/κ.
struct Certificate {
  double stationarity = 0.0;
  double primal = 0.0;  // contact, bound, linear and equality rows; also dual cone membership, in the scaled force
  double complementarity = 0.0;
  double stationarity_N = 0.0;
  double primal_m = 0.0;
  double complementarity_J = 0.0;
  double E0_J = 0.0;
  /// How far `proof` is from proving that nothing satisfies the rows: the larger of |Jᵀy|_{Q̃⁻¹} and what y leaves the
  /// dual cone by, over −gᵀy/√E0. Below 1e-8 every motion that satisfies the rows is longer than 1e8 natural ones.
  /// Smoothed also: that no motion has room to spare, those over y's size on rows with a barrier, with gᵀy ≤ 0.
  /// Infinite without a proof of that size.
  double infeasible = std::numeric_limits<double>::infinity();
  /// How far it is from proving that the energy falls for ever: the larger of |Qd|_{Q̃⁻¹} and what d leaves the rows'
  /// recession cone by, over −bᵀd/√E0. Smoothed also over the opening of rows with a barrier, or over |d|_Q̃.
  double unbounded = std::numeric_limits<double>::infinity();
  double max_scaled() const;
};

/// Largest scaled residual of a solution that counts as one.
inline constexpr double kCertified = 1e-8;

/// The status that a solver's claim is worth: Solved and NotUnique become NumericalFailure when the certificate does
/// not confirm them to max(kCertified, tolerance), Infeasible and Unbounded when the proof does not to kCertified.
Status confirmed(Status claimed, const Certificate& certificate, double tolerance = kCertified);

/// The scales w of README.md, one per contact, linear row, equality row and velocity (the row of a bound); 1 where
/// nothing moves the row. In metres (radians) of displacement per √J.
struct RowScales {
  std::vector<double> contacts, linear, equality, bounds;
  double E0_J = 0;  // the energy scale of an exact program
};

/// The judge of programs one after the other: keeps scratch, so that judging does not allocate once it has grown (but
/// proofs of infeasibility and unboundedness do). One object per thread.
class Certifier {
 public:
  Certifier();
  ~Certifier();
  Certifier(Certifier&&) noexcept;
  Certifier& operator=(Certifier&&) noexcept;

  /// @returns the residuals of `solution` for `program`; NaN anywhere in the solution gives infinity, never NaN.
  Certificate certify(const ContactProgram& program, const ContactSolution& solution);
  void row_scales(const ContactProgram& program, RowScales& scales);

 private:
  class Judge;
  std::unique_ptr<Judge> judge_;
};

/// One judgement, and the scales of one program, by a Certifier of their own. Allocate; safe to call from many threads.
Certificate certify(const ContactProgram& program, const ContactSolution& solution);
RowScales row_scales(const ContactProgram& program);

}  // namespace deft::solvers::contact
