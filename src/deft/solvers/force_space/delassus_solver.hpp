#pragma once
// Solves frictional contact in the space of forces (delassus_program.hpp).

#include <limits>
#include <memory>

#include "deft/solvers/force_space/delassus_program.hpp"
#include "deft/solvers/status.hpp"

namespace deft::solvers::force_space {

/// Settings of DelassusSolver.
struct DelassusSettings {
  double tolerance = 1e-9;     // scaled residuals at the end
  int max_iterations = 20000;  // factorisations of one solve; then IterationLimit
  double time_limit_s = std::numeric_limits<double>::infinity();
};

/// What one solve did.
struct DelassusInfo {
  Status status = Status::kNumericalFailure;
  int iterations = 0;         // factorisations
  int associated_solves = 1;  // of the fixed point
  double solve_us = 0;
};

/// Solves the associated law by Mehrotra's interior point and a semismooth Newton polish on (W + D) dr = …, factored in
/// sparse tiles; Coulomb's law by a fixed point of associated laws, and by Newton's method, Gauss–Seidel sweeps and
/// proximal points where that fails (README.md). One object per thread.
class DelassusSolver {
 public:
  DelassusSolver();
  ~DelassusSolver();
  /// @returns Solved, Infeasible (no u in K* within reach: some r ∈ K has √(rᵀWr) ≤ 1e-8 (−qᵀr)), IterationLimit,
  /// TimeLimit or NumericalFailure; the best iterate in `solution`. @throws std::invalid_argument on wrong sizes or
  /// numbers.
  DelassusInfo solve(const DelassusProgram& program, const DelassusSettings& settings, DelassusSolution& solution);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> work_;
};

}  // namespace deft::solvers::force_space
