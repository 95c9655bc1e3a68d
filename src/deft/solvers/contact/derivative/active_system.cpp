#include "deft/solvers/contact/derivative/active_system.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

constexpr double kSingular = 1e-12;  // pivots of the scaled H below it are zero
constexpr double kDependent = 1e-5;  // length of a unit row outside the span of others below which it is redundant
constexpr double kRounding = 1e-14;  // the same for a compliant row, which has a variable of its own
constexpr double kAgree = 1e-7;      // redundant rows whose rates differ by less agree

double dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
void add(int n, double factor, const double* a, double* b) {
  for (int i = 0; i < n; ++i) b[i] += factor * a[i];
}
double largest(int n, const double* a) {
  double most = 0;
  for (int i = 0; i < n; ++i) most = std::max(most, std::abs(a[i]));
  return most;
}
void scale_rows(const std::vector<double>& scale, int ld, double* rows) {
  for (const double s : scale) {
    for (int c = 0; c < ld; ++c) *rows++ *= s;
  }
}
std::size_t area(int rows, int cols) { return to_size(rows) * cols; }

}  // namespace

void ActiveSystem::reset(int n, int m, int num_compliant) {
  n_ = n;
  m_ = m;
  rank_ = 0;
  ld_ = kernels::padded(n);
  H_.assign(area(n, n), 0.0);
  G_.assign(area(m, n), 0.0);
  penalty_.assign(m, 0.0);
  is_compliant_.assign(m, 0);
  next_compliant_ = n - num_compliant;
}

void ActiveSystem::make_compliant(int k) {
  is_compliant_[k] = 1;
  H(next_compliant_)[next_compliant_] = 1;
  G(k)[next_compliant_++] = 1;
}

bool ActiveSystem::factor() {
  U_.assign(area(n_, ld_), 0.0);
  floor_.assign(n_, kSingular);
  scale_.resize(n_);
  double most = 0;
  for (int i = 0; i < n_; ++i) most = std::max(most, H(i)[i]);
  for (int i = 0; i < n_; ++i) scale_[i] = H(i)[i] > 1e-300 * most ? 1 / std::sqrt(H(i)[i]) : 1.0;
  for (int i = 0; i < n_; ++i) {
    for (int j = i; j < n_; ++j) U_[area(i, ld_) + j] = scale_[i] * scale_[j] * H(i)[j];
  }
  return kernels::dense_kernels().factor(n_, ld_, U_.data(), floor_.data()) == 0;
}

void ActiveSystem::add_penalties(const double* metric) {
  for (int k = 0; k < m_; ++k) {
    double squared = 0;
    for (int i = 0; i < n_; ++i) squared += G(k)[i] * G(k)[i] / metric[i];
    penalty_[k] = squared > 0 ? 1 / squared : 0;  // zero for a row that moves nothing
    for (int i = 0; i < n_; ++i) {
      if (G(k)[i] != 0) add(n_, penalty_[k] * G(k)[i], G(k), H(i));
    }
  }
}

void ActiveSystem::eliminate() {
  N_ = G_;
  row_scale_.resize(m_);
  for (int k = 0; k < m_; ++k) {
    double* row = N_.data() + area(k, n_);
    for (int i = 0; i < n_; ++i) row[i] *= scale_[i];
    kernels::dense_kernels().forward(n_, ld_, U_.data(), row);
    const double squared = dot(n_, row, row);
    row_scale_[k] = squared > 0 ? 1 / std::sqrt(squared) : 1;  // a row that moves nothing stays zero, never a pivot
    for (int i = 0; i < n_; ++i) row[i] *= row_scale_[k];
  }
  orthogonalise();
  triangularise();
}

/// N = RᵀQ by Gram and Schmidt, the row farthest from the span of the others first.
void ActiveSystem::orthogonalise() {
  const int most = std::min(n_, m_);
  Q_.resize(area(most, n_));
  R_.assign(area(most, m_), 0.0);
  pivots_.clear();
  is_pivot_.assign(m_, 0);
  for (rank_ = 0; rank_ < most; ++rank_) {
    int pivot = -1;
    double longest = 0;
    for (int k = 0; k < m_; ++k) {
      if (is_pivot_[k] != 0) continue;
      const double squared = dot(n_, N_.data() + area(k, n_), N_.data() + area(k, n_));
      const double least = is_compliant_[k] != 0 ? kRounding : kDependent;
      if (squared > longest && squared > least * least) pivot = k, longest = squared;
    }
    if (pivot < 0) return;
    is_pivot_[pivot] = 1;
    pivots_.push_back(pivot);
    double* q = Q_.data() + area(rank_, n_);
    std::copy_n(N_.data() + area(pivot, n_), n_, q);
    // Once more against those before it, because of rounding.
    for (int i = 0; i < rank_; ++i) {
      const double along = dot(n_, Q_.data() + area(i, n_), q);
      add(n_, -along, Q_.data() + area(i, n_), q);
      R_[area(i, m_) + pivot] += along;
    }
    const double length = std::sqrt(dot(n_, q, q));
    for (int i = 0; i < n_; ++i) q[i] /= length;
    R_[area(rank_, m_) + pivot] = length;
    for (int k = 0; k < m_; ++k) {
      if (is_pivot_[k] != 0) continue;
      double* rest = N_.data() + area(k, n_);
      const double along = dot(n_, q, rest);
      add(n_, -along, q, rest);
      R_[area(rank_, m_) + k] = along;
    }
  }
}

