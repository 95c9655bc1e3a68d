#pragma once

#include <string_view>

namespace deft::solvers {

/// Outcome of a solve. The words are the ones printed and stored (to_string), each with one sentence (sentence).
enum class Status {
  kSolved,           // a solution whose motion is unique
  kNotUnique,        // a solution; other motions are as good
  kInfeasible,       // proved: no motion satisfies all constraints
  kUnbounded,        // proved: the energy decreases without limit
  kRayTermination,   // pivoting ended on a ray, which proves nothing
  kIterationLimit,   // the best iterate, not to the tolerance
  kTimeLimit,        // the same
  kNumericalFailure  // rounding stopped the solver before the tolerance was met
};
/// Number of statuses.
inline constexpr int kNumStatuses = 8;

/// Whether the solution may be used: Solved, or one of several (NotUnique).
inline bool usable(Status status) { return status == Status::kSolved || status == Status::kNotUnique; }

/// The word of problem files and reports: "Solved", "NotUnique", "Infeasible", …
std::string_view to_string(Status status);
/// One sentence for people, for example "A proof that no motion satisfies all constraints was found."
std::string_view sentence(Status status);

}  // namespace deft::solvers
