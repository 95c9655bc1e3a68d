#pragma once
// Products of single blocks of RowBlocks with vectors over all columns. They do not allocate.

#include <Eigen/Core>
#include <span>

#include "deft/math/row_blocks.hpp"

namespace deft {

/// Row `row` of block i times x: (J_i x)_row. @pre 0 ≤ row < J.rows(i), x has an entry for every column of J.
inline double row_times(const RowBlocks& J, int i, Eigen::Index row, const Eigen::VectorXd& x) {
  const auto block = J.block(i);
  const auto cols = J.cols(i);
  double sum = 0;
  for (std::size_t c = 0; c < cols.size(); ++c) sum += block(row, static_cast<Eigen::Index>(c)) * x(cols[c]);
  return sum;
}

/// y += J_iᵀ f. @param f  an entry for every row of block i, or more, of which the others are left out.
inline void add_transposed(const RowBlocks& J, int i, std::span<const double> f, Eigen::VectorXd& y) {
  const auto block = J.block(i);
  const auto cols = J.cols(i);
  for (std::size_t c = 0; c < cols.size(); ++c)
    for (Eigen::Index r = 0; r < block.rows(); ++r) y(cols[c]) += block(r, static_cast<Eigen::Index>(c)) * f[r];
}

}  // namespace deft
