#include <algorithm>
#include <cmath>
#include <numeric>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"
#include "deft/solvers/mcp/linear_system.hpp"

namespace deft::solvers::mcp {
namespace {

constexpr double kHidden = 1e-14;  // of the largest entry of AᵀA: below is rounding

bool finite(int n, const double* x) {
  double total = 0;
  for (int i = 0; i < n; ++i) total += std::abs(x[i]);
  return std::isfinite(total);
}

}  // namespace

void McpLinear::choose_rows(int n, const double* b) {
  rows_.clear();
  place_.assign(n, -1);
  for (int i = 0; i < n; ++i) {
    if (b[i] == 0) continue;
    place_[i] = static_cast<int>(rows_.size());
    rows_.push_back(i);
  }
  units_.resize(rows_.size());
  reduced_.resize(rows_.size());
}

bool McpLinear::factor(const McpMatrix& J, const double* a, const double* b, double least) {
  choose_rows(J.size(), b);
  return J.dense() ? factor_dense(J, a, b, least) : factor_sparse(J, a, b, least);
}

bool McpLinear::factor_dense(const McpMatrix& J, const double* a, const double* b, double least) {
  const int m = static_cast<int>(rows_.size());
  lu_.resize(m);
  const bool whole = m == J.size();
  for (int r = 0; r < m; ++r) {
    const int i = rows_[r];
    const double* from = J.row(i);
    double* to = lu_.row(r);
    if (whole)
      for (int c = 0; c < m; ++c) to[c] = b[i] * from[c];
    else
      for (int c = 0; c < m; ++c) to[c] = b[i] * from[rows_[c]];
    to[r] += a[i];
    double largest = 0;
    for (int c = 0; c < m; ++c) largest = std::max(largest, std::abs(to[c]));
    if (!(largest > 0)) return false;
    units_[r] = 1 / largest;
    for (int c = 0; c < m; ++c) to[c] *= units_[r];
  }
  return lu_.factor(least);
}

bool McpLinear::factor_sparse(const McpMatrix& J, const double* a, const double* b, double least) {
  const int m = static_cast<int>(rows_.size());
  triplets_.clear();
  std::fill(units_.begin(), units_.end(), 0.0);
  const auto add = [&](int r, int c, double value) {
    triplets_.emplace_back(r, c, value);
    units_[r] = std::max(units_[r], std::abs(value));
  };
  for (int r = 0; r < m; ++r) add(r, r, a[rows_[r]]);
  for (const McpJacobian::Entry& entry : J.entries()) {
    const int r = place_[entry.row], c = place_[entry.column];
    if (r >= 0 && c >= 0) add(r, c, b[entry.row] * entry.value);
  }
  for (double& unit : units_) {
    if (!(unit > 0)) return false;
    unit = 1 / unit;
  }
  for (auto& t : triplets_) t = {t.row(), t.col(), t.value() * units_[t.row()]};
  if (m == 0) return true;
  SparseMatrix A(m, m);
  A.setFromTriplets(triplets_.begin(), triplets_.end());
  sparse_lu_.compute(A);
  if (sparse_lu_.info() != Eigen::Success) return false;
  // What a right-hand side of mixed signs grows to shows small pivots.
  Eigen::VectorXd mixed(m);
  for (int i = 0; i < m; ++i) mixed[i] = std::cos(i * 2.399963);
  const Eigen::VectorXd grown = sparse_lu_.solve(mixed);
  return grown.lpNorm<Eigen::Infinity>() < 1 / least;
}

bool McpLinear::solve(const McpMatrix& J, const double* a, const double* b, double* x) {
  const int n = J.size(), m = static_cast<int>(rows_.size());
  given_.clear();
  for (int i = 0; i < n; ++i) {
    if (place_[i] >= 0 || x[i] == 0) continue;
    x[i] /= a[i];
    given_.push_back(i);
  }
  for (int r = 0; r < m; ++r) {
    const int i = rows_[r];
    double known = 0;
    if (J.dense())
      for (const int j : given_) known += J.row(i)[j] * x[j];
    reduced_[r] = units_[r] * (x[i] - b[i] * known);
  }
  if (!J.dense()) {
    for (const McpJacobian::Entry& entry : J.entries()) {
      const int r = place_[entry.row];
      if (r < 0 || place_[entry.column] >= 0) continue;
      reduced_[r] -= units_[r] * b[entry.row] * entry.value * x[entry.column];
    }
    if (m > 0) {
      Eigen::Map<Eigen::VectorXd> values(reduced_.data(), m);
      const Eigen::VectorXd found = sparse_lu_.solve(values);
      values = found;
    }
  } else {
    lu_.solve(reduced_.data());
  }
  for (int r = 0; r < m; ++r) x[rows_[r]] = reduced_[r];
  return finite(n, x);
}

bool McpLinear::damped(const McpMatrix& J, const double* a, const double* b, double damping, const double* g,
                       double* x) {
  for (int i = 0; i < J.size(); ++i) x[i] = -g[i];
  return (J.dense() ? damped_dense(J, a, b, damping, x) : damped_sparse(J, a, b, damping, x)) && finite(J.size(), x);
}

bool McpLinear::damped_dense(const McpMatrix& J, const double* a, const double* b, double damping, double* x) {
  const int n = J.size(), ld = J.ld();
  const auto size = to_size(n) * to_size(ld);
  A_.resize(size);
  H_.assign(size, 0.0);
  floor_.resize(n);
  columns_.resize(n);
  std::iota(columns_.begin(), columns_.end(), 0);
  for (int i = 0; i < n; ++i) {
    double* row = A_.data() + static_cast<std::ptrdiff_t>(i) * ld;
    for (int j = 0; j < ld; ++j) row[j] = b[i] * J.row(i)[j];
    row[i] += a[i];
  }
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  kernels.add_product(n, n, ld, A_.data(), A_.data(), columns_.data(), true, H_.data(), ld);
  double largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, H_[i * ld + i]);
  const double mu = std::max(damping, kHidden * largest);
  for (int i = 0; i < n; ++i) H_[i * ld + i] += mu;
  std::fill(floor_.begin(), floor_.end(), 0.1 * mu);
  kernels.factor(n, ld, H_.data(), floor_.data());
  kernels.solve(n, ld, H_.data(), x);
  return true;
}

bool McpLinear::damped_sparse(const McpMatrix& J, const double* a, const double* b, double damping, double* x) {
  const int n = J.size();
  triplets_.clear();
  for (int i = 0; i < n; ++i) triplets_.emplace_back(i, i, a[i]);
  for (const McpJacobian::Entry& entry : J.entries())
    triplets_.emplace_back(entry.row, entry.column, b[entry.row] * entry.value);
  SparseMatrix A(n, n);
  A.setFromTriplets(triplets_.begin(), triplets_.end());
  SparseMatrix H = A.transpose() * A;
  double largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, H.coeff(i, i));
  SparseMatrix identity(n, n);
  identity.setIdentity();
  H += std::max(damping, kHidden * largest) * identity;
  const Eigen::SimplicialLDLT<SparseMatrix> factor(H);
  if (factor.info() != Eigen::Success) return false;
  Eigen::Map<Eigen::VectorXd> values(x, n);
  const Eigen::VectorXd found = factor.solve(values);
  values = found;
  return true;
}

}  // namespace deft::solvers::mcp
