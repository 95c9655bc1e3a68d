#pragma once
// A convex quadratic program over a horizon whose stages are coupled by linear dynamics and by the change of the input:
//
//   min  Σ_{t<T} ½x_tᵀQ_t x_t + q_tᵀx_t + ½u_tᵀS_t u_t + s_tᵀu_t + ½(u_t − u_{t−1})ᵀR_t(u_t − u_{t−1})
//        + ½x_TᵀQ_T x_T + q_Tᵀx_T
//   s.t. x_{t+1} = A_t x_t + B_t u_t + c_t,   x_0, u_{−1} given,
//        lower_t ≤ u_t ≤ upper_t,   |u_t − u_{t−1}| ≤ change_t,   X_t x_t + P_t u_{t−1} + U_t u_t ≤ d_t,

#include <Eigen/Core>
#include <string_view>
#include <vector>

namespace deft::solvers::horizon {

/// Stage t < T, or with t = T what is asked of the last state: there only Q, q, and rows on x_T and u_{T−1} count.
/// Where R, change and P are empty the stage does not know u_{t−1}, and the recursion is in x_t alone.
struct HorizonStage {
  Eigen::MatrixXd A, B;          // nx × nx, nx × nu
  Eigen::VectorXd c;             // size nx
  Eigen::MatrixXd Q;             // nx × nx, symmetric, positive semidefinite
  Eigen::VectorXd q;             // size nx
  Eigen::VectorXd R;             // of changes of the input: diagonal, size nu, ≥ 0; or empty: 0
  Eigen::VectorXd S;             // of the input: diagonal, size nu, ≥ 0; or empty: 0. R + S > 0
  Eigen::VectorXd s;             // size nu; or empty: 0
  Eigen::VectorXd lower, upper;  // of u_t, size nu; infinity: none
  Eigen::VectorXd change;        // > 0, of |u_t − u_{t−1}|, size nu; infinity: none; or empty: none
  Eigen::MatrixXd X, P, U;       // m × nx, m × nu (or empty: 0), m × nu
  Eigen::VectorXd d;             // size m
  /// A finite ρ > 0 makes a row soft: it may be violated by e ≥ 0 at the cost ρe. Infinity: it must hold. Size m.
  Eigen::VectorXd rho;
};

/// The whole program.
struct HorizonQp {
  Eigen::VectorXd x_start, u_before;  // x_0, u_{−1} (its size is nu, even where no stage asks for its value)
  std::vector<HorizonStage> stages;   // T + 1
};

/// kSolved: the certificate is within tolerance. kIterationLimit: no such point was found. kBreakdown: numbers ceased
/// to be finite. kInfeasible: hard rows or bounds contradict each other, and `ray` proves it.
enum class HorizonStatus { kSolved, kIterationLimit, kBreakdown, kInfeasible };
std::string_view name(HorizonStatus status);

/// Where the search begins: with nothing; at what `solution` holds (the multipliers tell which rows bind); or at that,
/// one stage later. What does not fit in size counts as nothing.
enum class HorizonStart { kCold, kSolution, kShifted };

/// How it is solved.
struct HorizonQpOptions {
  double tolerance = 1e-8;  // > 0, of the certificate: gradient, violation and complementarity, relative to their sizes
  int iterations = 60;      // ≥ 1, of the interior point
  HorizonStart start = HorizonStart::kCold;
  bool feedback = true;  // whether the gains are wanted
};

/// The solution, with multipliers in the order of the rows: upper, lower, change upward, change downward (nu each),
/// general. Rows without a bound have the multiplier 0.
struct HorizonSolution {
  HorizonStatus status = HorizonStatus::kIterationLimit;
  std::vector<Eigen::VectorXd> x;           // T + 1
  std::vector<Eigen::VectorXd> u;           // T
  std::vector<Eigen::VectorXd> multiplier;  // T + 1, ≥ 0 (≤ ρ for soft rows); the last stage's: general rows only
  /// kInfeasible: y ≥ 0 on hard rows in the order of the multipliers, yᵀ(d − G z) < 0 for every u. Otherwise 0.
  std::vector<Eigen::VectorXd> ray;
  /// How u_t should answer a deviation of x_t while the same bounds bind: nu × nx each, T.
  std::vector<Eigen::MatrixXd> feedback;
  int iterations = 0;      // Newton steps and those of the interior point
  int factorizations = 0;  // Riccati recursions for matrices, the costly part
  // The certificate (horizon_certificate.hpp), recomputed from the program.
  double gradient = 0;         // largest entry of the Lagrangian's reduced gradient, relative
  double violation = 0;        // of rows and bounds, largest, relative
  double complementarity = 0;  // product of slack and multiplier, largest, relative
};

/// What solve() refuses. @throws std::invalid_argument as it does.
void check(const HorizonQp& qp);

}  // namespace deft::solvers::horizon
