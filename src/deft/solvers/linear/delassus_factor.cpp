#include "deft/solvers/linear/delassus_factor.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::linear {
namespace {

// A row of which only this part of |row|² lies outside the span of A counts as dependent: what lies below is rounding
// magnified.
constexpr double kDependent = 1e-10;

}  // namespace

void DelassusFactor::clear(int capacity) {
  n_ = 0;
  if (capacity > capacity_) {
    capacity_ = capacity;
    ld_ = kernels::padded(capacity);
    U_.resize(to_size(capacity_) * ld_ + kernels::kLane);
    y_.resize(capacity_);
    column_.resize(ld_);
    floor_.resize(capacity_);
  }
}

void DelassusFactor::begin(int n) {
  for (int k = 0; k < n; ++k) std::fill_n(&entry(k, 0), kernels::padded(n), 0.0);
}

bool DelassusFactor::factorise(int n, const double* rhs) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  for (int k = 0; k < n; ++k) floor_[k] = kDependent * entry(k, k);
  n_ = 0;
  if (kernels.factor(n, ld_, U_.data(), floor_.data()) > 0) return false;
  n_ = n;
  std::copy(rhs, rhs + n, y_.begin());
  kernels.forward(n, ld_, U_.data(), y_.data());
  return true;
}

bool DelassusFactor::independent(const double* w, int first, double w_rr) {
  std::copy(w, w + n_, column_.begin());
  const std::size_t corner = to_size(first) * (ld_ + 1);
  if (first < n_) kernels::dense_kernels().forward(n_ - first, ld_, U_.data() + corner, column_.data() + first);
  first_ = first;
  rest_ = w_rr;
  for (int k = first; k < n_; ++k) rest_ -= column_[k] * column_[k];
  return rest_ > kDependent * w_rr;
}

void DelassusFactor::append(double rhs) {
  const double reciprocal = 1 / std::sqrt(rest_);
  for (int k = 0; k < n_; ++k) entry(k, n_) = column_[k];
  entry(n_, n_) = reciprocal;
  for (int k = first_; k < n_; ++k) rhs -= column_[k] * y_[k];
  y_[n_++] = rhs * reciprocal;
}

void DelassusFactor::copy(const DelassusFactor& other) {
  clear(other.capacity_);
  n_ = other.n_;
  first_ = other.first_;
  rest_ = other.rest_;
  for (int k = 0; k < n_; ++k) std::copy_n(other.U_.data() + to_size(k) * other.ld_ + k, n_ - k, &entry(k, k));
  std::copy_n(other.column_.begin(), n_, column_.begin());
  std::fill_n(y_.begin(), n_, 0.0);
}

void DelassusFactor::remove(int k) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  for (int r = 0; r < n_; ++r) {
    double* row = &entry(r, 0);
    const int from = std::max(r, k + 1);
    std::copy(row + from, row + n_, row + from - 1);
  }
  --n_;
  for (int i = k; i < n_; ++i) {  // row i + 1 has an entry left of the diagonal, the reciprocal of its old pivot
    double* a = &entry(i, i);
    double* b = a + ld_;
    const double below = 1 / *b, reciprocal = 1 / std::sqrt(*a * *a + below * below);
    const double c = *a * reciprocal, s = below * reciprocal;
    *a = reciprocal;
    kernels.rotate(n_ - i - 1, c, s, a + 1, b + 1);
    kernels.rotate(1, c, s, &y_[i], &y_[i + 1]);
  }
}

void DelassusFactor::solve(double* lambda) const {
  std::copy(y_.begin(), y_.begin() + n_, lambda);
  kernels::dense_kernels().backward(n_, ld_, U_.data(), lambda);
}

void DelassusFactor::solve_for(double* x) const { kernels::dense_kernels().solve(n_, ld_, U_.data(), x); }

void DelassusFactor::null_direction(double* p) const {
  for (int k = 0; k < n_; ++k) p[k] = -column_[k];
  kernels::dense_kernels().backward(n_, ld_, U_.data(), p);
}

void DelassusFactor::clear_rhs() { std::fill(y_.begin(), y_.begin() + n_, 0.0); }

}  // namespace deft::solvers::linear
