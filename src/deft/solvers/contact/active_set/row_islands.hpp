#pragma once
// Rows that share no block of Q with other rows are solved apart from them. Private to src/deft/solvers.

#include <cstdint>
#include <span>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/solvers/contact/active_set/constraint_rows.hpp"
#include "deft/solvers/contact/active_set/metric_inverse.hpp"

namespace deft::solvers::contact {

/// Splits the rows of a program into islands: blocks of Q, coupled by rows, and these rows. Blocks are distinguished
/// modulo 64, so that the islands of a large program may be unions of smaller ones. Columns without rows are in no
/// island, except that programs of few columns are one island. Keeps scratch.
class RowIslands {
 public:
  /// Finds the islands of a program whose `rows` and `inverse` are up to date. Allocates when sizes grow.
  void split(const ConstraintRows& rows, const MetricInverse& inverse);
  /// Number of islands.
  int size() const { return static_cast<int>(islands_.size()); }
  /// Island k < size(); its spans are valid until the next `split`.
  RowIsland operator[](int k) const {
    const Island &a = islands_[k], &b = k + 1 < size() ? islands_[k + 1] : end_;
    return {span(contacts_, a.contact, b.contact), span(others_, a.other, b.other), span(columns_, a.column, b.column)};
  }

 private:
  struct Island {
    int contact = 0, other = 0, column = 0;  // where its lists begin
  };
  template <class T>
  static std::span<const T> span(const std::vector<T>& list, int first, int end) {
    return {list.data() + first, to_size(end - first)};
  }
  void couple(std::uint64_t blocks);
  int find(std::uint64_t blocks) const;
  void take_whole(const ConstraintRows& rows);

  std::vector<Island> islands_;
  Island end_;
  std::vector<int> contacts_, columns_;
  std::vector<RowName> others_, all_others_;
  std::vector<std::uint64_t> coupled_, sets_;  // sets of blocks: of islands; of contacts, other rows and columns
  std::vector<int> island_of_;                 // of contacts, other rows and columns
};

}  // namespace deft::solvers::contact
