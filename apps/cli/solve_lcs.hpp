#pragma once
// What deft solve does with files of kind `lcs_mpc`: solve, print, export.

#include <optional>
#include <string>

#include "deft/io/problems/problem_file.hpp"

namespace deft::cli {

/// The options of deft solve that matter here.
struct LcsOptions {
  std::optional<double> gap, time_limit_s;  // relative gap of cost and bound; [s]; none: the solver's defaults
  int threads = 1;                          // of the search
  int repeat = 1;                           // solves, at least 1
  bool progress = true;                     // a line on a terminal while it runs
};

/// Solves from scratch `repeat` times: the first answer with the median of the times. Ctrl-C ends it as a time limit
/// does. A trajectory that the certificate refuses is none.
io::LcsAnswer solve_lcs(const io::LcsProblemFile& file, const LcsOptions& options);
/// Cost, bound, gap, residuals, and which pairs carry in each step.
void print_lcs(const io::LcsProblemFile& file, const io::LcsAnswer& answer);
/// Writes the big-M form and says what it holds. @returns the exit code.
int export_lcs(const io::LcsProblemFile& file, const std::string& path, bool json);

}  // namespace deft::cli
