#include "deft/solvers/delassus_factor.hpp"

#include <algorithm>
#include <cmath>

#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers {
namespace {

// A row of which only this part of |row|² lies outside the span of A counts as dependent: what lies below is rounding
// magnified.
constexpr double kDependent = 1e-10;

}  // namespace

void DelassusFactor::clear(int capacity) {
  n_ = 0;
  if (capacity > capacity_) {
    capacity_ = capacity;
    ld_ = padded(capacity);
    U_.resize(static_cast<std::size_t>(capacity_) * ld_);
    y_.resize(capacity_);
    column_.resize(ld_);
  }
}

bool DelassusFactor::independent(const double* w, int first, double w_rr) {
  std::copy(w, w + n_, column_.begin());
  const std::size_t corner = static_cast<std::size_t>(first) * (ld_ + 1);
  if (first < n_) dense_kernels().forward(n_ - first, ld_, U_.data() + corner, column_.data() + first);
  first_ = first;
  rest_ = w_rr;
  for (int k = first; k < n_; ++k) rest_ -= column_[k] * column_[k];
  return rest_ > kDependent * w_rr;
}

void DelassusFactor::append(double rhs) {
  const double root = std::sqrt(rest_);
  for (int k = 0; k < n_; ++k) U_[static_cast<std::size_t>(k) * ld_ + n_] = column_[k];
  U_[static_cast<std::size_t>(n_) * (ld_ + 1)] = root;
  for (int k = first_; k < n_; ++k) rhs -= column_[k] * y_[k];
  y_[n_++] = rhs / root;
}

void DelassusFactor::remove(int k) {
  const DenseKernels& kernels = dense_kernels();
  for (int r = 0; r < n_; ++r) {
    double* row = U_.data() + static_cast<std::size_t>(r) * ld_;
    const int from = std::max(r, k + 1);
    std::copy(row + from, row + n_, row + from - 1);
  }
  --n_;
  for (int i = k; i < n_; ++i) {  // row i + 1 has an entry left of the diagonal
    double* a = U_.data() + static_cast<std::size_t>(i) * ld_;
    double* b = a + ld_;
    const double length = std::sqrt(a[i] * a[i] + b[i] * b[i]);
    const double c = a[i] / length, s = b[i] / length;
    kernels.rotate(n_ - i, c, s, a + i, b + i);
    kernels.rotate(1, c, s, &y_[i], &y_[i + 1]);
  }
}

void DelassusFactor::solve(double* lambda) const {
  std::copy(y_.begin(), y_.begin() + n_, lambda);
  dense_kernels().backward(n_, ld_, U_.data(), lambda);
}

void DelassusFactor::solve_for(double* x) const { dense_kernels().solve(n_, ld_, U_.data(), x); }

void DelassusFactor::null_direction(double* p) const {
  for (int k = 0; k < n_; ++k) p[k] = -column_[k];
  dense_kernels().backward(n_, ld_, U_.data(), p);
}

void DelassusFactor::clear_rhs() { std::fill(y_.begin(), y_.begin() + n_, 0.0); }

}  // namespace deft::solvers
