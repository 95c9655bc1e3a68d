#pragma once
// Many small dense row blocks of a wide matrix, each with its own list of columns, in one arena that is reused.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/core/index.hpp"

namespace deft {

/// J = [J_0; J_1; …], block i holding `rows` rows that are nonzero only in the columns `cols(i)` (ascending, 0-based).
/// Values are row-major, rows × number of columns. Appending does not allocate once the arena has grown.
class RowBlocks {
 public:
  /// A view of one block's values, rows(i) × number of its columns.
  using Block = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  /// The same, read only.
  using ConstBlock = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

  /// Removes all blocks; the memory stays for the next ones.
  void clear() {
    entries_.clear();
    cols_.clear();
    values_.clear();
  }
  /// Number of blocks.
  int size() const { return static_cast<int>(entries_.size()); }

  /// Appends a zero block with a copy of `cols`; the returned view is valid until the next append.
  Block append(int rows, std::span<const int> cols) {
    entries_.push_back({rows, static_cast<int>(cols.size()), cols_.size(), values_.size()});
    cols_.insert(cols_.end(), cols.begin(), cols.end());
    values_.resize(values_.size() + to_size(rows) * cols.size(), 0.0);
    return block(size() - 1);
  }

  /// Removes the last block. @pre there is one.
  void pop_back() {
    cols_.resize(entries_.back().first_col);
    values_.resize(entries_.back().first_value);
    entries_.pop_back();
  }

  /// Number of rows of block i.
  int rows(int i) const { return entries_[i].rows; }
  /// The columns of the wide matrix that block i covers, ascending; valid until the next append.
  std::span<const int> cols(int i) const {
    return {cols_.data() + entries_[i].first_col, to_size(entries_[i].num_cols)};
  }
  /// The values of block i, valid until the next append.
  Block block(int i) { return {values_.data() + entries_[i].first_value, entries_[i].rows, entries_[i].num_cols}; }
  /// The same, read only.
  ConstBlock block(int i) const {
    return {values_.data() + entries_[i].first_value, entries_[i].rows, entries_[i].num_cols};
  }

 private:
  struct Entry {
    int rows;
    int num_cols;
    std::size_t first_col;
    std::size_t first_value;
  };
  std::vector<Entry> entries_;
  std::vector<int> cols_;
  std::vector<double> values_;
};

}  // namespace deft
