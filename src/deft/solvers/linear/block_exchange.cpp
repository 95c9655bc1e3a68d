#include "deft/solvers/linear/block_exchange.hpp"

#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::linear {

bool BlockExchange::exchange(PivotTable& table, std::span<const int> set, double least) {
  if (set.empty()) return true;
  reserve(table);
  if (!factor_pairs(table, set, least)) return false;
  solve_pairs(table, set);
  substitute(table, set);
  for (std::size_t k = 0; k < set.size(); ++k) {
    std::copy_n(solved_.data() + k * to_size(table.ld()), table.ld(), table.row(set[k]));
    const int leaving = table.row_variable(set[k]), entering = table.col_variable(set[k]);
    table.set_row_variable(set[k], entering);
    table.set_col_variable(set[k], leaving);
  }
  return true;
}

// So that a larger set needs no memory later.
void BlockExchange::reserve(const PivotTable& table) {
  if (table.rows() <= most_) return;
  most_ = table.rows();
  lu_.resize(most_);
  solved_.reserve(to_size(most_) * to_size(table.ld()));
  others_.reserve(to_size(most_) * to_size(most_));
}

// T_BB = LU.
bool BlockExchange::factor_pairs(const PivotTable& table, std::span<const int> set, double least) {
  lu_.resize(static_cast<int>(set.size()));
  for (std::size_t k = 0; k < set.size(); ++k) {
    const double* from = table.row(set[k]);
    double* to = lu_.row(static_cast<int>(k));
    for (std::size_t l = 0; l < set.size(); ++l) to[l] = from[set[l]];
  }
  return lu_.factor(least);
}

// The rows of y_B: T_BB⁻¹ [1, −T_BN, −b_B].
void BlockExchange::solve_pairs(const PivotTable& table, std::span<const int> set) {
  const int ld = table.ld();
  solved_.resize(set.size() * to_size(ld));
  for (std::size_t k = 0; k < set.size(); ++k) {
    const double* from = table.row(set[k]);
    double* to = solved_.data() + k * to_size(ld);
    for (int j = 0; j < ld; ++j) to[j] = -from[j];
    for (const int j : set) to[j] = 0;
    to[set[k]] = 1;
  }
  lu_.solve_many(solved_.data(), ld, ld);
}

// The other rows: their entries in B become factors of the rows just solved. Runs of rows are one product.
void BlockExchange::substitute(PivotTable& table, std::span<const int> set) {
  const auto count = set.size();
  const int ld = table.ld(), size = static_cast<int>(count);
  in_set_.assign(table.rows(), 0);
  for (const int i : set) in_set_[i] = 1;
  others_.resize(to_size(table.rows()) * count);
  for (int first = 0; first < table.rows();) {
    if (in_set_[first]) {
      ++first;
      continue;
    }
    int last = first;
    for (; last < table.rows() && !in_set_[last]; ++last) {
      double* row = table.row(last);
      double* factor = others_.data() + to_size(last) * count;
      for (std::size_t k = 0; k < count; ++k) {
        factor[k] = row[set[k]];
        row[set[k]] = 0;
      }
    }
    kernels::dense_kernels().multiply_many(last - first, size, 1.0, others_.data() + to_size(first) * count, size, 1,
                                           solved_.data(), ld, table.row(first), ld, ld);
    first = last;
  }
}

}  // namespace deft::solvers::linear
