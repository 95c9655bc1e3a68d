#pragma once
// Intervals that contain every trajectory of a control problem: for big-M forms, hull cuts and the pruning of branches.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/lcs/lcs_program.hpp"

namespace deft::solvers::lcs {

/// How find_lcs_bounds works.
struct LcsBoundSettings {
  int rounds = 30;         // of propagation through all steps, at most; ≥ 1
  int sweeps = 2;          // of linear programs through all steps; 0: propagation alone, some microseconds per step
  int window = 2;          // steps that one linear program sees, ≥ 1
  int max_entries = 5000;  // of the table of a linear program: windows shrink to one step, then there are none
  /// Use that multipliers which move no state may be lowered, and all be taken at a vertex (README.md). The bounds then
  /// hold for one set of multipliers at least of each x, u and modes that are possible, not for all.
  bool lower_idle = true;
};

/// Intervals. Column k of gamma and slack belongs to γ_{k+1}, s_{k+1}; infinity where nothing was found.
struct LcsBounds {
  bool infeasible = false;                   // proof that there is no trajectory; the intervals then mean nothing
  Eigen::MatrixXd x_lower, x_upper;          // nx × (N+1)
  Eigen::MatrixXd u_lower, u_upper;          // nu × N
  Eigen::MatrixXd gamma_lower, gamma_upper;  // nγ × N, lower ≥ 0
  Eigen::MatrixXd slack_lower, slack_upper;  // nγ × N, lower ≥ 0
  std::vector<bool> idle;                    // pairs whose multiplier may be lowered, as LcsBoundSettings says
};

/// Pairs whose multiplier moves no state and may be lowered until a slack that it raises, or itself, is zero: column i
/// of C is zero, E_ii = 0, E_ji ≥ 0 for all j.
std::vector<bool> idle_multipliers(const LinearComplementaritySystem& system);

/// Bounds by propagation of intervals along the dynamics and the slack rows, forwards and backwards, with the
/// complementarity of each pair (s > 0 ⇒ γ = 0, γ > 0 ⇒ s = 0), then by linear programs over windows of steps, of γ
/// with s = 0 and of s with γ = 0. Every bound is rounded outwards by 1e-9 of itself and of the terms it comes from,
/// and s > 0 means s ≥ 1e-8. Soft bounds of states (x_price finite) are none.
/// @throws std::invalid_argument as check(program).
LcsBounds find_lcs_bounds(const LcsMpcProgram& program, const LcsBoundSettings& settings = {});

}  // namespace deft::solvers::lcs
