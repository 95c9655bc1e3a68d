#pragma once
// How a contact program is to be solved, and what a solve reports besides its solution.

#include <limits>
#include <span>

#include "deft/solvers/status.hpp"

namespace deft::solvers::contact {

/// Which method solves. kAuto: the active set for exact polyhedral programs with Q ≻ 0 of moderate size, the interior
/// point for all others and where the active set fails. kActiveSet asks for the same, with the interior point for
/// what it cannot do.
enum class SolveMethod { kAuto, kActiveSet, kInteriorPoint };

/// Settings of ContactSolver.
struct SolverSettings {
  SolveMethod method = SolveMethod::kAuto;  // what is fastest for the program's size and law
  double tolerance = 1e-9;                  // scaled residuals at which an exact solve stops [-], 1e-14 … 1e-3
  int max_iterations = 60;  // ≥ 1, of each start of the interior point, then IterationLimit; most solves take less than
                            // 20
  /// The motion of an infeasible program is that of the same program with the compliance R̂ = 1e-8 (scaled units) of
  /// each inequality; without it, the last iterate.
  bool compliance_fallback = true;
  /// Failed solves are followed by a search for a certificate of infeasibility or unboundedness, solves with a singular
  /// Q by one for the shortest of the optimal motions.
  bool diagnosis = true;
  bool warm_start = true;  // start from the last solution, found by contact ids
  bool screening = true;   // exact solves leave out contacts that stay open, and prove that they do
  /// Per contact (or empty): 1 where rows and gap are a convex combination of those of contacts that have 0, and laws
  /// are the same, without compliance. Such contacts may be left without force, and forces then count as not unique.
  /// Must outlive the solve.
  std::span<const char> redundant{};
  /// Below a tolerance of 1e-11 the active set polishes the interior point's motion, and where rounding hides the
  /// tolerance 1e-9 is enough.
  bool polish = true;
  /// [s] ≥ 0, then TimeLimit; looked at once per iteration of the interior point.
  double time_limit_s = std::numeric_limits<double>::infinity();
};

/// What one solve did.
struct SolveInfo {
  Status status = Status::kNumericalFailure;         // not certified yet: see `confirmed`
  SolveMethod method = SolveMethod::kInteriorPoint;  // the one whose answer this is
  int iterations = 0;                                // of all methods tried
  double solve_us = 0.0;                             // wall-clock time [µs]
};

}  // namespace deft::solvers::contact
