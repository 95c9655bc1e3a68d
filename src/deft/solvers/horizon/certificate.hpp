#pragma once
// The judge of horizon programs: what a solution claims, recomputed from the raw program. Shares no code with the
// solver.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/horizon/horizon_program.hpp"

namespace deft::solvers::horizon {

/// Errors of a claimed solution, each relative to the size of what it is made of.
struct HorizonCertificate {
  double dynamics = 0;         // largest entry of A x + B u + c − x⁺, and of x_0 − x_start
  double gradient = 0;         // largest entry of ∇_u (cost + λᵀG z), the states following u, relative to its terms
  double violation = 0;        // of hard rows and bounds: max(0, G z − d), relative to |d| and the terms of G z
  double complementarity = 0;  // λ · slack, soft and violated: (ρ − λ) · excess; relative to row and gradient
  double multiplier = 0;       // how far λ leaves [0, ρ], relative to the gradient's terms over the row
  double largest() const;
};

/// Keeps scratch between calls: no allocation when sizes repeat.
class HorizonCertifier {
 public:
  /// @pre sizes of `solution` are those of a solve of `qp`.
  HorizonCertificate certify(const HorizonQp& qp, const HorizonSolution& solution);

  /// Farkas' lemma.  With the reduced gradient r of yᵀG z every u' has  yᵀ(d − G z') = yᵀ(d − G z) − rᵀ(u' − u),  which
  /// would be ≥ 0 if u' fulfilled the hard rows. @returns the share of −yᵀ(d − G z) that rᵀ(u' − u) and an allowed
  /// violation of `tolerance` of every row could make up for (u' within its bounds, or within 1e6 times the
  /// size of u where there is none): below 1 the ray proves that there is no feasible u. Infinity if it proves nothing.
  double farkas(const HorizonQp& qp, const HorizonSolution& solution, double tolerance);

 private:
  void measure_sizes(const HorizonQp& qp, const HorizonSolution& solution);
  /// Visits every row with a bound: (stage, position in the stage's multipliers, G z, d, ρ, size of its terms, |g|).
  template <class Visit>
  void for_each_row(const HorizonQp& qp, const HorizonSolution& solution, Visit visit) const;
  /// Gradients of yᵀG z by (x, p, u) at stage t, added.
  void add_rows(const HorizonQp& qp, std::size_t t, const Eigen::VectorXd& y);

  Eigen::VectorXd x_size_, u_size_;        // largest value of each entry over the horizon
  Eigen::VectorXd gx_, gp_, gu_;           // of a stage
  Eigen::VectorXd vx_, vp_, vx_old_, ru_;  // adjoints
  Eigen::VectorXd term_;
};

}  // namespace deft::solvers::horizon
