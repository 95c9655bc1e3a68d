#include "deft/solvers/lcp/complementary_basis.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::lcp {
namespace {

constexpr double kSingularBasis = 1e-13;  // pivots below: no regular system
constexpr double kRankPivot = 1e-10;      // pivots below: a dependent row
constexpr double kConsistent = 1e-9;      // what dependent rows may miss
constexpr double kRounding = 1e-14;       // values above −this are not negative
constexpr int kRefinements = 2;

}  // namespace

bool ComplementaryBasis::solve(const ScaledComplementarity& problem, std::span<const char> basic) {
  zero_rows_.clear();
  chosen_.clear();
  for (int i = 0; i < problem.n; ++i) {
    if (problem.free[i] || basic[i]) zero_rows_.push_back(i);
    if (basic[i]) chosen_.push_back(i);
  }
  return solve(problem, zero_rows_, chosen_);
}

bool ComplementaryBasis::solve(const ScaledComplementarity& problem, std::span<const int> rows,
                               std::span<const int> cols) {
  z_.assign(problem.ld, 0.0);
  w_.resize(problem.n);
  step_.resize(problem.n);
  if (rows.size() == cols.size() && solve_regular(problem, rows, cols)) return true;
  return solve_singular(problem, rows, cols);
}

void ComplementaryBasis::take(const ScaledComplementarity& problem, std::span<const double> z) {
  z_.assign(problem.ld, 0.0);
  std::copy(z.begin(), z.end(), z_.begin());
  w_.resize(problem.n);
  evaluate(problem);
}

void ComplementaryBasis::evaluate(const ScaledComplementarity& problem) {
  kernels::dense_kernels().multiply(problem.n, problem.ld, problem.M.data(), z_.data(), w_.data());
  for (int i = 0; i < problem.n; ++i) w_[i] += problem.q[i];
}

bool ComplementaryBasis::solve_regular(const ScaledComplementarity& problem, std::span<const int> rows,
                                       std::span<const int> cols) {
  const std::size_t size = rows.size();
  lu_.resize(static_cast<int>(size));
  for (std::size_t k = 0; k < size; ++k) {
    const double* from = problem.M_row(rows[k]);
    double* to = lu_.row(static_cast<int>(k));
    for (std::size_t l = 0; l < size; ++l) to[l] = from[cols[l]];
  }
  if (!lu_.factor(kSingularBasis)) return false;
  std::copy(problem.q.begin(), problem.q.end(), w_.begin());  // of z = 0
  double error = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass <= kRefinements; ++pass) {
    for (std::size_t k = 0; k < size; ++k) step_[k] = -w_[rows[k]];
    lu_.solve(step_.data());
    before_ = z_;
    for (std::size_t l = 0; l < size; ++l) z_[cols[l]] += step_[l];
    evaluate(problem);
    double now = 0;
    for (const int i : rows) now = std::max(now, std::abs(w_[i]));
    if (!(now < error)) {  // no better than before
      if (pass == 0) return false;
      z_ = before_;
      evaluate(problem);
      break;
    }
    error = now;
  }
  // What lies below rounding of the whole is zero.
  double largest = 1;
  for (const int j : cols) largest = std::max(largest, std::abs(z_[j]));
  bool changed = false;
  for (const int j : cols) {
    double& value = z_[j];
    if (value < 0 && value > -kRounding * largest && !problem.free[j]) {
      value = 0;
      changed = true;
    }
  }
  if (changed) evaluate(problem);
  return true;
}

bool ComplementaryBasis::solve_singular(const ScaledComplementarity& problem, std::span<const int> rows,
                                        std::span<const int> cols) {
  const std::size_t height = rows.size(), width = cols.size();
  std::vector<double> A(height * width), b(height), x(width);
  std::fill(z_.begin(), z_.end(), 0.0);
  std::copy(problem.q.begin(), problem.q.end(), w_.begin());
  bool consistent = false;
  for (int pass = 0; pass < 2; ++pass) {  // the second one refines
    for (std::size_t k = 0; k < height; ++k) {
      for (std::size_t l = 0; l < width; ++l) A[k * width + l] = problem.M_row(rows[k])[cols[l]];
      b[k] = -w_[rows[k]];
    }
    consistent = linear::solve_consistent(static_cast<int>(height), static_cast<int>(width), A, b, x.data(), kRankPivot,
                                          kConsistent);
    for (std::size_t l = 0; l < width; ++l) z_[cols[l]] += x[l];
    evaluate(problem);
  }
  return consistent;
}

int ComplementaryBasis::count_negative(const ScaledComplementarity& problem) const {
  int count = 0;
  for (std::size_t i = 0; i < to_size(problem.n); ++i) {
    if (!problem.free[i]) count += z_[i] < -kRounding || (z_[i] == 0 && w_[i] < -kRounding);
  }
  return count;
}

double ComplementaryBasis::least(const ScaledComplementarity& problem) const {
  double value = 0;
  for (std::size_t i = 0; i < to_size(problem.n); ++i) {
    if (!problem.free[i]) value = std::min({value, z_[i], w_[i]});
  }
  return value;
}

void ComplementaryBasis::exchange_negative(const ScaledComplementarity& problem, std::vector<char>& basic) const {
  for (std::size_t i = 0; i < to_size(problem.n); ++i) {
    if (problem.free[i]) continue;
    const bool negative = basic[i] ? z_[i] < -kRounding : w_[i] < -kRounding;
    if (negative) basic[i] = !basic[i];
  }
}

}  // namespace deft::solvers::lcp
