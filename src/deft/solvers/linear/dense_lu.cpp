#include "deft/solvers/linear/dense_lu.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::linear {

DenseLu::DenseLu() : kernels_(&kernels::dense_kernels()) {}

void DenseLu::resize(int n) {
  n_ = n;
  ld_ = kernels::padded(n);
  const auto size = to_size(n) * to_size(ld_);
  data_.assign(size, 0.0);
  lower_.resize(size);
  order_.resize(n);
}

bool DenseLu::factor(double least) {
  for (int k = 0; k < n_; ++k) {
    double* multipliers = lower_.data() + static_cast<std::ptrdiff_t>(k) * ld_;
    int best = k;
    for (int i = k; i < n_; ++i) {
      multipliers[i] = row(i)[k];
      if (std::abs(multipliers[i]) > std::abs(multipliers[best])) best = i;
    }
    if (!(std::abs(multipliers[best]) > least)) return false;
    order_[k] = best;
    if (best != k) {
      std::swap_ranges(row(k) + k, row(k) + n_, row(best) + k);
      for (double* column = lower_.data(); column <= multipliers; column += ld_) std::swap(column[k], column[best]);
    }
    const double reciprocal = 1 / multipliers[k];
    multipliers[k] = 1;
    for (int i = k + 1; i < n_; ++i) multipliers[i] *= reciprocal;
    const int first = k / kernels::kLane * kernels::kLane;  // whole lanes: what stands left of the diagonal is not used
                                                            // again
    kernels_->multiply_many(n_ - k - 1, 1, -1.0, multipliers + k + 1, 1, 1, row(k) + first, ld_, row(k) + ld_ + first,
                            ld_, ld_ - first);
    row(k)[k] = reciprocal;
  }
  return true;
}

void DenseLu::solve(double* x) {
  for (int k = 0; k < n_; ++k) std::swap(x[k], x[order_[k]]);
  for (int k = 0; k < n_; ++k) {
    const double* multipliers = lower_.data() + static_cast<std::ptrdiff_t>(k) * ld_;
    const double value = x[k];
    for (int i = k + 1; i < n_; ++i) x[i] -= multipliers[i] * value;
  }
  for (int k = n_ - 1; k >= 0; --k) {
    const double* upper = row(k);
    double value = x[k];
    for (int j = k + 1; j < n_; ++j) value -= upper[j] * x[j];
    x[k] = value * upper[k];
  }
}

void DenseLu::solve_many(double* X, int ld, int k) {
  for (int i = 0; i < n_; ++i) {
    const int other = order_[i];
    if (other != i)
      std::swap_ranges(X + static_cast<std::ptrdiff_t>(i) * ld, X + static_cast<std::ptrdiff_t>(i) * ld + k,
                       X + static_cast<std::ptrdiff_t>(other) * ld);
  }
  kernels_->substitute_many(n_, lower_.data(), 1, ld_, false, X, ld, k);
  kernels_->substitute_many(n_, data_.data(), ld_, 1, true, X, ld, k);
}

bool solve_consistent(int rows, int cols, std::vector<double>& A, std::vector<double>& b, double* x, double least,
                      double rest) {
  const auto entry = [&](int i, int j) -> double& { return A[to_size(i) * to_size(cols) + to_size(j)]; };
  std::vector<int> order(cols);
  std::iota(order.begin(), order.end(), 0);
  int rank = 0;
  for (; rank < std::min(rows, cols); ++rank) {
    int row = rank, col = rank;
    for (int i = rank; i < rows; ++i) {
      for (int j = rank; j < cols; ++j) {
        if (std::abs(entry(i, j)) > std::abs(entry(row, col))) {
          row = i;
          col = j;
        }
      }
    }
    if (!(std::abs(entry(row, col)) > least)) break;
    for (int j = 0; j < cols; ++j) std::swap(entry(row, j), entry(rank, j));
    std::swap(b[row], b[rank]);
    for (int i = 0; i < rows; ++i) std::swap(entry(i, col), entry(i, rank));
    std::swap(order[col], order[rank]);
    for (int i = rank + 1; i < rows; ++i) {
      const double factor = entry(i, rank) / entry(rank, rank);
      if (factor == 0) continue;
      for (int j = rank; j < cols; ++j) entry(i, j) -= factor * entry(rank, j);
      b[i] -= factor * b[rank];
    }
  }
  bool consistent = true;
  for (int i = rank; i < rows; ++i) consistent = consistent && std::abs(b[i]) <= rest;
  std::fill_n(x, cols, 0.0);
  for (int k = rank - 1; k >= 0; --k) {
    double value = b[k];
    for (int j = k + 1; j < rank; ++j) value -= entry(k, j) * x[order[j]];
    x[order[k]] = value / entry(k, k);
  }
  return consistent;
}

}  // namespace deft::solvers::linear
