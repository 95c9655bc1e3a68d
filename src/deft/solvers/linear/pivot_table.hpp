#pragma once
// A dictionary x_B = b + T x_N and its exchanges: the common ground of Lemke's method and of the simplex method.
// Internal to solvers.

#include <cstddef>
#include <span>
#include <vector>

#include "deft/solvers/kernels/dense_kernels.hpp"

namespace deft::solvers::linear {

#if defined(__SIZEOF_FLOAT128__)
/// Extended precision: 113 bits on x86 and ARM, otherwise what the compiler has.
__extension__ typedef __float128 Extended;
#else
/// Extended precision, as the compiler has it.
using Extended = long double;
#endif

/// |x| for both kinds of numbers.
template <class Scalar>
Scalar magnitude(Scalar x) {
  return x < 0 ? -x : x;
}

/// Rows are basic variables, columns nonbasic ones (at zero) and, last, the values b. Variables are small numbers given
/// by the user of the table; rows without a variable (costs) have the number −1. Scalar: double, whose exchanges are
/// kernels, or Extended, a hundred times as slow, for problems whose forced pivots spoil the dictionary.
template <class Scalar>
class BasicPivotTable {
 public:
  BasicPivotTable();

  /// All entries zero, no variables. Allocates when it grows.
  void resize(int rows, int cols, int variables);
  /// Says which variable (0 ≤ variable < `variables`) row r stands for.
  void set_row_variable(int r, int variable);
  /// Says which variable column s stands for.
  void set_col_variable(int s, int variable);
  /// One more row of zeros for the next variable, numbered as many as there were. Allocates.
  int add_row();

  int rows() const { return rows_; }  // basic variables
  int cols() const { return cols_; }  // nonbasic variables
  int ld() const { return ld_; }      // entries between rows
  /// Row r: cols() entries of T, then b_r, then padding.
  Scalar* row(int r) { return data_.data() + static_cast<std::ptrdiff_t>(r) * ld_; }
  /// The same.
  const Scalar* row(int r) const { return data_.data() + static_cast<std::ptrdiff_t>(r) * ld_; }
  Scalar at(int r, int s) const { return row(r)[s]; }         // T_rs
  Scalar value(int r) const { return row(r)[cols_]; }         // b_r
  int row_variable(int r) const { return row_variable_[r]; }  // −1 if row r has none
  int col_variable(int s) const { return col_variable_[s]; }  // that of column s
  /// The row of a basic variable, −1 of a nonbasic one.
  int row_of(int variable) const { return place_[variable] >= 0 ? place_[variable] : -1; }
  /// The column of a nonbasic variable, −1 of a basic one.
  int col_of(int variable) const {
    const int place = place_[variable];
    return place < 0 ? -1 - place : -1;
  }

  /// Column s of all rows, contiguous; valid until the next call.
  const Scalar* column(int s);
  /// The variables of row r and column s change places: 2 rows·cols operations. @pre at(r, s) ≠ 0.
  void pivot(int r, int s);
  /// Exchanges until exactly the variables with basic[v] = 1 have rows, always by the largest entry there is. @returns
  /// the number of exchanges, −1 if an entry of at least `least` is missing (then some have not been made).
  int take_basis(std::span<const char> basic, double least);

 private:
  const kernels::DenseKernels* kernels_;
  int rows_ = 0, cols_ = 0, ld_ = 0;
  std::vector<Scalar> data_, column_;
  std::vector<int> row_variable_, col_variable_, leaving_rows_, entering_cols_;
  std::vector<int> place_;  // row, or −1 − column
};

/// The table of ordinary precision.
using PivotTable = BasicPivotTable<double>;

}  // namespace deft::solvers::linear
