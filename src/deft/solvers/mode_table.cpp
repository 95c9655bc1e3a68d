#include "deft/solvers/mode_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/math/random.hpp"

namespace deft::solvers {
namespace {

constexpr double kViolated = 1e-9;  // values beyond zero by more
constexpr double kPivot = 1e-8;     // smaller entries do not enter
constexpr double kSlack = 1e-9;     // reduced costs this close tie
constexpr double kProof = 1e-10;    // error of multipliers, of what they gain, above which the dictionary is computed anew
constexpr double kSingular = 1e-13;
constexpr int kFresh = 80;          // pivots after which it is anyway

int pivot_limit(int n) { return 20 * n + 100; }

}  // namespace

void ModeTable::start(const ScaledComplementarity& problem, std::span<const double> motion, std::uint64_t seed) {
  problem_ = &problem;
  const auto n = static_cast<std::size_t>(problem.n);
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
  build();
}

void ModeTable::build() {
  const int n = problem_->n;
  table_.resize(n + 2, n, 2 * n);
  for (int i = 0; i < n; ++i) {
    std::copy_n(problem_->M_row(i), n, table_.row(i));
    table_.row(i)[n] = problem_->q[static_cast<std::size_t>(i)];
    table_.set_row_variable(i, n + i);
    table_.set_col_variable(i, i);
  }
  std::copy(cost_.begin(), cost_.end(), table_.row(n));
  std::copy(motion_.begin(), motion_.end(), table_.row(n + 1));
  since_refresh_ = 0;
}

// The same basis from the problem's own numbers, with pivots as large as there are.
void ModeTable::refresh() {
  const int n = problem_->n;
  wanted_.assign(static_cast<std::size_t>(2 * n), 0);
  for (int r = 0; r < n; ++r) wanted_[static_cast<std::size_t>(table_.row_variable(r))] = 1;
  build();
  table_.take_basis(wanted_, kSingular);  // what rounding made singular is left out: the simplex method goes on from there
}

int ModeTable::violated_row(double& sign) const {
  double worst = kViolated;
  int row = -1;
  for (int r = 0; r < problem_->n; ++r) {
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

// The variable that may move the row's one towards zero and keeps the cost's signs; of several the largest entry. −1: none.
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
  const int limit = pivots_ + pivot_limit(problem_->n);
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

// Row r says x_r − Σ_j T_rj x_j = b_r, which is Σ_i y_i (w_i − (Mz)_i) = Σ_i y_i q_i: the coefficients of w are the multipliers.
bool ModeTable::read_multipliers(int row, double sign) {
  const int n = problem_->n;
  multipliers_.assign(static_cast<std::size_t>(n), 0.0);
  if (table_.row_variable(row) >= n) multipliers_[static_cast<std::size_t>(table_.row_variable(row) - n)] = sign;
  for (int s = 0; s < n; ++s) {
    const int variable = table_.col_variable(s);
    if (variable < n) continue;
    double y = -sign * table_.at(row, s);
    if (kind(variable) == Kind::kNonnegative && y < 0) y = 0;  // below the smallest pivot
    multipliers_[static_cast<std::size_t>(variable - n)] = y;
  }
  double gained = 0, error = 0;
  along_.assign(static_cast<std::size_t>(problem_->ld), 0.0);
  for (int i = 0; i < n; ++i) {
    const double y = multipliers_[static_cast<std::size_t>(i)];
    gained -= y * problem_->q[static_cast<std::size_t>(i)];
    if (y == 0) continue;
    const double* M = problem_->M_row(i);
    for (int j = 0; j < n; ++j) along_[static_cast<std::size_t>(j)] += y * M[j];
  }
  for (int j = 0; j < n; ++j) {
    const double slope = along_[static_cast<std::size_t>(j)];
    if (kind(j) == Kind::kFree) error = std::max(error, std::abs(slope));
    if (kind(j) == Kind::kNonnegative) error = std::max(error, slope);
  }
  return gained > 0 && error <= kProof * gained;
}

ModeTable::Top ModeTable::climb(double sign) {
  ray_.clear();
  const int n = problem_->n, limit = pivots_ + pivot_limit(n);
  int flat = 0;  // steps that led nowhere: then the first column and the first row are taken, which cannot cycle
  while (pivots_ < limit) {
    const double* slopes = table_.row(n + 1);
    int column = -1;
    double steepest = kSlack, direction = 1;
    for (int s = 0; s < n; ++s) {
      const Kind k = kind(table_.col_variable(s));
      if (k == Kind::kZero) continue;
      const double slope = k == Kind::kFree ? std::abs(slopes[s]) : sign * slopes[s];
      const bool first = flat > n && column >= 0 && table_.col_variable(s) > table_.col_variable(column);
      if (slope <= (flat > n ? kSlack : steepest) || first) continue;
      steepest = slope;
      direction = k == Kind::kFree ? std::copysign(1.0, sign * slopes[s]) : 1;
      column = s;
    }
    if (column < 0) return Top::kBest;

    const double* speed = table_.column(column);
    const auto room = [&](int r) {  // how far the variable may move until row r blocks
      const Kind k = kind(table_.row_variable(r));
      const double rate = direction * speed[r];
      if (k == Kind::kFree || std::abs(rate) <= kPivot || (k == Kind::kNonnegative && rate > 0)) return std::numeric_limits<double>::infinity();
      return k == Kind::kZero ? 0.0 : std::max(table_.value(r), 0.0) / -rate;
    };
    double reach = std::numeric_limits<double>::infinity();
    for (int r = 0; r < n; ++r) reach = std::min(reach, room(r));
    if (reach == std::numeric_limits<double>::infinity()) {
      ray_.assign(static_cast<std::size_t>(2 * n), 0.0);
      ray_[static_cast<std::size_t>(table_.col_variable(column))] = direction;
      for (int r = 0; r < n; ++r) ray_[static_cast<std::size_t>(table_.row_variable(r))] = direction * speed[r];
      return Top::kUnbounded;
    }
    int row = -1;
    for (int r = 0; r < n; ++r) {
      if (room(r) > reach + kSlack) continue;
      const bool better = row < 0 || (flat > n ? table_.row_variable(r) < table_.row_variable(row) : std::abs(speed[r]) > std::abs(speed[row]));
      if (better) row = r;
    }
    flat = reach > kSlack ? 0 : flat + 1;
    table_.pivot(row, column);
    ++pivots_;
    ++since_refresh_;
  }
  return Top::kStalled;
}

double ModeTable::value(int variable) const {
  const int r = table_.row_of(variable);
  const double ray = ray_.empty() ? 0 : ray_[static_cast<std::size_t>(variable)];
  return (r < 0 ? 0 : table_.value(r)) + ray;
}

void ModeTable::point(std::vector<double>& z) const {
  z.resize(static_cast<std::size_t>(problem_->n));
  for (int j = 0; j < problem_->n; ++j) z[static_cast<std::size_t>(j)] = value(j);
}

void ModeTable::basis(std::vector<int>& rows, std::vector<int>& cols) const {
  rows.clear();
  cols.clear();
  for (int i = 0; i < problem_->n; ++i) {
    if (table_.row_of(i) >= 0) cols.push_back(i);
    if (table_.col_of(problem_->n + i) >= 0) rows.push_back(i);
  }
}

}  // namespace deft::solvers
