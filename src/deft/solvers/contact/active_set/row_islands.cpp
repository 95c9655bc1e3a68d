#include "deft/solvers/contact/active_set/row_islands.hpp"

#include <numeric>

namespace deft::solvers::contact {
namespace {

constexpr int kWhole = 30;  // columns up to which islands are not worth the search

std::uint64_t blocks_of(std::span<const int> cols, const MetricInverse& inverse) {
  std::uint64_t blocks = 0;
  for (const int c : cols) blocks |= std::uint64_t{1} << (inverse.block(c) % 64);
  return blocks;
}

}  // namespace

// Islands are disjoint sets of blocks: joins those that a row touches.
void RowIslands::couple(std::uint64_t blocks) {
  for (std::size_t k = 0; k < coupled_.size();) {
    if ((coupled_[k] & blocks) == 0) {
      ++k;
    } else if ((blocks & ~coupled_[k]) == 0) {
      return;
    } else {
      blocks |= coupled_[k];
      coupled_[k] = coupled_.back();
      coupled_.pop_back();
    }
  }
  coupled_.push_back(blocks);
}

// The island of a row, or size() of a block without rows. A row without columns is an island of its own.
int RowIslands::find(std::uint64_t blocks) const {
  std::size_t k = 0;
  while (k < coupled_.size() && (coupled_[k] & blocks) == 0 && coupled_[k] != blocks) ++k;
  return static_cast<int>(k);
}

void RowIslands::take_whole(const ConstraintRows& rows) {
  const std::size_t count = rows.program().contacts.size(), nv = rows.program().nv;
  contacts_.resize(count);
  std::iota(contacts_.begin(), contacts_.end(), 0);
  columns_.resize(nv);
  std::iota(columns_.begin(), columns_.end(), 0);
  others_.swap(all_others_);
  islands_.assign(1, {});
  end_ = {static_cast<int>(count), static_cast<int>(others_.size()), static_cast<int>(nv)};
}

void RowIslands::split(const ConstraintRows& rows, const MetricInverse& inverse) {
  const int count = static_cast<int>(rows.program().contacts.size()), nv = rows.program().nv;
  rows.list_others(all_others_);
  if (nv <= kWhole) return take_whole(rows);
  coupled_.clear();
  sets_.clear();
  for (int i = 0; i < count; ++i) couple(sets_.emplace_back(blocks_of(rows.program().J.cols(i), inverse)));
  for (const RowName& name : all_others_) couple(sets_.emplace_back(blocks_of(rows.cols(name), inverse)));
  for (int c = 0; c < nv; ++c) sets_.push_back(std::uint64_t{1} << (inverse.block(c) % 64));
  island_of_.resize(sets_.size());
  for (std::size_t i = 0; i < sets_.size(); ++i) island_of_[i] = find(sets_[i]);
  const int* of_contact = island_of_.data();
  const int* of_other = of_contact + count;
  const int* of_column = of_other + all_others_.size();
  islands_.clear();
  contacts_.clear();
  others_.clear();
  columns_.clear();
  for (int k = 0; k < static_cast<int>(coupled_.size()); ++k) {
    islands_.push_back(
        {static_cast<int>(contacts_.size()), static_cast<int>(others_.size()), static_cast<int>(columns_.size())});
    for (int i = 0; i < count; ++i) {
      if (of_contact[i] == k) contacts_.push_back(i);
    }
    for (std::size_t i = 0; i < all_others_.size(); ++i) {
      if (of_other[i] == k) others_.push_back(all_others_[i]);
    }
    for (int c = 0; c < nv; ++c) {
      if (of_column[c] == k) columns_.push_back(c);
    }
  }
  end_ = {static_cast<int>(contacts_.size()), static_cast<int>(others_.size()), static_cast<int>(columns_.size())};
}

}  // namespace deft::solvers::contact
