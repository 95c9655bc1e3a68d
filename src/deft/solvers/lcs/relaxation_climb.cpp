// The dual active-set method of LcsRelaxation: how the dual is climbed, and how far it would grow if one more row were
// active.

#include <algorithm>
#include <cmath>

#include "deft/core/infinity.hpp"
#include "deft/solvers/lcs/relaxation.hpp"

namespace deft::solvers::lcs {
namespace {

constexpr double kFeasible = 1e-9;    // violation of a row that is none, of 1 + |bound|
constexpr double kDependent = 1e-6;   // violation of a dependent row that is rounding, of 1 + |bound|
constexpr double kBalanced = 1e-10;   // violation of rows in the working set that is none
constexpr double kSign = 1e-9;        // of the step: a multiplier that falls slower does not block
constexpr double kImpossible = 1e12;  // times 1 + the dual: rows that hold together only at such a cost contradict each
                                      // other
constexpr int kBalancings = 4;        // steps that only repair the balance of the working set, one after the other
constexpr long kLeastSteps = 200, kStepsPerRow = 20;  // of one climb, at most

}  // namespace

double LcsRelaxation::tolerance(double bound) const { return kFeasible * (1 + std::abs(bound)); }

bool LcsRelaxation::append(int row, double target, int side, double lambda) {
  if (factor_.full()) return false;
  products(row, w_.data());
  if (!factor_.independent(w_.data(), 0, diagonal(row))) return false;
  join(row, target, side, lambda);
  return true;
}

void LcsRelaxation::join(int row, double target, int side, double lambda) {
  factor_.append(0);
  place_[row] = static_cast<int>(active_.size());
  active_.push_back({row, side, lambda, target});
  residual_.push_back(0);
}

void LcsRelaxation::remove(std::size_t k) {
  factor_.remove(static_cast<int>(k));
  place_[active_[k].row] = -1;
  active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(k));
  residual_.erase(residual_.begin() + static_cast<std::ptrdiff_t>(k));
  for (std::size_t j = k; j < active_.size(); ++j) place_[active_[j].row] = static_cast<int>(j);
}

/// The row that is violated most, by² over its diagonal (what the dual gains if it alone enters, twice).
LcsRelaxation::Violation LcsRelaxation::most_violated() const {
  Violation worst;
  double most = 0;
  for (int row = 0; row < rows_; ++row) {
    const double y = point_.y[row], lo = lo_[row], hi = hi_[row];
    double by;
    if (y < lo - kFeasible)
      by = lo - y;
    else if (y > hi + kFeasible)
      by = y - hi;
    else
      continue;
    if (place_[row] >= 0 || skipped_[row] || by <= tolerance(y < lo ? lo : hi)) continue;
    const double weighed = by * by / stages_->diagonal(row);
    if (weighed > most) most = weighed, worst = {row, lo == hi ? 0 : (y < lo ? -1 : 1), y < lo ? lo : hi};
  }
  for (int pair = 0; pair < N_ * ng_; ++pair) {
    const Cut& cut = cuts_[pair];
    if (cut.most == 0) continue;
    const double by = cut.gamma * point_.y[gamma_row(pair)] + cut.slack * point_.y[slack_row(pair)] - cut.most;
    if (by <= tolerance(cut.most) || place_[rows_ + pair] >= 0 || skipped_[rows_ + pair]) continue;
    const double weighed = by * by / diagonal(rows_ + pair);
    if (weighed > most) most = weighed, worst = {rows_ + pair, 1, cut.most};
  }
  return worst;
}

/// The multipliers move to the maximum of the dual on the working set, or until one of them becomes zero; its row
/// leaves then.  @returns whether they arrived.
bool LcsRelaxation::step_on_working_set() {
  const std::size_t n = active_.size();
  std::copy(residual_.begin(), residual_.end(), step_.begin());
  if (n > 0) factor_.solve_for(step_.data());
  double t = 1;  // how far, of the whole step
  std::size_t blocking = n;
  for (std::size_t j = 0; j < n; ++j) {
    const Active& row = active_[j];
    if (row.side == 0) continue;
    const double after = row.side * (row.lambda + step_[j]);
    if (after >= 0) continue;
    const double limit = row.side * row.lambda / (row.side * row.lambda - after);
    if (limit < t || blocking == n) t = std::min(t, limit), blocking = j;
  }
  for (std::size_t j = 0; j < n; ++j) active_[j].lambda += t * step_[j];
  if (blocking == n) return true;
  for (double& r : residual_) r *= 1 - t;
  remove(blocking);
  return false;
}

double LcsRelaxation::largest_residual() const {
  double largest = 0;
  for (const double r : residual_) largest = std::max(largest, std::abs(r));
  return largest;
}

/// The multiplier of the row looked at last, which hardly differs from combinations of the working set, grows by
/// `length` in the direction of its violation, others move along, until one of them becomes zero and its row leaves.
/// @returns false where none does.
bool LcsRelaxation::step_along_null(int direction, double& length) {
  length = kInfinity;
  std::size_t blocking = active_.size();
  double largest = 1;
  for (std::size_t j = 0; j < active_.size(); ++j) largest = std::max(largest, std::abs(step_[j]));
  for (std::size_t j = 0; j < active_.size(); ++j) {
    if (active_[j].side == 0) continue;
    const double falls = -active_[j].side * step_[j] * direction;
    if (falls <= kSign * largest) continue;
    const double t = active_[j].side * active_[j].lambda / falls;
    if (t < length) length = t, blocking = j;
  }
  if (blocking == active_.size()) return false;
  for (std::size_t j = 0; j < active_.size(); ++j) active_[j].lambda += length * direction * step_[j];
  remove(blocking);
  return true;
}

