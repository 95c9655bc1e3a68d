#pragma once
// How nonlinear complementarity problems are solved, and what a solve found.

#include <cstdint>
#include <limits>
#include <vector>

#include "deft/solvers/status.hpp"

namespace deft::solvers::mcp {

/// How McpSolver works.
struct McpSettings {
  /// Solved means that the max over rows of |F_i| (free) and |min(z_i, F_i)|, in the problem's scales, is at most this.
  /// > 0; below it the plain method polishes, so that mostly only rounding remains.
  double tolerance = 1e-10;
  int max_newton = 60;     // iterations of the plain method before the fallbacks, ≥ 0
  bool fallbacks = true;   // displaced starts, interior point, Josephy–Newton; the plain method then ends early where
                           // |Φ| does not fall
  std::uint64_t seed = 0;  // of the displaced starts
  double time_limit_s = std::numeric_limits<double>::infinity();  // of a solve, by the clock; results then depend on it
};

/// What one solve found.
struct McpResult {
  Status status = Status::kNumericalFailure;  // Solved, IterationLimit, TimeLimit, NumericalFailure
  std::vector<double> z, F;  // the best point found, and F there (NaN if F was not defined at any), in the problem's
                             // units; complementary z_i ≥ 0, and zero where z_i ≤ F_i (scaled)
  double residual = 0;       // what `McpSettings::tolerance` bounds, computed from z and F alone
  int iterations = 0;        // linear systems solved, of all methods
  const char* method = "newton";  // that found the point: newton, interior-point, josephy-newton, restart
};

}  // namespace deft::solvers::mcp
