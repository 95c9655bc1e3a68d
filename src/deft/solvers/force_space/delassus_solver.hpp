#pragma once
// Solves frictional contact in the space of forces (delassus_program.hpp).

#include <limits>
#include <memory>

#include "deft/solvers/force_space/delassus_program.hpp"
#include "deft/solvers/status.hpp"

namespace deft::solvers::force_space {

/// Settings of DelassusSolver.
struct DelassusSettings {
  double tolerance = 1e-9;     // > 0; scaled residuals at the end.
  int max_iterations = 20000;  // > 0; factorisations of one solve; then IterationLimit
  double time_limit_s = std::numeric_limits<double>::infinity();  // ≥ 0 [s]; then TimeLimit
};

/// What one solve did.
struct DelassusInfo {
  Status status = Status::kNumericalFailure;  // how it ended
  int iterations = 0;                         // factorisations, and other work counted as such
  int associated_solves = 1;                  // Coulomb's law: associated laws solved by the fixed point
  double solve_us = 0;                        // wall time [µs]
};

/// Solves the associated law by Mehrotra's interior point and a semismooth Newton polish on (W + D) dr = …, factored in
/// sparse tiles; Coulomb's law by a fixed point of associated laws, and by Newton's method, Gauss–Seidel sweeps and
/// proximal points where that fails (README.md). One object per thread.
class DelassusSolver {
 public:
  DelassusSolver();
  ~DelassusSolver();
  /// Solves `program`; leaves the best iterate in `solution`.
  /// @returns Solved, Infeasible (no u in K* within reach: some r ∈ K has √(rᵀWr) ≤ 1e-8 (−qᵀr), for Coulomb's law of
  /// normal forces alone), IterationLimit, TimeLimit or NumericalFailure.
  /// @throws std::invalid_argument on wrong sizes or numbers, see check(const DelassusProgram&).
  DelassusInfo solve(const DelassusProgram& program, const DelassusSettings& settings, DelassusSolution& solution);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> work_;
};

}  // namespace deft::solvers::force_space
