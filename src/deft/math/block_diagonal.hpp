#pragma once
// Symmetric block-diagonal matrices in one arena that is reused: Q, mass matrices, factors of mobility.

#include <Eigen/Core>
#include <vector>

#include "deft/core/index.hpp"

namespace deft {

/// A symmetric block-diagonal matrix: square blocks on consecutive index ranges. Indices covered by no block are zero.
class BlockDiagonal {
 public:
  using Block = Eigen::Map<Eigen::MatrixXd>;             // a view of one block, column-major
  using ConstBlock = Eigen::Map<const Eigen::MatrixXd>;  // the same, read only

  /// Removes all blocks; the memory stays for the next ones.
  void clear() {
    entries_.clear();
    values_.clear();
  }
  /// Appends a zero block on [start, start + size); the view is valid until the next append.
  /// @pre blocks are appended in ascending order and do not overlap.
  Block append(int start, int size) {
    entries_.push_back({start, size, values_.size()});
    values_.resize(values_.size() + to_size(size) * size, 0.0);
    return block(static_cast<int>(entries_.size()) - 1);
  }
  int num_blocks() const { return static_cast<int>(entries_.size()); }  // in ascending order
  int start(int k) const { return entries_[k].start; }                  // first index that block k covers
  int size(int k) const { return entries_[k].size; }                    // rows, and columns, of block k
  /// Block k [size × size], valid until the next append.
  Block block(int k) { return {values_.data() + entries_[k].first_value, entries_[k].size, entries_[k].size}; }
  /// The same, read only.
  ConstBlock block(int k) const {
    return {values_.data() + entries_[k].first_value, entries_[k].size, entries_[k].size};
  }

 private:
  struct Entry {
    int start;
    int size;
    std::size_t first_value;
  };
  std::vector<Entry> entries_;
  std::vector<double> values_;
};

}  // namespace deft
