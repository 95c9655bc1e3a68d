#pragma once
// What deft solve does with files of kind `ecp`: solve, print.

#include <optional>

#include "deft/io/problems/problem_file.hpp"

namespace deft::cli {

/// The options of deft solve that matter here.
struct PatchOptions {
  std::optional<double> tolerance, time_limit_s;  // time [s] of each initial guess of Newton's method
  int repeat = 1;                                 // solves, at least 1
};

/// Solves from scratch `repeat` times: the first answer; `time_s` becomes the median of the times [s]. Ctrl-C ends the
/// repetition.
dynamics::PatchAnswer solve_patch(const io::PatchProblemFile& file, const PatchOptions& options, double& time_s);
/// Velocities of the bodies, and each pair's kind, gap, point and wrench.
void print_patch(const io::PatchProblemFile& file, const dynamics::PatchAnswer& answer, double time_s);

}  // namespace deft::cli
