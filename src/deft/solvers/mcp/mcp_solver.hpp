#pragma once
// Nonlinear mixed complementarity problems: find z with
//
//   F_i(z) = 0 for free i,   0 ≤ z_i ⟂ F_i(z) ≥ 0 for all others,
//
// by a semismooth Newton method with fallbacks (README.md). Source: T. De Luca, F. Facchinei, C. Kanzow, Math. Program.
// 75 (1996).

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "deft/solvers/mcp/mcp_function.hpp"
#include "deft/solvers/mcp/mcp_settings.hpp"

namespace deft::solvers::mcp {

/// Solves problems one after the other; keeps scratch. One object per thread. A solve by the plain method of repeated
/// size does not allocate (dense problems).
class McpSolver {
 public:
  /// Settings are checked by `solve`.
  explicit McpSolver(McpSettings settings = {});
  ~McpSolver();
  McpSolver(McpSolver&&) noexcept;
  McpSolver& operator=(McpSolver&&) noexcept;

  /// From `start` (size entries in the problem's units; complementary ones may be negative, and are moved to 0). The
  /// result is valid until the next call. @throws std::invalid_argument for wrong sizes, scales that are not positive,
  /// entries of `start` that are not finite, and settings out of range.
  const McpResult& solve(McpFunction& function, std::span<const double> start);
  /// May be changed between solves.
  McpSettings& settings();

  /// Implicit derivatives at a solution: with ∂F/∂p as columns of `dF` (size × parameters) writes ∂z/∂p into `dz`.
  /// Pairs with z_i > F_i (scaled) keep F_i = 0, the others z_i = 0. `nonsmooth` (may be null) is set where a pair has
  /// both z_i and F_i below `biactive` (scaled): the derivative is then one-sided. With `determined` (size entries) a
  /// singular system is solved, too, if it has solutions: entries of z with determined = 0 (a contact point of bodies
  /// apart, one of two redundant multipliers) have one of many derivatives, all others their own.
  /// @returns false if F is not defined at z, or if the system is singular and has no solution or none is wanted.
  /// @throws std::invalid_argument for wrong sizes of z and dF.
  bool sensitivity(McpFunction& function, std::span<const double> z, const Eigen::MatrixXd& dF, Eigen::MatrixXd& dz,
                   bool* nonsmooth = nullptr, double biactive = 1e-8, std::vector<char>* determined = nullptr);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::solvers::mcp
