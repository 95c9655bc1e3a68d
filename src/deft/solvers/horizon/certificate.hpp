#pragma once
// The certifier of horizon programs: what a solution claims, recomputed from the raw program. Shares no code with the
// solver.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/horizon/horizon_program.hpp"

namespace deft::solvers::horizon {

/// Errors of a claimed solution, each relative to the size of the terms that it is the sum of.
struct HorizonCertificate {
  double dynamics = 0;         // largest entry of A x + B u + c − x⁺, and of x_0 − x_start
  double gradient = 0;         // largest entry of ∇_u (cost + λᵀG z), the states following u, relative to its terms
  double violation = 0;        // of hard rows and bounds: max(0, G z − d), relative to |d| and the terms of G z
  double complementarity = 0;  // λ · slack, soft and violated: (ρ − λ) · excess; relative to row and gradient
  double multiplier = 0;       // how far λ leaves [0, ρ], relative to the gradient's terms over the row
  /// The largest of the five.
  double largest() const;
};

/// Computes certificates. Keeps scratch between calls: no allocation when sizes repeat.
class HorizonCertifier {
 public:
  /// The errors of `solution`. @pre its sizes are those of a solve of `qp`.
  HorizonCertificate certify(const HorizonQp& qp, const HorizonSolution& solution);

  /// Checks the ray y of `solution` by Farkas' lemma. With the reduced gradient r of yᵀG z every u' has
  ///   yᵀ(d − G z') = yᵀ(d − G z) − rᵀ(u' − u),
  /// which would be ≥ 0 if u' fulfilled the hard rows. @returns the share of −yᵀ(d − G z) that rᵀ(u' − u) and an
  /// allowed violation of `tolerance` of every row could make up for (u' within its bounds, or within 1e6 times the
  /// size of u where there is none): below 1 the ray proves that there is no feasible u. Infinity if the ray is
  /// negative, not zero on soft rows, or has yᵀ(d − G z) ≥ 0. @pre as for `certify`.
  double farkas(const HorizonQp& qp, const HorizonSolution& solution, double tolerance);

 private:
  /// A row or bound gᵀz ≤ d of the program.
  struct Row {
    std::size_t stage;
    Eigen::Index place;    // in the stage's multipliers
    double value, d, rho;  // gᵀz, d, ρ
    double size;           // |d| and the terms of gᵀz
    double norm;           // largest |entry of g|
  };
  /// The reduced gradient of the Lagrangian.
  struct Gradient {
    double error = 0;  // its largest entry
    double size = 0;   // the largest term of any entry
  };

  void measure_sizes(const HorizonQp& qp, const HorizonSolution& solution);
  /// The largest relative error of x_0 = x_start and of x⁺ = A x + B u + c.
  double dynamics_error(const HorizonQp& qp, const HorizonSolution& solution);
  /// ∇_u(cost + λᵀG z) of all stages, by the adjoint recursion backwards in time.
  Gradient reduced_gradient(const HorizonQp& qp, const HorizonSolution& solution);
  /// The cost of stage t < T in its input and the change of it: gu_ ← S u + s + R(u − p), gp_ ← −R(u − p). @returns the
  /// largest term.
  double add_input_cost(const HorizonStage& s, const Eigen::VectorXd& u, const Eigen::VectorXd& before);
  /// The largest term of what the next stage adds to the reduced gradient of stage t < T, ru_ = Bᵀv_x and v_p.
  double adjoint_size(const HorizonStage& s, const HorizonStage& next, const Eigen::VectorXd& x_next);
  /// Violation, complementarity and sign of the multiplier of a row; `size` is that of the reduced gradient.
  static void add_row_errors(const Row& row, double multiplier, double size, HorizonCertificate& result);
  /// Visits every row with a bound.
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
