#pragma once
// Other people's solvers of quadratic programs over a horizon, behind one call, as rival.hpp has it for dense ones.

#include <memory>
#include <string>
#include <vector>

#include "rivals/rival.hpp"

namespace deft::benchmarks {

/// One stage: x⁺ = Ax + Bu + c, cost ½xᵀQx + qᵀx + ½uᵀRu + rᵀu, lower ≤ u ≤ upper, Xx + Uu ≤ d, where a row with a
/// finite ρ may be violated by e ≥ 0 at the cost ρe. Matrices by columns. The first stage has no state (x is known and
/// in c, d); the last has no input.
struct Stage {
  std::vector<double> A, B, c, Q, q, R, r, lower, upper, X, U, d;
  std::vector<double> rho;  // of each row; infinity: it must hold
};

/// min Σ cost over the stages, T + 1 of them.
struct StageProgram {
  int nx = 0, nu = 0;
  std::vector<Stage> stages;
};

/// One solver with one way of using it.
class StageRival {
 public:
  virtual ~StageRival() = default;
  /// What it is called in tables.
  virtual std::string name() const = 0;
  /// From the program's arrays to all inputs in u, size T·nu: everything in between is the solver's time.
  /// @returns whether the solver says that it solved the program.
  virtual bool solve(const StageProgram& program, double* u) = 0;
};

/// HPIPM on the program as it is (a Riccati recursion per iteration), from nothing and from its last solution.
DEFT_RIVALS_API std::vector<std::unique_ptr<StageRival>> make_stage_rivals();

}  // namespace deft::benchmarks
