#pragma once
// Solves quadratic programs over a horizon (horizon_program.hpp) by Newton steps on the rows that bind and, where these
// do not settle, a primal–dual interior point. Both take Riccati recursions for their linear systems: O(T) per
// iteration. README.md tells the method.

#include <memory>

#include "deft/solvers/horizon/horizon_program.hpp"

namespace deft::solvers::horizon {

/// Solves programs one after the other and keeps its scratch between them: no allocation when sizes repeat.
class HorizonQpSolver {
 public:
  HorizonQpSolver();
  ~HorizonQpSolver();

  /// Solves `qp`; `solution` may hold the start. The solution is unique in u. @throws std::invalid_argument naming the
  /// stage and what is wrong with it: sizes, crossed bounds, weights that are not positive, infinite numbers.
  void solve(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& solution);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace deft::solvers::horizon