/// λᵀWλ of the direction (step_, 1 on `row`).
double LcsRelaxation::energy_of_step(int row) {
  std::fill(lambda_.begin(), lambda_.end(), 0.0);
  for (std::size_t j = 0; j < active_.size(); ++j) add_to_rows(active_[j].row, step_[j]);
  add_to_rows(row, 1.0);
  return stages_->energy(lambda_.data(), scratch_);
}

/// A violated row joins the working set, in the place of another one where it depends on the set. A dependent row that
/// rounding alone violates is passed over for the rest of the climb.  @returns the end of the climb where it cannot go
/// on.
std::optional<LcsRelaxation::End> LcsRelaxation::admit(const Violation& violation) {
  const auto& [row, side, target] = violation;
  const double by = value(row) - target;
  if (append(row, target, side, 0)) {
    residual_.back() = by;
    return std::nullopt;
  }
  if (std::abs(by) <= kDependent * (1 + std::abs(target))) {
    skipped_[row] = 1;
    return std::nullopt;
  }
  // Nearly dependent on the working set. The cost of this direction, without rounding, shows whether it is so.
  factor_.null_direction(step_.data());
  const double rest = energy_of_step(row);
  const bool is_possible = 0.5 * by * by / rest < kImpossible * (1 + std::abs(dual_));
  if (is_possible && !factor_.full()) {
    factor_.set_rest(rest);
    join(row, target, side, 0);
    residual_.back() = by;
    return std::nullopt;
  }
  double length = 0;
  const int direction = by > 0 ? 1 : -1;
  if (!step_along_null(direction, length)) {
    if (is_possible) return End::kFailed;  // rounding: as many rows as variables contradict nothing
    bound_ = kInfinity;
    return End::kInfeasible;
  }
  if (!append(row, target, side, direction * length)) return End::kFailed;
  residual_.back() = by;
  return std::nullopt;
}

/// From the multipliers of the working set: to the maximum on the set, where the row that is violated most joins, until
/// none is violated or the bound passes `cutoff`.
LcsRelaxation::End LcsRelaxation::climb(double cutoff) {
  std::fill(skipped_.begin(), skipped_.end(), 0);
  const long most = iterations_ + kLeastSteps + kStepsPerRow * rows_;
  evaluate();
  for (int balancing = 0; iterations_ < most;) {
    ++iterations_;
    if (!step_on_working_set()) {
      balancing = 0;
      continue;
    }
    evaluate();
    if (!std::isfinite(dual_)) return End::kFailed;
    if (dual_ >= cutoff && (bound_ = safe_bound(cutoff)) >= cutoff) return End::kAbove;
    const Violation worst = most_violated();
    if (worst.row < 0) {
      if (!(largest_residual() > kBalanced && balancing < kBalancings)) return End::kOptimal;
      ++balancing;  // once more, from the true residuals
      continue;
    }
    balancing = 0;
    if (const std::optional<End> end = admit(worst)) return *end;
  }
  return End::kFailed;
}

double LcsRelaxation::gain(int row, double target, int pivots) {
  double left = std::abs(value(row) - target), won = 0;  // violation that is left, growth of the dual so far
  if (left <= kFeasible) return 0;
  const int direction = value(row) > target ? 1 : -1;
  products(row, w_.data());
  const double whole = diagonal(row);
  trial_ = active_;
  bool copied = false;
  linear::DelassusFactor* factor = &factor_;
  for (int pivot = 0;; ++pivot) {
    const std::size_t n = trial_.size();
    const bool independent = factor->independent(w_.data(), 0, whole);
    factor->null_direction(step_.data());
    const double rest = factor->rest();
    double t = independent ? left / rest : kInfinity;
    std::size_t blocking = n;
    for (std::size_t j = 0; j < n; ++j) {
      if (trial_[j].side == 0) continue;
      const double falls = -trial_[j].side * step_[j] * direction;
      if (falls <= kSign) continue;
      const double limit = trial_[j].side * trial_[j].lambda / falls;
      if (limit < t) t = limit, blocking = j;
    }
    if (t == kInfinity) return left <= kDependent ? won : kInfinity;
    won += t * left - (independent ? 0.5 * rest * t * t : 0.0);
    if (blocking == n || pivot == pivots) return won;
    if (independent) left -= t * rest;
    for (std::size_t j = 0; j < n; ++j) trial_[j].lambda += t * direction * step_[j];
    if (!copied) {
      trial_factor_.copy(factor_);
      factor = &trial_factor_;
      copied = true;
    }
    factor->remove(static_cast<int>(blocking));
    trial_.erase(trial_.begin() + static_cast<std::ptrdiff_t>(blocking));
    std::copy(w_.begin() + static_cast<std::ptrdiff_t>(blocking) + 1, w_.begin() + static_cast<std::ptrdiff_t>(n),
              w_.begin() + static_cast<std::ptrdiff_t>(blocking));
  }
}

}  // namespace deft::solvers::lcs
