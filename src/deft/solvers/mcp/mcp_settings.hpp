#pragma once
// How nonlinear complementarity problems are solved, and what a solve found.

#include <cstdint>
#include <limits>
#include <vector>

#include "deft/solvers/status.hpp"

namespace deft::solvers::mcp {

/// How McpSolver works.
struct McpSettings {
  /// Solved: max over rows, in the problem's scales, of |F_i| (free) and |min(z_i, F_i)|.
  double tolerance = 1e-10;
  int max_newton = 60;     // iterations of the plain method before the fallbacks
  bool fallbacks = true;   // displaced starts, interior point, Josephy–Newton; the plain method then gives up where |Φ|
                           // does not fall
  std::uint64_t seed = 0;  // of the restarts
  double time_limit_s = std::numeric_limits<double>::infinity();
};

/// What one solve found.
struct McpResult {
  Status status = Status::kNumericalFailure;  // Solved, IterationLimit, TimeLimit, NumericalFailure
  std::vector<double> z, F;       // the best point found, and F there; complementary z_i ≥ 0, and zero where z_i ≤ F_i
                                  // (scaled)
  double residual = 0;            // the number that `tolerance` bounds, computed from z and F alone
  int iterations = 0;             // linear systems solved, of all methods
  const char* method = "newton";  // that found the point: newton, interior-point, josephy-newton, restart
};

}  // namespace deft::solvers::mcp
