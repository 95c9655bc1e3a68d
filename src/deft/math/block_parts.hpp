#pragma once
// Parts and products of block-diagonal matrices.

#include <algorithm>

#include "deft/math/block_diagonal.hpp"

namespace deft {

/// The block that covers an index, −1 if none does. Logarithmic in the number of blocks.
inline int block_at(const BlockDiagonal& M, int index) {
  int low = 0, high = M.num_blocks();  // blocks before `low` start at or before `index`, those from `high` on after it
  while (low < high) {
    const int middle = (low + high) / 2;
    if (M.start(middle) <= index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 && index < M.start(low - 1) + M.size(low - 1) ? low - 1 : -1;
}

/// target += factor × the part of M on rows and columns [start, start + size).  @param target  size × size.
inline void add_part(const BlockDiagonal& M, int start, int size, double factor, Eigen::Ref<Eigen::MatrixXd> target) {
  for (int k = std::max(0, block_at(M, start)); k < M.num_blocks() && M.start(k) < start + size; ++k) {
    const int low = std::max(start, M.start(k)), high = std::min(start + size, M.start(k) + M.size(k));
    if (low >= high) continue;
    const int n = high - low, from = low - M.start(k);
    target.block(low - start, low - start, n, n) += factor * M.block(k).block(from, from, n, n);
  }
}

/// xᵀMx. No allocation.
inline double quadratic_form(const BlockDiagonal& M, const Eigen::VectorXd& x) {
  double total = 0;
  for (int k = 0; k < M.num_blocks(); ++k) {
    const auto part = x.segment(M.start(k), M.size(k));
    for (int i = 0; i < M.size(k); ++i) total += part(i) * M.block(k).col(i).dot(part);
  }
  return total;
}

}  // namespace deft
