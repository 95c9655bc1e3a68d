#pragma once
// Solves quadratic programs over a horizon (horizon_program.hpp) by Newton's method on the active rows and, where that
// does not converge, a primal–dual interior point. Both use Riccati recursions for their linear systems: O(T) per
// iteration. README.md describes the methods.

#include <memory>

#include "deft/solvers/horizon/horizon_program.hpp"

namespace deft::solvers::horizon {

/// Solves programs one after the other and keeps its scratch between them: no allocation when sizes repeat. One object
/// per thread.
class HorizonQpSolver {
 public:
  /// With empty scratch.
  HorizonQpSolver();
  ~HorizonQpSolver();

  /// Solves `qp` into `solution`, which may hold the start (`HorizonQpOptions::start`). The solution is unique in u.
  /// @throws std::invalid_argument as `check`: sizes, crossed bounds, weights that are not positive, infinite numbers,
  /// options out of range.
  void solve(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& solution);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace deft::solvers::horizon
