#pragma once
// Interior point for nonlinear complementarity problems: complementarity relaxed to y_i s_i = κ, κ → 0. Internal to
// solvers. Source: S. J. Wright, "Primal-Dual Interior-Point Methods" (1997), infeasible path following, here without
// convexity.

#include <vector>

#include "deft/solvers/mcp/linear_system.hpp"
#include "deft/solvers/mcp/scaled_mcp.hpp"
#include "deft/solvers/mcp/semismooth_newton.hpp"

namespace deft::solvers::mcp {

/// Follows f_i = 0 (free), f_i − s_i = 0, y_i s_i = κ, y, s > 0 (others), all scaled. With s eliminated each step is
/// one system (diag(s) + diag(y) ∂f/∂y) dy = κ − y f, the damped form of it where it is singular.
class McpInteriorPoint {
 public:
  /// From y (size of the problem), moved to y_i, s_i ≥ `lift` > 0 for pairs. @returns whether f is defined there. @pre
  /// the problem outlives the calls of `follow`.
  bool start(ScaledMcp& problem, const double* y, double lift);
  /// Steps until max y_i s_i ≤ `kappa` and the equations hold to √κ. @returns whether they do; false also at the end of
  /// the budget, whose iterations count from `start`. @pre `start` returned true.
  bool follow(double kappa, const McpBudget& budget);
  const std::vector<double>& y() const { return now_.y; }  // the point, scaled, padded with zeros
  int iterations() const { return iterations_; }           // steps since `start`

 private:
  bool step(double kappa);
  void direction(double kappa);
  double merit(const McpPoint& point, const std::vector<double>& s, double kappa) const;
  void measure();

  ScaledMcp* problem_ = nullptr;
  int n_ = 0, pairs_ = 0, iterations_ = 0;
  double mean_ = 0, largest_ = 0, infeasible_ = 0;  // of y_i s_i; the largest of |f_i|, |f_i − s_i|
  double length_ = 1;                               // of the last step
  McpPoint now_, trial_;
  McpLinear linear_;
  std::vector<double> s_, trial_s_, a_, b_, rhs_, dy_, ds_, g_, weighted_;
};

}  // namespace deft::solvers::mcp
