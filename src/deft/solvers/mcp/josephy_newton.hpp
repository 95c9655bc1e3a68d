#pragma once
// Newton's method with linear complementarity problems in place of linear systems. Internal to solvers.
// Source: N. H. Josephy (1979); D. Ralph, Math. Oper. Res. 19 (1994), and S. P. Dirkse, M. C. Ferris, Optim. Methods
// Softw. 5 (1995), the globalisation.

#include <array>
#include <vector>

#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "deft/solvers/mcp/scaled_mcp.hpp"
#include "deft/solvers/mcp/semismooth_newton.hpp"

namespace deft::solvers::mcp {

/// y⁺ solves the problem linearised at y: w = f + J (y⁺ − y) + ε(y⁺ − y), w_i = 0 (free), 0 ≤ y⁺_i ⟂ w_i ≥ 0, ε = 0 or,
/// where that has no solution or no descent, a proximal weight. The step to y⁺ is shortened until ½|Φ|² falls below the
/// largest of the last five values. Allocates.
class McpJosephyNewton {
 public:
  static constexpr int kLargest = 400;  // unknowns: the linear problems are dense
  /// From `start` (scaled, size of the problem). @returns whether the residual fell to `target`; false at once for more
  /// than kLargest unknowns.
  bool solve(ScaledMcp& problem, const double* start, double target, const McpBudget& budget);
  const std::vector<double>& y() const { return now_.y; }  // the last point, scaled, padded with zeros
  int iterations() const { return iterations_; }           // linear problems of the last call

 private:
  bool advance(const McpBudget& budget);
  bool linearised(double proximal, const McpBudget& budget);

  static constexpr int kMemory = 5;
  ScaledMcp* problem_ = nullptr;
  int n_ = 0, iterations_ = 0;
  McpPoint now_, trial_;
  std::vector<double> step_;
  std::array<double, kMemory> merits_{};
  lcp::ComplementarityProgram program_;
  lcp::ComplementaritySolver linear_;
};

}  // namespace deft::solvers::mcp
