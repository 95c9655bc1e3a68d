#pragma once
// Frictional contact in the space of forces: u = W r + q with W = J M⁻¹ Jᵀ, the form in which collections of contact problems are published.
//
//   associated:  K* ∋ u ⟂ r ∈ K            (the convex step's law; minimises ½ rᵀWr + qᵀr over K)
//   Coulomb:     K* ∋ u + μ‖u_t‖ n ⟂ r ∈ K (no separation while sliding; De Saxcé and Feng, Math. Comput. Modelling 28 (1998))
//
// K is the product of the friction cones ‖r_t‖ ≤ μ r_n, K* that of ‖u_t‖ ≤ u_n/μ.

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <limits>
#include <memory>
#include <vector>

#include "deft/solvers/status.hpp"

namespace deft::solvers {

/// Whether sliding contacts separate (the convex model) or not.
enum class SlidingLaw { kAssociated, kCoulomb };

/// One problem. Local order of each contact: n, t (, o).
struct DelassusProgram {
  int dim = 3;                    // 2 or 3 rows per contact
  Eigen::SparseMatrix<double> W;  // symmetric positive semidefinite, size dim × contacts [1/kg, or m/N]
  Eigen::VectorXd q;              // free relative velocities [m/s], or gaps and displacements [m]
  std::vector<double> mu;         // per contact, ≥ 0
  SlidingLaw law = SlidingLaw::kAssociated;
};

/// Forces and relative velocities, flat in local order.
struct DelassusSolution {
  Eigen::VectorXd r, u;
};

/// Residuals recomputed from the raw program: u − (Wr + q) in its own units; how far û = u (+ μ‖u_t‖n) and r are outside their cones and from
/// complementarity, scaled by w_i = √(tr W_ii/dim) and E0 = max_i |q_i|²/w_i² (at least 1e-12): |·|/(w√E0), |·|w/√E0, |û·r|/E0.
struct DelassusCertificate {
  double stationarity = 0, primal = 0, dual = 0, complementarity = 0;
  double stationarity_abs = 0, primal_abs = 0, complementarity_abs = 0;
  double max_scaled() const;
};

/// Settings of DelassusSolver.
struct DelassusSettings {
  double tolerance = 1e-9;   // scaled residuals at the end
  int max_iterations = 200;  // of the associated problems of one solve, together; then IterationLimit
  double time_limit_s = std::numeric_limits<double>::infinity();
};

/// What one solve did.
struct DelassusInfo {
  Status status = Status::kNumericalFailure;
  int iterations = 0;        // factorisations
  int associated_solves = 1;  // of the fixed point
  double solve_us = 0;
};

/// Solves the associated law by Mehrotra's interior point and a semismooth Newton polish on (W + D) dr = …, factored in sparse tiles; Coulomb's law by
/// the fixed point of s = μ‖u_t‖ in the associated problem with q_n + s, warm-started, extrapolated where it creeps. One object per thread.
class DelassusSolver {
 public:
  DelassusSolver();
  ~DelassusSolver();
  /// @returns Solved, Infeasible (no u in K* within reach: some r ∈ K has √(rᵀWr) ≤ 1e-8 (−qᵀr)), IterationLimit, TimeLimit or NumericalFailure; the best
  /// iterate in `solution`. @throws std::invalid_argument on wrong sizes or numbers.
  DelassusInfo solve(const DelassusProgram& program, const DelassusSettings& settings, DelassusSolution& solution);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> work_;
};

/// The residuals of `solution`; shares no code with the solver. @throws std::invalid_argument on wrong sizes.
DelassusCertificate certify(const DelassusProgram& program, const DelassusSolution& solution);

}  // namespace deft::solvers
