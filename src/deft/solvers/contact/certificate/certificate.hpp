#pragma once
// The certifier of solutions: residuals recomputed from the raw program by code that shares nothing with the solvers.

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
  double stationarity = 0.0;       // r_d [-]: Qδ + b less the forces of all constraints
  double primal = 0.0;             // r_p [-]: contact, bound, linear and equality rows; also by how much the scaled
                                   // multipliers leave their dual cones
  double complementarity = 0.0;    // r_c [-]
  double stationarity_N = 0.0;     // largest entry of the same gradient [N, N·m]
  double primal_m = 0.0;           // largest violation of a row [m, rad]; multipliers are not in it
  double complementarity_J = 0.0;  // largest product s·f, less its target where smoothed [J]
  double E0_J = 0.0;               // the energy scale E0 [J], at least 1e-12
  /// Error of `proof` as a certificate of infeasibility: the larger of |Jᵀy|_{Q̃⁻¹} and the scaled distance of y from
  /// the dual cone, divided by −gᵀy/√E0. Below 1e-8 every motion that satisfies the rows is longer than 1e8 scaled
  /// units. Smoothed, the smaller of this and of the error of a proof that no motion leaves a positive slack behind the
  /// barriers: the largest of the two and gᵀy/√E0, divided by the size of y on rows with a barrier.
  /// Infinite without a proof of that size.
  double infeasible = std::numeric_limits<double>::infinity();
  /// Error of `proof` as a certificate of unboundedness, for the direction d scaled to |d|_Q̃ = 1: the larger of
  /// |Qd|_{Q̃⁻¹} and the scaled distance by which d leaves the recession cone of the rows, divided by −bᵀd/√E0;
  /// smoothed, the largest of the two and bᵀd/√E0. Infinite without a proof of that size.
  double unbounded = std::numeric_limits<double>::infinity();
  /// The largest of stationarity, primal and complementarity [-].
  double max_scaled() const;
};

/// Largest scaled residual of a solution that counts as one.
inline constexpr double kCertified = 1e-8;

/// The status that a solver's claim is worth: Solved and NotUnique become NumericalFailure when the certificate does
/// not confirm them to max(kCertified, tolerance), Infeasible and Unbounded when the proof does not to kCertified.
Status confirmed(Status claimed, const Certificate& certificate, double tolerance = kCertified);

/// The scales w of README.md; 1 where nothing moves the row. In metres (radians) of displacement per √J.
struct RowScales {
  std::vector<double> contacts, linear, equality;  // one per contact, linear row and equality row
  std::vector<double> bounds;                      // one per column of δ, bounded or not; size nv
  double E0_J = 0;                                 // the energy scale of an exact program [J]
};

/// Certifies solutions of programs one after the other: keeps scratch, so that nothing is allocated once it has grown
/// (except for the certificates of infeasibility and unboundedness). One object per thread.
class Certifier {
 public:
  Certifier();
  ~Certifier();
  Certifier(Certifier&&) noexcept;
  Certifier& operator=(Certifier&&) noexcept;

  /// @returns the residuals of `solution` for `program`; NaN or infinity anywhere in the solution, or sizes that do not
  /// fit the program, give infinity, never NaN.
  Certificate certify(const ContactProgram& program, const ContactSolution& solution);
  /// Fills `scales` with the scales of `program`.
  void row_scales(const ContactProgram& program, RowScales& scales);

 private:
  class Residuals;
  std::unique_ptr<Residuals> residuals_;
};

/// Certifier::certify with a Certifier of its own. Allocates; safe to call from many threads.
Certificate certify(const ContactProgram& program, const ContactSolution& solution);
/// Certifier::row_scales with a Certifier of its own. Allocates; safe to call from many threads.
RowScales row_scales(const ContactProgram& program);

}  // namespace deft::solvers::contact
