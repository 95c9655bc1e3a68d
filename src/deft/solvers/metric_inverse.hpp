#pragma once
// Q⁻¹ of a contact program, block by block. Private to src/deft/solvers.

#include <vector>

#include "deft/solvers/program.hpp"

namespace deft::solvers {

/// Explicit inverses of the blocks of Q; those of blocks that did not change since the last program are kept.
class MetricInverse {
 public:
  /// @returns false where Q is not positive definite (up to a relative pivot of 1e-12) on all columns.
  bool update(const ContactProgram& program);

  /// z += Q⁻¹ e_c · value.
  void add_column(int c, double value, double* z) const {
    const Column& column = columns_[c];
    const double* inverse = values_.data() + column.first;
    if (column.size == 1) {
      z[column.start] += *inverse * value;
    } else {
      for (int r = 0; r < column.size; ++r) z[column.start + r] += inverse[r] * value;
    }
  }
  /// (Q⁻¹)_cc.
  double diagonal(int c) const { return values_[columns_[c].first + c - columns_[c].start]; }
  /// Number of the block that holds column c.
  int block(int c) const { return columns_[c].block; }

 private:
  struct Column {
    int block, start, size;
    std::size_t first;  // of column c of the inverse
  };
  bool invert(const double* Q, int n, double* inverse);

  int nv_ = -1;
  std::vector<Column> columns_;
  std::vector<double> Q_, values_;  // the blocks of Q as they were inverted, and their inverses
  std::vector<double> factor_, floor_;
};

}  // namespace deft::solvers
