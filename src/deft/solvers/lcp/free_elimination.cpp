#include "deft/solvers/lcp/free_elimination.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::solvers::lcp {
namespace {

constexpr double kFreePivot = 1e-9;  // smaller entries of the free block are rounding

}  // namespace

void FreeElimination::assign(const ScaledComplementarity& problem) {
  num_split_ = 0;
  free_ = problem.free;
  passes_ = problem.num_free == 0;
  if (passes_) {
    pure_ = {problem.n, problem.ld, problem.M.data(), problem.q.data()};
    return;
  }
  eliminate(problem);

  pairs_.clear();
  split_rows_.clear();
  split_cols_.clear();
  for (int i = 0; i < problem.n; ++i) {
    if (!free_[i])
      pairs_.push_back(i);
    else {
      if (table_.row_of(problem.n + i) >= 0) split_rows_.push_back(i);
      if (table_.col_of(i) >= 0) split_cols_.push_back(i);
    }
  }
  num_pairs_ = static_cast<int>(pairs_.size());
  num_split_ = static_cast<int>(split_rows_.size());

  // Order: pairs, then z⁺, then z⁻.
  const int size = num_pairs_ + 2 * num_split_, ld = kernels::padded(size);
  M_.assign(to_size(size) * to_size(ld), 0.0);
  q_.assign(size, 0.0);
  for (int k = 0; k < size; ++k) {
    const int split = (k - num_pairs_) % std::max(num_split_, 1);
    const bool pair = k < num_pairs_;
    const int index = pair ? pairs_[k] : split_rows_[split];
    const double sign = k < num_pairs_ + num_split_ ? 1 : -1;
    const int r = table_.row_of(problem.n + index);
    double* row = M_.data() + static_cast<std::ptrdiff_t>(k) * ld;
    for (int l = 0; l < num_pairs_; ++l) row[l] = sign * table_.at(r, table_.col_of(pairs_[l]));
    for (int l = 0; l < num_split_; ++l) {
      const double value = sign * table_.at(r, table_.col_of(split_cols_[l]));
      row[num_pairs_ + l] = pair ? value : 0;  // the block that is left is rounding
      row[num_pairs_ + num_split_ + l] = pair ? -value : 0;
    }
    q_[k] = sign * table_.value(r);
  }
  pure_ = {size, ld, M_.data(), q_.data()};
}

// Variables: z_i is i, w_i is n + i.
void FreeElimination::eliminate(const ScaledComplementarity& problem) {
  const int n = problem.n;
  table_.resize(n, n, 2 * n);
  for (int i = 0; i < n; ++i) {
    std::copy_n(problem.M_row(i), n, table_.row(i));
    table_.row(i)[n] = problem.q[i];
    table_.set_row_variable(i, n + i);
    table_.set_col_variable(i, i);
  }
  for (;;) {
    double largest = kFreePivot;
    int row = -1, column = -1;
    for (int i = 0; i < n; ++i) {
      const int r = table_.row_of(n + i);
      if (!free_[i] || r < 0) continue;
      for (int j = 0; j < n; ++j) {
        const int s = table_.col_of(j);
        if (!free_[j] || s < 0) continue;
        if (std::abs(table_.at(r, s)) > largest) {
          largest = std::abs(table_.at(r, s));
          row = r;
          column = s;
        }
      }
    }
    if (row < 0) return;
    table_.pivot(row, column);
  }
}

void FreeElimination::mark_basic(const std::vector<char>& pure, std::vector<char>& mixed) const {
  if (passes_) {
    mixed = pure;
    return;
  }
  mixed.assign(free_.size(), 0);
  for (std::size_t i = 0; i < free_.size(); ++i) mixed[i] = free_[i];
  for (std::size_t k = 0; k < pairs_.size(); ++k) mixed[pairs_[k]] = pure[k];
  for (std::size_t l = 0; l < split_cols_.size(); ++l) {
    const std::size_t plus = to_size(num_pairs_) + l, minus = plus + to_size(num_split_);
    mixed[split_cols_[l]] = pure[plus] || pure[minus];
  }
}

void FreeElimination::mark_pure(const std::vector<char>& mixed, const std::vector<double>& z,
                                std::vector<char>& pure) const {
  if (passes_) {
    pure = mixed;
    return;
  }
  pure.assign(pure_.n, 0);
  for (std::size_t k = 0; k < pairs_.size(); ++k) pure[k] = mixed[pairs_[k]];
  for (std::size_t l = 0; l < split_cols_.size(); ++l) {
    const std::size_t plus = to_size(num_pairs_) + l, minus = plus + to_size(num_split_);
    pure[z[split_cols_[l]] < 0 ? minus : plus] = 1;
  }
}

void FreeElimination::lift(const std::vector<double>& pure, std::vector<double>& mixed) const {
  if (passes_) {
    mixed = pure;
    return;
  }
  mixed.assign(free_.size(), 0.0);
  for (std::size_t k = 0; k < pairs_.size(); ++k) mixed[pairs_[k]] = pure[k];
  for (std::size_t l = 0; l < split_cols_.size(); ++l) {
    const std::size_t plus = to_size(num_pairs_) + l, minus = plus + to_size(num_split_);
    mixed[split_cols_[l]] = pure[plus] - pure[minus];
  }
  const int n = static_cast<int>(free_.size());
  for (int i = 0; i < n; ++i) {
    const int r = table_.row_of(i);
    if (!free_[i] || r < 0) continue;
    double value = table_.value(r);
    for (int s = 0; s < n; ++s) {
      const int variable = table_.col_variable(s);
      if (variable < n) value += table_.at(r, s) * mixed[variable];
    }
    mixed[i] = value;
  }
}

}  // namespace deft::solvers::lcp
