#pragma once
// Many exchanges of a dictionary at once. Internal to solvers.

#include <span>
#include <vector>

#include "deft/solvers/linear/dense_lu.hpp"
#include "deft/solvers/linear/pivot_table.hpp"

namespace deft::solvers::linear {

/// A principal transform: of a dictionary x = T y + b, whose row i and column i belong to one pair, the pairs B change
/// places,
///   y_B = T_BB⁻¹(x_B − T_BN y_N − b_B),   x_N = T_NB y_B + T_NN y_N + b_N,
/// by one LU factorisation and products of matrices: the same as |B| pivots, in a fraction of their time. Allocates
/// when sizes grow.
class BlockExchange {
 public:
  /// Exchanges the pairs B.
  /// @param set  the rows of B, ascending, which are columns too.
  /// @param least  magnitude ≥ 0 that each pivot of T_BB must exceed.
  /// @returns false, and leaves the table as it is, where a pivot does not.
  bool exchange(PivotTable& table, std::span<const int> set, double least);

 private:
  void reserve(const PivotTable& table);
  bool factor_pairs(const PivotTable& table, std::span<const int> set, double least);
  void solve_pairs(const PivotTable& table, std::span<const int> set);
  void substitute(PivotTable& table, std::span<const int> set);

  int most_ = 0;  // rows so far
  DenseLu lu_;
  std::vector<char> in_set_;
  std::vector<double> solved_;  // rows of y_B
  std::vector<double> others_;  // T_NB, a row per row of the table
};

}  // namespace deft::solvers::linear
