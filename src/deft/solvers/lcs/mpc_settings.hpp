#pragma once
// How control of a linear complementarity system is solved to optimality, and what a solve found.

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "deft/solvers/lcs/lcs_program.hpp"
#include "deft/solvers/status.hpp"

namespace deft::solvers::lcs {

struct LcsMpcResult;

/// How LcsMpcSolver works.
struct BranchAndBoundSettings {
  double gap = 1e-7;  // > 0, relative, at which the incumbent counts as optimal: cost − bound ≤ gap·max(cost, 1e-6 c₀),
                      // c₀ = x0ᵀQx0 + Σ x_dᵀQx_d
  double time_limit_s = std::numeric_limits<double>::infinity();       // ≥ 0; then the incumbent and the bound of that
                                                                       // moment are the result
  std::int64_t node_limit = std::numeric_limits<std::int64_t>::max();  // of explored nodes, ≥ 0; looked at
                                                                       // between rounds
  int threads = 1;  // ≥ 1; the result does not depend on it unless a time limit strikes
  /// Called after every round of the search (some milliseconds), with what is known so far; false ends the search as a
  /// time limit would.
  std::function<bool(const LcsMpcResult&)> watch;
  bool log_proof = false;  // keep the leaves: LcsMpcResult::proof
};

/// Which side of a pair is fixed to zero, if any: γ_i, s_i, or neither yet.
enum class PairMode : char { kOpen, kGammaZero, kSlackZero };

/// One leaf of the proof: with these pairs fixed, no point costs less than `bound` (infinity: there is no point).
struct LcsLeaf {
  std::vector<PairMode> modes;  // N·nγ, step after step
  double bound = 0;             // of the cost; infinity: no point
};

/// What one solve found.
struct LcsMpcResult {
  /// Solved; Infeasible (proved); TimeLimit or IterationLimit with what is known; NumericalFailure.
  Status status = Status::kNumericalFailure;
  bool has_incumbent = false;                               // whether a trajectory was found
  LcsTrajectory incumbent;                                  // valid if has_incumbent
  LcsCertificate certificate;                               // of the incumbent
  double cost = std::numeric_limits<double>::infinity();    // of the incumbent
  double bound = -std::numeric_limits<double>::infinity();  // no point costs less
  double gap = std::numeric_limits<double>::infinity();     // (cost − bound)/max(cost, 1e-6 c₀), ≥ 0
  std::int64_t nodes = 0;                                   // convex programs that were bounded
  std::int64_t iterations = 0;                              // changes of their active sets
  double time_s = 0;                                        // wall time of the solve [s]
  std::vector<LcsLeaf> proof;                               // with log_proof; its leaves cover all modes
};

}  // namespace deft::solvers::lcs
