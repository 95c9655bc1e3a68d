#pragma once

#include <string_view>

namespace deft::solvers {

/// Outcome of a solve. The words are the ones printed and stored (to_string), each with one sentence (sentence).
enum class Status {
  kSolved,
  kNotUnique,
  kInfeasible,
  kUnbounded,
  kRayTermination,
  kIterationLimit,
  kTimeLimit,
  kNumericalFailure
};
/// Number of them.
inline constexpr int kNumStatuses = 8;

/// Whether the solution may be used: Solved, or one of several (NotUnique).
inline bool usable(Status status) { return status == Status::kSolved || status == Status::kNotUnique; }

/// The word of problem files and reports: "Solved", "NotUnique", "Infeasible", …
std::string_view to_string(Status status);
/// One sentence for people, for example "A proof that no motion satisfies all constraints was found."
std::string_view sentence(Status status);

}  // namespace deft::solvers
