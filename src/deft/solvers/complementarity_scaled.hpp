#pragma once
// A complementarity problem in natural units, row-major and padded for the kernels. Internal to solvers.

#include <vector>

#include "deft/solvers/complementarity_program.hpp"

namespace deft::solvers {

/// ŵ = M̂ẑ + q̂ with w_i = ρ_i θ ŵ_i and z_j = ζ_j θ ẑ_j, all factors powers of two, so that scaling does not round. Largest and
/// smallest entry of every row and column of M̂ have a product near one; θ is what drives the problem: the largest −q_i/ρ_i
/// (|q_i|/ρ_i of free rows).
struct ScaledComplementarity {
  int n = 0, ld = 0;            // ld: n padded to whole lanes
  std::vector<double> M;        // n × ld, padding zero
  std::vector<double> q;        // n
  std::vector<double> row, col;  // ρ, ζ
  double theta = 1;
  std::vector<char> free;       // 1: w_i = 0 and z_i of any sign
  int num_free = 0;

  /// Takes over a checked program. Allocates when it grows.
  void assign(const ComplementarityProgram& program);
  double z_unit(int j) const { return col[static_cast<std::size_t>(j)] * theta; }
  double w_unit(int i) const { return row[static_cast<std::size_t>(i)] * theta; }
  double* M_row(int i) { return M.data() + static_cast<std::ptrdiff_t>(i) * ld; }
  const double* M_row(int i) const { return M.data() + static_cast<std::ptrdiff_t>(i) * ld; }

 private:
  void equilibrate();
  std::vector<double> high_, low_;  // extremes of columns
};

}  // namespace deft::solvers
