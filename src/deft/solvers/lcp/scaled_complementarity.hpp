#pragma once
// A complementarity problem in scaled units, row-major and padded for the kernels. Internal to solvers.

#include <vector>

#include "deft/solvers/lcp/complementarity_program.hpp"

namespace deft::solvers::lcp {

/// ŵ = M̂ẑ + q̂ with w_i = ρ_i ŵ_i and z_j = ζ_j ẑ_j, all factors powers of two, so that scaling does not round. Largest
/// and smallest entry of every row and column of M̂ have a product near one. That leaves one factor to each part of the
/// problem (rows and columns that entries connect: forces and motions of a quasistatic problem are two): it makes what
/// drives the part one, the largest −q_i (|q_i| of free rows), or where nothing does the largest |q_i|.
struct ScaledComplementarity {
  int n = 0, ld = 0;             // pairs and free variables; n padded to whole lanes
  std::vector<double> M;         // n × ld, padding zero
  std::vector<double> q;         // n
  std::vector<double> row, col;  // ρ, ζ
  std::vector<char> free;        // 1: w_i = 0 and z_i of any sign
  int num_free = 0;              // number of ones in `free`

  /// Takes over a checked program. Allocates when it grows. @param like_last  with the factors of the last program of
  /// this size, if the largest entries of all rows and columns are about as large as they were: for sequences.
  void assign(const ComplementarityProgram& program, bool like_last = false);
  /// Row i of M̂, ld entries.
  double* M_row(int i) { return M.data() + static_cast<std::ptrdiff_t>(i) * ld; }
  /// The same.
  const double* M_row(int i) const { return M.data() + static_cast<std::ptrdiff_t>(i) * ld; }

 private:
  void copy(const ComplementarityProgram& program);
  bool scale_like_last();
  void equilibrate();
  void find_peaks();
  void normalise_parts();
  void collect_part(int first);

  std::vector<double> high_, low_;             // extremes of columns
  std::vector<double> plain_row_, plain_col_;  // factors before the parts have theirs
  std::vector<double> peaks_, last_peaks_;     // largest entries of rows, then of columns
  std::vector<int> rows_, cols_;               // of one part
  std::vector<char> row_seen_, col_seen_;
  std::vector<double> row_unit_, col_unit_;  // of the parts
};

}  // namespace deft::solvers::lcp
