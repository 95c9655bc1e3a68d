#pragma once
// A convex quadratic program over a horizon whose stages are coupled by linear dynamics and by the change of the input:
//
//   min  Σ_{t<T} ½x_tᵀQ_t x_t + q_tᵀx_t + ½(u_t − u_{t−1})ᵀR_t(u_t − u_{t−1})  +  ½x_TᵀQ_T x_T + q_Tᵀx_T
//   s.t. x_{t+1} = A_t x_t + B_t u_t + c_t,   x_0, u_{−1} given,
//        lower_t ≤ u_t ≤ upper_t,   |u_t − u_{t−1}| ≤ change_t,   X_t x_t + P_t u_{t−1} + U_t u_t ≤ d_t,
//
// by a primal–dual interior point whose Newton steps are Riccati recursions: O(T) per iteration.

#include <Eigen/Core>
#include <memory>
#include <string_view>
#include <vector>

namespace deft::solvers {

/// Stage t < T, or with t = T what is asked of the last state: there only Q, q, and rows on x_T and u_{T−1} count.
struct HorizonStage {
  Eigen::MatrixXd A, B;          // nx × nx, nx × nu
  Eigen::VectorXd c;             // size nx
  Eigen::MatrixXd Q;             // nx × nx, symmetric, positive semidefinite
  Eigen::VectorXd q;             // size nx
  Eigen::VectorXd R;             // diagonal, size nu, > 0
  Eigen::VectorXd lower, upper;  // of u_t, size nu; infinity: none
  Eigen::VectorXd change;        // > 0, of |u_t − u_{t−1}|, size nu; infinity: none
  Eigen::MatrixXd X, P, U;       // m × nx, m × nu, m × nu
  Eigen::VectorXd d;             // size m
  /// A finite ρ > 0 makes a row soft: it may be violated by e ≥ 0 at the cost ρe. Infinity: it must hold. Size m.
  Eigen::VectorXd rho;
};

/// The whole program.
struct HorizonQp {
  Eigen::VectorXd x_start, u_before;  // x_0, u_{−1}
  std::vector<HorizonStage> stages;   // T + 1
};

/// kIterationLimit: no point within tolerance was found; programs whose hard rows contradict each other end so, or as
/// kBreakdown, when a factorisation failed.
enum class HorizonStatus { kSolved, kIterationLimit, kBreakdown };
std::string_view name(HorizonStatus status);

/// How it is solved.
struct HorizonQpOptions {
  double tolerance = 1e-8;  // > 0, of the gradient, the rows and the complementarity, relative to their sizes
  int iterations = 60;      // ≥ 1
};

/// The solution, with multipliers in the order of the rows: upper, lower, change upward, change downward (nu each),
/// general. Rows without a bound have the multiplier 0.
struct HorizonSolution {
  HorizonStatus status = HorizonStatus::kIterationLimit;
  std::vector<Eigen::VectorXd> x;           // T + 1
  std::vector<Eigen::VectorXd> u;           // T
  std::vector<Eigen::VectorXd> multiplier;  // T + 1, ≥ 0 (≤ ρ for soft rows); the last stage's: general rows only
  /// How u_t should answer a deviation of x_t while the same bounds bind: nu × nx each, T.
  std::vector<Eigen::MatrixXd> feedback;
  int iterations = 0;
  double gradient = 0;         // largest entry of the Lagrangian's reduced gradient, relative
  double violation = 0;        // of rows and bounds, largest, relative
  double complementarity = 0;  // mean product of slack and multiplier, relative
};

/// Solves programs one after the other and keeps its scratch between them.
class HorizonQpSolver {
 public:
  HorizonQpSolver();
  ~HorizonQpSolver();

  /// Solves `qp`. The solution is unique in u. @throws std::invalid_argument naming the stage and what is wrong with it:
  /// sizes, crossed bounds, weights that are not positive.
  void solve(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& solution);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace deft::solvers
