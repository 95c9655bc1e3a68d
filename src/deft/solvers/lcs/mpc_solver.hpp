#pragma once
// Solves control over a horizon of a linear complementarity system to proven optimality, by branching on its
// complementarity pairs.

#include <memory>

#include "deft/solvers/lcs/lcs_program.hpp"
#include "deft/solvers/lcs/mpc_settings.hpp"

namespace deft::solvers::lcs {

/// Solves programs one after the other. A program of the same system, weights and bounds as the last, shifted by one
/// step, starts from the last incumbent. One object per thread.
class LcsMpcSolver {
 public:
  /// @param settings  may be changed later, see `settings`.
  explicit LcsMpcSolver(BranchAndBoundSettings settings = {});
  ~LcsMpcSolver();
  LcsMpcSolver(LcsMpcSolver&&) noexcept;
  LcsMpcSolver& operator=(LcsMpcSolver&&) noexcept;

  /// Finds the trajectory of least cost and proves it, unless a limit of the settings ends the search.
  /// @throws std::invalid_argument as check(program). The result is valid until the next call.
  const LcsMpcResult& solve(const LcsMpcProgram& program);
  /// Inputs (nu × N) to try first: the system is simulated with them and the modes that occur are optimised. Used by
  /// the next solve only.
  void suggest(Eigen::MatrixXd u);
  /// Forgets the last solution: the next solve does not start from it.
  void forget();
  /// Those of the next solves.
  BranchAndBoundSettings& settings();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::solvers::lcs
