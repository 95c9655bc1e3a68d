#include "deft/solvers/lcp/mode_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/core/index.hpp"
#include "deft/math/random.hpp"

namespace deft::solvers::lcp {
namespace {

constexpr double kViolated = 1e-9;  // values beyond zero by more
constexpr double kPivot = 1e-8;     // smaller entries do not enter
constexpr double kSlack = 1e-9;     // reduced costs this close tie
constexpr double kSlope = 1e-13;    // reduced costs below are rounding
constexpr double kProof = 1e-10;    // error of multipliers, of what they gain, above which the dictionary is computed
                                    // again
constexpr double kSingularTable = 1e-13;
constexpr int kFresh = 80;  // pivots after which it is computed again in any case

int table_pivot_limit(int n) { return 20 * n + 100; }

}  // namespace

void ModeTable::start(const ScaledComplementarity& problem, std::span<const double> motion, std::uint64_t seed) {
  problem_ = &problem;
  const auto n = to_size(problem.n);
  kind_.assign(2 * n, Kind::kNonnegative);
  cost_.resize(n);
  motion_.assign(motion.begin(), motion.end());
  for (std::size_t i = 0; i < n; ++i) {
    cost_[i] = problem.free[i] ? 0 : 0.5 + random_uniform(seed, 0, static_cast<std::uint32_t>(i));
    if (!problem.free[i]) continue;
    kind_[i] = Kind::kFree;
    kind_[n + i] = Kind::kZero;
  }
  pivots_ = 0;
  cuts_ = nullptr;
  num_cuts_ = 0;
  build();
}

void ModeTable::build() {
  const int n = problem_->n;
  table_.resize(n + 2, n, 2 * n);
  for (int i = 0; i < n; ++i) {
    std::copy_n(problem_->M_row(i), n, table_.row(i));
    table_.row(i)[n] = problem_->q[i];
    table_.set_row_variable(i, n + i);
    table_.set_col_variable(i, i);
  }
  std::copy(cost_.begin(), cost_.end(), table_.row(n));
  std::copy(motion_.begin(), motion_.end(), table_.row(n + 1));
  for (std::size_t k = 0; k < num_cuts_; ++k) append((*cuts_)[k]);
  since_refresh_ = 0;
}

void ModeTable::add_cuts(const std::deque<Cut>& cuts) {
  cuts_ = &cuts;
  for (; num_cuts_ < cuts.size(); ++num_cuts_) {
    append(cuts[num_cuts_]);
    kind_.push_back(Kind::kNonnegative);
  }
}

void ModeTable::ignore_cuts() {
  std::fill(kind_.end() - static_cast<std::ptrdiff_t>(num_cuts_), kind_.end(), Kind::kFree);
}

// slopeᵀz + constant in terms of the nonbasic variables.
void ModeTable::append(const Cut& cut) {
  const int n = problem_->n, added = table_.add_row();
  double* row = table_.row(added);
  row[n] = cut.constant;
  for (int j = 0; j < n; ++j) {
    const double slope = cut.slope[j];
    if (slope == 0) continue;
    const int own = table_.row_of(j);
    if (own < 0) {
      row[table_.col_of(j)] += slope;
      continue;
    }
    const double* from = table_.row(own);
    for (int s = 0; s <= n; ++s) row[s] += slope * from[s];
  }
}

// The same basis from the problem's own numbers, with pivots as large as there are.
void ModeTable::refresh() {
  wanted_.assign(kind_.size(), 0);
  for (int r = 0; r < table_.rows(); ++r) {
    if (!is_cost(r)) wanted_[table_.row_variable(r)] = 1;
  }
  build();
  table_.take_basis(wanted_, kSingularTable);  // what rounding made singular is left out: the simplex method goes on
                                               // from there
}

int ModeTable::violated_row(double& sign) const {
  double worst = kViolated;
  int row = -1;
  for (int r = 0; r < table_.rows(); ++r) {
    if (is_cost(r)) continue;
    const Kind k = kind(table_.row_variable(r));
    if (k == Kind::kFree) continue;
    const double value = table_.value(r);
    const double violation = value < 0 ? -value : (k == Kind::kZero ? value : 0);
    if (violation <= worst) continue;
    worst = violation;
    row = r;
    sign = value < 0 ? 1 : -1;
  }
  return row;
}

// The variable that can move the row's variable towards zero and keeps the cost's signs; of several the one with the
// largest entry. −1: none.
int ModeTable::dual_column(int row, double sign) const {
  const double* entries = table_.row(row);
  const double* costs = table_.row(problem_->n);
  const auto speed = [&](int s) {
    switch (kind(table_.col_variable(s))) {
      case Kind::kZero:
        return 0.0;
      case Kind::kFree:
        return std::abs(entries[s]);
      case Kind::kNonnegative:
        break;
    }
    return sign * entries[s];
  };
  double bound = std::numeric_limits<double>::infinity();
  for (int s = 0; s < problem_->n; ++s) {
    const double v = speed(s);
    if (v > kPivot) bound = std::min(bound, (std::max(costs[s], 0.0) + kSlack) / v);
  }
  int best = -1;
  double fastest = 0;
  for (int s = 0; s < problem_->n; ++s) {
    const double v = speed(s);
    if (v > kPivot && v > fastest && std::max(costs[s], 0.0) <= bound * v) {
      fastest = v;
      best = s;
    }
  }
  return best;
}

ModeTable::End ModeTable::restore() {
  const int limit = pivots_ + table_pivot_limit(problem_->n);
  if (since_refresh_ > kFresh) refresh();
  bool fresh = since_refresh_ == 0;
  while (pivots_ < limit) {
    double sign = 1;
    const int row = violated_row(sign);
    if (row < 0) return End::kFeasible;
    const int column = dual_column(row, sign);
    if (column < 0) {
      if (read_multipliers(row, sign)) return End::kInfeasible;
      if (fresh) return End::kStalled;
      refresh();
      fresh = true;
      continue;
    }
    table_.pivot(row, column);
    ++pivots_;
    ++since_refresh_;
    fresh = false;
  }
  return End::kStalled;
}

// Row r says x_r − Σ_j T_rj x_j = b_r, which is Σ_i y_i (w_i − (Mz)_i) + … = Σ_i y_i q_i + …: the coefficients of w and
// of the slacks are the multipliers.
bool ModeTable::read_multipliers(int row, double sign) {
  const int n = problem_->n;
  multipliers_.assign(to_size(n) + num_cuts_, 0.0);
  if (table_.row_variable(row) >= n) multipliers_[table_.row_variable(row) - n] = sign;
  for (int s = 0; s < n; ++s) {
    const int variable = table_.col_variable(s);
    if (variable < n) continue;
    double y = -sign * table_.at(row, s);
    if (kind(variable) == Kind::kNonnegative && y < 0) y = 0;  // below the smallest pivot
    multipliers_[variable - n] = y;
  }
  gained_ = 0;
  double error = 0;
  along_.assign(problem_->ld, 0.0);
  for (int i = 0; i < n + static_cast<int>(num_cuts_); ++i) {
    const double y = multipliers_[i];
    if (y == 0) continue;
    const Cut* cut = i < n ? nullptr : &(*cuts_)[i - n];
    const double* slope = cut ? cut->slope.data() : problem_->M_row(i);
    gained_ -= y * (cut ? cut->constant : problem_->q[i]);
    for (int j = 0; j < n; ++j) along_[j] += y * slope[j];
  }
  for (int j = 0; j < n; ++j) {
    const double slope = along_[j];
    if (kind(j) == Kind::kFree) error = std::max(error, std::abs(slope));
    if (kind(j) == Kind::kNonnegative) error = std::max(error, slope);
  }
  return gained_ > 0 && error <= kProof * gained_;
}

ModeTable::Top ModeTable::climb(double sign) {
  ray_.clear();
  const int n = problem_->n, limit = pivots_ + table_pivot_limit(n);
  int degenerate = 0;  // steps of length zero in a row
  while (pivots_ < limit) {
    const bool bland = degenerate > n;
    double direction = 1;
    const int column = ascending_column(sign, bland, direction);
    if (column < 0) return Top::kBest;
    double step = 0;
    const int row = blocking_row(column, direction, bland, step);
    if (row < 0) {
      take_ray(column, direction);
      return Top::kUnbounded;
    }
    degenerate = step > kSlack ? 0 : degenerate + 1;
    table_.pivot(row, column);
    ++pivots_;
    ++since_refresh_;
  }
  return Top::kStalled;
}

// The nonbasic variable along which sign times the motion grows fastest, and whether it is increased or decreased; by
// Bland's rule the first one. −1: none.
int ModeTable::ascending_column(double sign, bool bland, double& direction) const {
  const double* slopes = table_.row(problem_->n + 1);
  int column = -1;
  double steepest = kSlope;
  for (int s = 0; s < problem_->n; ++s) {
    const Kind k = kind(table_.col_variable(s));
    if (k == Kind::kZero) continue;
    const double slope = k == Kind::kFree ? std::abs(slopes[s]) : sign * slopes[s];
    const bool later = bland && column >= 0 && table_.col_variable(s) > table_.col_variable(column);
    if (slope <= (bland ? kSlope : steepest) || later) continue;
    steepest = slope;
    direction = k == Kind::kFree ? std::copysign(1.0, sign * slopes[s]) : 1;
    column = s;
  }
  return column;
}

// The row that limits a column's variable first, and how far it may move; of several the one with the largest entry, by
// Bland's rule the first one. −1: none does.
int ModeTable::blocking_row(int column, double direction, bool bland, double& step) {
  const double* speed = table_.column(column);
  const auto ratio = [&](int r) {  // how far the variable may move until row r blocks
    if (is_cost(r)) return std::numeric_limits<double>::infinity();
    const Kind k = kind(table_.row_variable(r));
    const double rate = direction * speed[r];
    if (k == Kind::kFree || std::abs(rate) <= kPivot || (k == Kind::kNonnegative && rate > 0))
      return std::numeric_limits<double>::infinity();
    return k == Kind::kZero ? 0.0 : std::max(table_.value(r), 0.0) / -rate;
  };
  step = std::numeric_limits<double>::infinity();
  for (int r = 0; r < table_.rows(); ++r) step = std::min(step, ratio(r));
  int row = -1;
  if (step == std::numeric_limits<double>::infinity()) return row;
  for (int r = 0; r < table_.rows(); ++r) {
    if (ratio(r) > step + kSlack) continue;
    const bool better = row < 0 || (bland ? table_.row_variable(r) < table_.row_variable(row)
                                          : std::abs(speed[r]) > std::abs(speed[row]));
    if (better) row = r;
  }
  return row;
}

void ModeTable::take_ray(int column, double direction) {
  const double* speed = table_.column(column);
  ray_.assign(kind_.size(), 0.0);
  ray_[table_.col_variable(column)] = direction;
  for (int r = 0; r < table_.rows(); ++r) {
    if (!is_cost(r)) ray_[table_.row_variable(r)] = direction * speed[r];
  }
}

double ModeTable::value(int variable) const {
  const int r = table_.row_of(variable);
  const double ray = ray_.empty() ? 0 : ray_[variable];
  return (r < 0 ? 0 : table_.value(r)) + ray;
}

void ModeTable::point(std::vector<double>& z, double length) const {
  z.resize(problem_->n);
  for (std::size_t j = 0; j < z.size(); ++j)
    z[j] = value(static_cast<int>(j)) + (ray_.empty() ? 0 : (length - 1) * ray_[j]);
}

void ModeTable::basis(std::vector<int>& rows, std::vector<int>& cols) const {
  rows.clear();
  cols.clear();
  for (int i = 0; i < problem_->n; ++i) {
    if (table_.row_of(i) >= 0) cols.push_back(i);
    if (table_.col_of(problem_->n + i) >= 0) rows.push_back(i);
  }
}

}  // namespace deft::solvers::lcp
