#pragma once
// The point that belongs to a basis, computed again from the problem. Internal to solvers.

#include <span>
#include <vector>

#include "deft/solvers/lcp/scaled_complementarity.hpp"
#include "deft/solvers/linear/dense_lu.hpp"

namespace deft::solvers::lcp {

/// Points z with (Mz + q)_i = 0 on given rows and z_j = 0 outside given columns, scaled, by LU and
/// refinement.
class ComplementaryBasis {
 public:
  /// The complementary point of a choice, basic [n]: columns are those with basic[i] = 1, rows these and the free ones.
  /// @returns false if the system is singular and has no solution. Allocates when sizes grow, and where it is singular.
  bool solve(const ScaledComplementarity& problem, std::span<const char> basic);
  /// Any rows and columns; where the system is not regular one of its solutions. @returns false if it has none.
  bool solve(const ScaledComplementarity& problem, std::span<const int> rows, std::span<const int> cols);
  /// A given point z [n], scaled.
  void take(const ScaledComplementarity& problem, std::span<const double> z);

  const std::vector<double>& z() const { return z_; }  // n, padded with zeros
  const std::vector<double>& w() const { return w_; }  // Mz + q, n, scaled
  /// How many pairs have a negative member (below rounding), z_i of the columns or w_i of the other rows.
  int count_negative(const ScaledComplementarity& problem) const;
  /// The most negative member of any pair, or zero.
  double least(const ScaledComplementarity& problem) const;
  /// Changes the choice of those pairs, for block principal pivoting.
  void exchange_negative(const ScaledComplementarity& problem, std::vector<char>& basic) const;

 private:
  void evaluate(const ScaledComplementarity& problem);
  bool solve_regular(const ScaledComplementarity& problem, std::span<const int> rows, std::span<const int> cols);
  bool solve_singular(const ScaledComplementarity& problem, std::span<const int> rows, std::span<const int> cols);

  linear::DenseLu lu_;
  std::vector<int> zero_rows_, chosen_;
  std::vector<double> z_, w_, step_, before_;
};

}  // namespace deft::solvers::lcp
