#pragma once

#include <Eigen/Core>
#include <vector>

#include "deft/core/index.hpp"

namespace deft {

/// A symmetric block-diagonal matrix: square blocks on consecutive index ranges. Indices covered by no block are zero.
class BlockDiagonal {
 public:
  using Block = Eigen::Map<Eigen::MatrixXd>;
  using ConstBlock = Eigen::Map<const Eigen::MatrixXd>;
  struct Entry {
    int start;
    int size;
    std::size_t first_value;
  };

  void clear() {
    entries_.clear();
    values_.clear();
  }
  /// Appends a zero block on [start, start + size); blocks must be appended in ascending order and must not overlap.
  Block append(int start, int size) {
    entries_.push_back({start, size, values_.size()});
    values_.resize(values_.size() + to_size(size) * size, 0.0);
    return block(static_cast<int>(entries_.size()) - 1);
  }
  int num_blocks() const { return static_cast<int>(entries_.size()); }
  int start(int k) const { return entries_[k].start; }
  int size(int k) const { return entries_[k].size; }
  Block block(int k) { return {values_.data() + entries_[k].first_value, entries_[k].size, entries_[k].size}; }
  ConstBlock block(int k) const {
    return {values_.data() + entries_[k].first_value, entries_[k].size, entries_[k].size};
  }

 private:
  std::vector<Entry> entries_;
  std::vector<double> values_;
};

}  // namespace deft
