#pragma once
// Primal–dual interior point for the contact program: exact and smoothed, pyramid and cone, one code.

#include <cstdint>
#include <limits>

#include "deft/solvers/program.hpp"
#include "deft/solvers/status.hpp"

namespace deft::solvers {

/// Settings of ContactIpm.
struct IpmSettings {
  double tolerance = 1e-9;          // scaled residuals at which an exact solve stops [-], 1e-14 … 1e-3
  int max_iterations = 60;          // then IterationLimit
  bool compliance_fallback = true;  // a jammed exact problem is solved again with R = 1e-8 of each contact's own scale
                                    // to tell infeasible from hard
  bool warm_start = true;           // lift the last iterate when contact ids match
  bool screening = true;            // exact solves leave out contacts that stay open, and prove that they do
  double time_limit_s =
      std::numeric_limits<double>::infinity();  // [s] ≥ 0, then TimeLimit; looked at once per iteration
};

/// What one solve did.
struct SolveInfo {
  Status status = Status::kNumericalFailure;
  int iterations = 0;
  double solve_us = 0.0;
};

/// Owns all scratch; sized on first use, no allocation when the sizes repeat (a singular Q costs some in the test of
/// uniqueness). One object per thread.
class ContactIpm {
 public:
  ContactIpm();
  ~ContactIpm();
  ContactIpm(ContactIpm&&) noexcept;
  ContactIpm& operator=(ContactIpm&&) noexcept;

  /// Solves `program`. Warm-starts from the last solve of this object when enabled (`forget` drops it).
  /// @returns status and statistics; `solution` always holds the best iterate. @throws std::invalid_argument on
  /// inconsistent sizes or NaN.
  SolveInfo solve(const ContactProgram& program, const IpmSettings& settings, ContactSolution& solution);
  void forget();

 private:
  struct Workspace;
  Workspace* work_;
};

}  // namespace deft::solvers
