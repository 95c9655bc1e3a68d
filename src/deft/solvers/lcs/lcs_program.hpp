#pragma once
// Control of a linear complementarity system over a horizon, in plain numbers: system, program, trajectory,
// certificate.
//
//   min  Σ_{k<N} (x_k − x_d,k)ᵀQ(x_k − x_d,k) + u_kᵀR u_k  +  (x_N − x_d,N)ᵀQ_f(x_N − x_d,N)
//   s.t. x_{k+1} = A x_k + B u_k + C γ_{k+1} + F,   x_0 given,
//        0 ≤ γ_{k+1} ⟂ s_{k+1} = D₀x_k + D x_{k+1} + E γ_{k+1} + H u_k + α ≥ 0,
//        x_min ≤ x_{k+1} ≤ x_max,   u_min ≤ u_k ≤ u_max,   γ_{k+1} ≤ γ_max,     k = 0 … N−1.

#include <Eigen/Core>
#include <string>

namespace deft::solvers::lcs {

/// The system: nx states, nu inputs, nγ complementarity pairs per step. Any units.
struct LinearComplementaritySystem {
  Eigen::MatrixXd A, B, C;  // nx × nx, nx × nu, nx × nγ
  Eigen::VectorXd F;        // nx
  Eigen::MatrixXd D0, D;    // nγ × nx, of x_k and of x_{k+1}
  Eigen::MatrixXd E, H;     // nγ × nγ, nγ × nu
  Eigen::VectorXd alpha;    // nγ

  int nx() const { return static_cast<int>(A.rows()); }     // states
  int nu() const { return static_cast<int>(B.cols()); }     // inputs
  int pairs() const { return static_cast<int>(C.cols()); }  // nγ
};

/// The program of this file's head. The cost is that of the head, the term of x_0 included.
struct LcsMpcProgram {
  LinearComplementaritySystem system;  // the same at all steps
  int N = 1;                           // steps of the horizon, ≥ 1
  Eigen::MatrixXd Q, R, Qf;            // nx × nx, nu × nu, nx × nx; symmetric, positive semidefinite
  Eigen::VectorXd x0;                  // nx
  Eigen::MatrixXd x_goal;              // nx × (N+1): x_d,k
  Eigen::VectorXd x_min, x_max;        // nx, or empty; ±infinity: none
  /// Where finite, bounds of this state are soft: a violation e > 0 costs x_price·e, linear, per step. Size nx, or
  /// empty: all hard.
  Eigen::VectorXd x_price;
  Eigen::MatrixXd u_min, u_max;  // nu × N, or empty; ±infinity: none
  Eigen::VectorXd gamma_max;     // nγ, or empty; infinity: none
};

/// A trajectory of the system.
struct LcsTrajectory {
  Eigen::MatrixXd x, u, gamma;  // nx × (N+1), nu × N, nγ × N: column k of gamma is γ_{k+1}
};

/// Residuals of a trajectory, recomputed from the program by code that shares nothing with the solver. Absolute, in the
/// program's units.
struct LcsCertificate {
  double dynamics = 0;         // |x_{k+1} − …|, largest, and |x_0 − x0|
  double primal = 0;           // violation of γ ≥ 0, s ≥ 0 and of hard bounds, largest
  double complementarity = 0;  // min(γ_i, s_i), largest over pairs and steps
  double cost = 0;             // of the trajectory, soft bounds included

  /// The largest of the residuals; infinity if the trajectory is not finite.
  double max() const;
};

/// Checks a program. @throws std::invalid_argument naming the field: sizes that do not fit, entries that are not
/// finite, weights that are not symmetric or have a negative eigenvalue (the program would not be convex for fixed
/// modes, and its cost may have no lower bound), N < 1, a price < 0.
void check(const LcsMpcProgram& program);

/// Recomputes the residuals and the cost of a trajectory. @throws std::invalid_argument on wrong sizes.
LcsCertificate certify(const LcsMpcProgram& program, const LcsTrajectory& point);

}  // namespace deft::solvers::lcs
