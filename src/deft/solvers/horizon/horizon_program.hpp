#pragma once
// A convex quadratic program over a horizon whose stages are coupled by linear dynamics and by the change of the input:
//
//   min  Σ_{t<T} ½x_tᵀQ_t x_t + q_tᵀx_t + ½u_tᵀS_t u_t + s_tᵀu_t + ½(u_t − u_{t−1})ᵀR_t(u_t − u_{t−1})
//        + ½x_TᵀQ_T x_T + q_Tᵀx_T
//   s.t. x_{t+1} = A_t x_t + B_t u_t + c_t,   x_0, u_{−1} given,
//        lower_t ≤ u_t ≤ upper_t,   |u_t − u_{t−1}| ≤ change_t,   X_t x_t + P_t u_{t−1} + U_t u_t ≤ d_t   (t < T),
//        X_T x_T + P_T u_{T−1} ≤ d_T.
//
// A general row (one of the last two kinds) may be soft: ≤ d + e with e ≥ 0, at the cost ρe. Below G z ≤ d stands for
// all rows and bounds, z for all states and inputs.

#include <Eigen/Core>
#include <string_view>
#include <vector>

namespace deft::solvers::horizon {

/// Stage t < T, or with t = T what is required of the last state: there only Q, q, X, P, d and rho count. States have
/// size nx, inputs size nu, the stage has m general rows; units are those of the caller. Where R, change and P are
/// empty the stage does not depend on u_{t−1}, and its part of the recursion is in x_t alone.
struct HorizonStage {
  Eigen::MatrixXd A, B;          // nx × nx, nx × nu
  Eigen::VectorXd c;             // size nx
  Eigen::MatrixXd Q;             // nx × nx, symmetric, positive semidefinite
  Eigen::VectorXd q;             // size nx
  Eigen::VectorXd R;             // cost of changes of the input: diagonal, size nu, ≥ 0; or empty: 0
  Eigen::VectorXd S;             // cost of the input: diagonal, size nu, ≥ 0; or empty: 0. R + S > 0
  Eigen::VectorXd s;             // linear cost of the input, size nu; or empty: 0
  Eigen::VectorXd lower, upper;  // bounds of u_t, size nu, lower < upper; infinity: none
  Eigen::VectorXd change;        // bound of |u_t − u_{t−1}|, > 0, size nu; infinity: none; or empty: none
  Eigen::MatrixXd X, P, U;       // of the general rows: m × nx, m × nu (or empty: 0), m × nu
  Eigen::VectorXd d;             // bound of the general rows, size m; infinity: none
  /// A finite ρ > 0 makes a row soft: it may be violated by e ≥ 0 at the cost ρe. Infinity: it must hold. Size m.
  Eigen::VectorXd rho;
};

/// The program of all stages.
struct HorizonQp {
  Eigen::VectorXd x_start, u_before;  // x_0, u_{−1} (its size is nu, even where no stage needs its value)
  std::vector<HorizonStage> stages;   // T + 1
};

/// Outcome of a solve.
enum class HorizonStatus {
  kSolved,          // the certificate is within the tolerance
  kIterationLimit,  // no such point was found
  kBreakdown,       // numbers ceased to be finite
  kInfeasible,      // hard rows or bounds contradict each other, as `HorizonSolution::ray` proves
};
/// "Solved", "IterationLimit", "Breakdown" or "Infeasible".
std::string_view name(HorizonStatus status);

/// Which multipliers the active set begins with; the interior point, where it is needed, begins halfway between the
/// inputs before the horizon and those of the same solution. What does not fit in size counts as unknown.
enum class HorizonStart {
  kCold,      // none: all rows are inactive
  kSolution,  // those that `solution` has before the solve
  kShifted,   // those of `solution` one stage later, for a horizon that has moved on by one stage
};

/// How a program is solved.
struct HorizonQpOptions {
  double tolerance = 1e-8;  // > 0, of the largest error of the certificate; all are relative
  int iterations = 60;      // ≥ 1, limit for the interior point, and for each search for the least violation
  HorizonStart start = HorizonStart::kCold;  // where the active set begins
  bool feedback = true;                      // whether the gains are computed
};

/// What a solve found. Without kSolved x, u and multipliers are those of the last iterate that was written; after
/// kBreakdown u is u_{−1} within the bounds of each stage, x follows from it and may not be finite, and all multipliers
/// are 0. Multipliers stand in the order of the rows: upper, lower, change upward, change downward (nu each), general.
/// Rows without a bound have the multiplier 0.
struct HorizonSolution {
  HorizonStatus status = HorizonStatus::kIterationLimit;  // outcome
  std::vector<Eigen::VectorXd> x;                         // states, T + 1 of size nx
  std::vector<Eigen::VectorXd> u;                         // inputs, T of size nu
  std::vector<Eigen::VectorXd> multiplier;  // T + 1, ≥ 0 (≤ ρ for soft rows); the last stage's: general rows only
  /// With kInfeasible y ≥ 0 on hard rows, in the order of the multipliers, such that yᵀ(d − G z) < 0 whatever the
  /// inputs within their bounds. Otherwise 0.
  std::vector<Eigen::VectorXd> ray;
  /// Gains K_t of u_t for a deviation of x_t while the same rows stay active: T of nu × nx. Written with kSolved, if
  /// `HorizonQpOptions::feedback` is set.
  std::vector<Eigen::MatrixXd> feedback;
  int iterations = 0;      // Newton steps and those of the interior point
  int factorizations = 0;  // Riccati recursions for matrices, the costly part
  // The certificate (HorizonCertificate), recomputed from the program:
  double gradient = 0;         // relative error of the reduced gradient, or of the dynamics if that is larger
  double violation = 0;        // largest relative violation of hard rows and bounds
  double complementarity = 0;  // relative error of complementarity, or of the multipliers' signs if that is larger
};

/// Checks sizes, signs and finite values. @throws std::invalid_argument naming the stage and what is wrong with it.
void check(const HorizonQp& qp);
/// Checks the ranges of the options. @throws std::invalid_argument naming the field and its value.
void check(const HorizonQpOptions& options);

}  // namespace deft::solvers::horizon
