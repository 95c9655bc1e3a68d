#pragma once
// Q⁻¹ of a contact program, block by block. Private to src/deft/solvers.

#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::solvers::contact {

/// Explicit inverses of the blocks of Q; those of blocks that did not change since the last program are kept.
class MetricInverse {
 public:
  /// Inverts the blocks of ½(Q + Qᵀ) that changed. Allocates when they grow. @returns false where Q is not positive
  /// definite (up to a relative pivot of 1e-12) on all columns; then nothing else may be called.
  bool update(const ContactProgram& program);

  /// z += Q⁻¹ e_c · value, where z has only the columns of the block that holds column c.
  void add_column(int c, double value, double* z) const {
    const Column& column = columns_[c];
    const double* inverse = values_.data() + column.first;
    switch (column.size) {
      case 1:
        return add<1>(inverse, value, z);
      case 3:
        return add<3>(inverse, value, z);
      case 6:
        return add<6>(inverse, value, z);
      default:
        for (int r = 0; r < column.size; ++r) z[r] += inverse[r] * value;
    }
  }
  /// First column of the block that holds column c.
  int start(int c) const { return columns_[c].start; }
  /// (Q⁻¹)_cc.
  double diagonal(int c) const { return diagonal_[c]; }
  /// Number of the block that holds column c.
  int block(int c) const { return columns_[c].block; }

 private:
  struct Column {
    int block, start, size;
    std::size_t first;  // of column c of the inverse
  };
  template <int n>
  static void add(const double* column, double value, double* z) {
    using Vector = Eigen::Matrix<double, n, 1>;
    Eigen::Map<Vector>(z) += value * Eigen::Map<const Vector>(column);
  }
  bool invert(const double* Q, int n, double* inverse);

  int nv_ = -1;
  std::vector<Column> columns_;
  std::vector<double> Q_, values_;  // the blocks of Q as they were inverted, and their inverses
  std::vector<double> diagonal_, factor_, floor_;
};

}  // namespace deft::solvers::contact