/// R = T Z; the diagonal of T holds the reciprocals of its entries.
void ActiveSystem::triangularise() {
  T_.assign(area(rank_, rank_), 0.0);
  Z_.assign(R_.begin(), R_.begin() + static_cast<std::ptrdiff_t>(area(rank_, m_)));
  for (int i = 0; i < rank_; ++i) {
    double* z = Z_.data() + area(i, m_);
    for (int pass = 0; pass < 2; ++pass) {
      for (int j = 0; j < i; ++j) {
        const double along = dot(m_, Z_.data() + area(j, m_), z);
        add(m_, -along, Z_.data() + area(j, m_), z);
        T_[area(i, rank_) + j] += along;
      }
    }
    const double length = std::sqrt(dot(m_, z, z));
    for (int k = 0; k < m_; ++k) z[k] /= length;
    T_[area(i, rank_) + i] = 1 / length;
  }
}

// In ξ = U D⁻¹ x and multipliers ỹ per unit row: ξ − Nᵀỹ = P and Nξ = −D r give Qξ = a with Rᵀa = −D r in the least
// squares, ξ = P + Qᵀ(a − QP) and Rỹ = a − QP.
bool ActiveSystem::solve(int k, int ld, double* p, double* r) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  for (int j = 0; j < m_; ++j) {
    if (penalty_[j] == 0) continue;
    for (int i = 0; i < n_; ++i) add(k, -G(j)[i] * penalty_[j], r + area(j, ld), p + area(i, ld));
  }
  scale_rows(scale_, ld, p);
  kernels.substitute_many(n_, U_.data(), 1, ld_, false, p, ld, k);
  const bool agrees = m_ == 0 || satisfy_active_rows(k, ld, p, r);
  kernels.substitute_many(n_, U_.data(), ld_, 1, true, p, ld, k);
  scale_rows(scale_, ld, p);
  return agrees;
}

bool ActiveSystem::satisfy_active_rows(int k, int ld, double* xi, double* r) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  scale_rows(row_scale_, ld, r);
  a_.assign(area(rank_, ld), 0.0);
  b_.assign(area(rank_, ld), 0.0);
  kernels.multiply_many(rank_, m_, -1, Z_.data(), m_, 1, r, ld, a_.data(), ld, k);
  kernels.substitute_many(rank_, T_.data(), 1, rank_, true, a_.data(), ld, k);
  kernels.multiply_many(rank_, n_, 1, Q_.data(), n_, 1, xi, ld, b_.data(), ld, k);
  // What r asks of redundant rows beyond what the others give them; the rates of the free motion say what is large.
  double large = 0;
  if (rank_ < m_) {
    work_.assign(area(m_, ld), 0.0);
    kernels.multiply_many(m_, rank_, 1, R_.data(), 1, m_, b_.data(), ld, work_.data(), ld, k);
    large = largest(m_ * ld, r) + largest(m_ * ld, work_.data());
    std::copy_n(r, area(m_, ld), work_.data());
    kernels.multiply_many(m_, rank_, 1, R_.data(), 1, m_, a_.data(), ld, work_.data(), ld, k);
  }
  add(rank_ * ld, -1, b_.data(), a_.data());
  kernels.multiply_many(n_, rank_, 1, Q_.data(), 1, n_, a_.data(), ld, xi, ld, k);
  if (rank_ < m_) {
    for (int j = 0; j < m_; ++j) {
      if (is_pivot_[j] == 0)
        kernels.multiply_many(1, n_, 1, N_.data() + area(j, n_), n_, 1, xi, ld, work_.data() + area(j, ld), ld, k);
    }
  }
  std::fill_n(r, area(m_, ld), 0.0);
  kernels.substitute_many(rank_, T_.data(), rank_, 1, false, a_.data(), ld, k);
  kernels.multiply_many(m_, rank_, 1, Z_.data(), 1, m_, a_.data(), ld, r, ld, k);
  scale_rows(row_scale_, ld, r);
  return rank_ == m_ || largest(m_ * ld, work_.data()) <= kAgree * large;
}

double ActiveSystem::free_multiplier(int k) const {
  if (rank_ == m_) return 0;
  double fixed = 0;
  for (int i = 0; i < rank_; ++i) fixed += Z_[area(i, m_) + k] * Z_[area(i, m_) + k];
  return std::sqrt(std::max(0.0, 1 - fixed));
}

double ActiveSystem::free_share(const double* row, const double* metric) {
  // The combination of active rows nearest in H⁻¹, with the shortest multipliers.
  work_.resize(to_size(n_) + rank_ + m_);
  double *x = work_.data(), *c = x + n_, *y = c + rank_;
  for (int i = 0; i < n_; ++i) x[i] = scale_[i] * row[i];
  kernels::dense_kernels().forward(n_, ld_, U_.data(), x);
  for (int i = 0; i < rank_; ++i) {
    c[i] = dot(n_, Q_.data() + area(i, n_), x) - dot(i, T_.data() + area(i, rank_), c);
    c[i] *= T_[area(i, rank_) + i];
  }
  std::fill_n(y, m_, 0.0);
  for (int i = 0; i < rank_; ++i) add(m_, c[i], Z_.data() + area(i, m_), y);
  std::copy_n(row, n_, x);
  for (int k = 0; k < m_; ++k) add(n_, -y[k] * row_scale_[k], G(k), x);
  double left = 0, all = 0;
  for (int i = 0; i < n_; ++i) left += x[i] * x[i] / metric[i], all += row[i] * row[i] / metric[i];
  return all > 0 ? std::sqrt(left / all) : 0.0;
}

}  // namespace deft::solvers::contact
