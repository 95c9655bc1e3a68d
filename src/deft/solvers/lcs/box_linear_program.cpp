#include "deft/solvers/lcs/box_linear_program.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "deft/core/infinity.hpp"

namespace deft::solvers::lcs {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSimplexFeasible = 1e-9;   // relative violation that the simplex method calls none
constexpr double kFlat = 1e-10;             // slope, relative to the steepest possible, that it does not follow
constexpr double kPivot = 1e-10;            // smallest pivot
constexpr double kZeroCoefficient = 1e-12;  // of the terms of a coefficient: zero
constexpr double kSumError = 1e-12;         // of the terms of a sum: its error
constexpr double kEmptyProof = 1e-7;        // of the terms of a proof that the set is empty
constexpr int kLimit = 50;                  // steps per row and column
constexpr int kBland = 10;                  // steps per row and column, after which the rule that cannot cycle is used

double largest(const VectorXd& v) { return v.size() > 0 ? v.cwiseAbs().maxCoeff() : 0.0; }

}  // namespace

BoxLinearProgram::BoxLinearProgram(MatrixXd R, VectorXd lower, VectorXd upper)
    : R_(std::move(R)), lower_(std::move(lower)), upper_(std::move(upper)), table_(R_) {
  const Index n = R_.cols(), m = R_.rows();
  if (lower_.size() != n + m || upper_.size() != n + m)
    throw std::invalid_argument("BoxLinearProgram: bounds need one number per entry of z and w");
  value_ = VectorXd::Zero(n + m);
  for (Index j = 0; j < n; ++j) {
    outside_.push_back(j);
    if (std::isfinite(lower_[j]) && (!std::isfinite(upper_[j]) || std::abs(lower_[j]) <= std::abs(upper_[j])))
      value_[j] = lower_[j];
    else if (std::isfinite(upper_[j]))
      value_[j] = upper_[j];
  }
  for (Index i = 0; i < m; ++i) basic_.push_back(n + i);
}

void BoxLinearProgram::pivot(Index row, Index col) {
  const double inverse = 1 / table_(row, col);
  Eigen::RowVectorXd line = -inverse * table_.row(row);
  line[col] = inverse;
  const VectorXd column = table_.col(col);
  table_.col(col).setZero();
  table_.noalias() += column * line;
  table_.row(row) = line;
  std::swap(basic_[row], outside_[col]);
}

/// One step up `slope` (over the variables outside the basis); false where there is none, with the reason.
bool BoxLinearProgram::step(const VectorXd& slope, bool bland, bool repairing, Outcome& outcome) {
  const Index n = table_.cols(), m = table_.rows();
  const double flat = kFlat * std::max(largest(slope), 1e-300);
  Index col = -1;
  for (Index j = 0; j < n; ++j) {
    const Index v = outside_[j];
    const bool way = slope[j] > 0 ? value_[v] < upper_[v] : value_[v] > lower_[v];
    if (std::abs(slope[j]) <= flat || !way) continue;
    if (col < 0 || (bland ? v < outside_[col] : std::abs(slope[j]) > std::abs(slope[col]))) col = j;
  }
  outcome = repairing ? Outcome::kInfeasible : Outcome::kOptimal;
  if (col < 0) return false;

  // The ratio test: the step ends at a bound of the entering variable, or where a variable of the basis meets one.
  const Index entering = outside_[col];
  const double sign = slope[col] > 0 ? 1 : -1;
  double length = upper_[entering] - lower_[entering], stop = 0, strength = 0;
  Index row = -1;
  for (Index i = 0; i < m; ++i) {
    const Index v = basic_[i];
    const double rate = sign * table_(i, col);
    if (std::abs(rate) < kPivot) continue;
    const double tolerance = kSimplexFeasible * std::max(1.0, std::abs(value_[v]));
    const bool below = value_[v]<lower_[v] - tolerance, above = value_[v]> upper_[v] + tolerance;
    if ((below && rate < 0) || (above && rate > 0)) continue;
    const double bound = below ? lower_[v] : above ? upper_[v] : rate > 0 ? upper_[v] : lower_[v];
    if (!std::isfinite(bound)) continue;
    const double ratio = std::max(0.0, (bound - value_[v]) / rate);
    if (ratio < length || (ratio == length && std::abs(rate) > strength)) {
      length = ratio;
      stop = bound;
      row = i;
      strength = std::abs(rate);
    }
  }
  outcome = Outcome::kUnbounded;
  if (!std::isfinite(length)) return false;
  if (row < 0) {
    value_[entering] = sign > 0 ? upper_[entering] : lower_[entering];
    return true;
  }
  value_[entering] += sign * length;
  value_[basic_[row]] = stop;
  pivot(row, col);
  return true;
}

BoxLinearProgram::Outcome BoxLinearProgram::iterate(const VectorXd& c) {
  const Index n = table_.cols(), m = table_.rows();
  const int size = static_cast<int>(n + m);
  VectorXd outside(n), inside_slope(m);
  for (int k = 0; k < kLimit * size; ++k) {
    for (Index j = 0; j < n; ++j) outside[j] = value_[outside_[j]];
    const VectorXd inside = table_ * outside;
    // Repair what violates its bounds first.
    bool repairing = false;
    for (Index i = 0; i < m; ++i) {
      const Index v = basic_[i];
      value_[v] = inside[i];
      const double tolerance = kSimplexFeasible * std::max(1.0, std::abs(inside[i]));
      inside_slope[i] = inside[i] < lower_[v] - tolerance ? 1 : inside[i] > upper_[v] + tolerance ? -1 : 0;
      repairing = repairing || inside_slope[i] != 0;
    }
    slope_ = VectorXd::Zero(n);
    if (!repairing) {
      for (Index i = 0; i < m; ++i) inside_slope[i] = c[basic_[i]];
      for (Index j = 0; j < n; ++j) slope_[j] = c[outside_[j]];
    }
    slope_.noalias() += table_.transpose() * inside_slope;
    Outcome outcome;
    if (!step(slope_, k > kBland * size, repairing, outcome)) return outcome;
  }
  return Outcome::kStopped;
}

/// Coefficients of w in the last slope; those in the basis have none.
VectorXd BoxLinearProgram::reduced_rows(const VectorXd& reduced) const {
  const Index n = R_.cols();
  VectorXd out = VectorXd::Zero(R_.rows());
  for (std::size_t j = 0; j < outside_.size(); ++j) {
    if (outside_[j] >= n) out[outside_[j] - n] = reduced[static_cast<Index>(j)];
  }
  return out;
}

/// The bound of this class's head, for c_w + y = `reduced_w`; `terms` is the sum of its terms' sizes.
double BoxLinearProgram::certified(const VectorXd& c, const VectorXd& reduced_w, double& terms) const {
  const Index n = R_.cols(), m = R_.rows();
  const VectorXd y = reduced_w - c.tail(m);
  double sum = 0;
  terms = 0;
  const auto add = [&](double coefficient, double scale, Index v) {
    if (coefficient == 0) return;
    const double bound = coefficient > 0 ? upper_[v] : lower_[v];
    if (!std::isfinite(bound) && std::abs(coefficient) <= kZeroCoefficient * scale) return;
    sum += coefficient * bound;
    terms += std::isfinite(bound) ? std::abs(coefficient * bound) + kZeroCoefficient * scale * std::abs(bound) : 0;
  };
  for (Index j = 0; j < n; ++j)
    add(c[j] - R_.col(j).dot(y), std::abs(c[j]) + R_.col(j).cwiseAbs().dot(y.cwiseAbs()), j);
  for (Index i = 0; i < m; ++i) add(reduced_w[i], std::abs(c[n + i]) + std::abs(y[i]), n + i);
  return sum + kSumError * terms;
}

double BoxLinearProgram::upper_bound(const VectorXd& c) {
  if (c.size() != R_.cols() + R_.rows())
    throw std::invalid_argument("BoxLinearProgram: c needs one number per entry of z and w");
  if (empty_) return -kInfinity;
  const Outcome outcome = iterate(c);
  double terms = 0;
  if (outcome == Outcome::kInfeasible) {
    // The slope of the repair proves it: no point could have less than no violation.
    const VectorXd zero = VectorXd::Zero(c.size());
    VectorXd reduced = reduced_rows(slope_);
    for (std::size_t i = 0; i < basic_.size(); ++i) {
      // What is violated inside the basis stands in the slope with its sign.
      const Index v = basic_[i];
      if (v < R_.cols()) continue;
      const double tolerance = kSimplexFeasible * std::max(1.0, std::abs(value_[v]));
      if (value_[v] < lower_[v] - tolerance) reduced[v - R_.cols()] -= 1;
      if (value_[v] > upper_[v] + tolerance) reduced[v - R_.cols()] += 1;
    }
    const double proof = certified(zero, reduced, terms);
    empty_ = proof < -kEmptyProof * std::max(terms, 1e-300);
    return empty_ ? -kInfinity : kInfinity;
  }
  if (outcome != Outcome::kOptimal) return kInfinity;
  return certified(c, reduced_rows(slope_), terms);
}

double BoxLinearProgram::upper_bound_below(const VectorXd& c, Index index, double cap) {
  if (empty_) return -kInfinity;
  if (cap < lower_[index]) return -kInfinity;
  const double upper = std::exchange(upper_[index], std::min(cap, upper_[index]));
  const bool outside = std::find(outside_.begin(), outside_.end(), index) != outside_.end();
  if (outside) value_[index] = std::min(value_[index], upper_[index]);
  const double bound = upper_bound(c);
  empty_ = false;
  upper_[index] = upper;
  // What stood at the cap stands at no bound of the set: move it to one.
  if (std::find(outside_.begin(), outside_.end(), index) != outside_.end() && value_[index] != lower_[index] &&
      value_[index] != upper)
    value_[index] = std::isfinite(lower_[index]) ? lower_[index] : std::isfinite(upper) ? upper : 0.0;
  return bound;
}

}  // namespace deft::solvers::lcs
