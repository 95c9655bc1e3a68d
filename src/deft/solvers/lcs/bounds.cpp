#include "deft/solvers/lcs/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/solvers/lcs/box_linear_program.hpp"
#include "deft/solvers/lcs/propagation.hpp"

namespace deft::solvers::lcs {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

constexpr double kFixed = 1e-12;          // an interval as narrow as this, relative, needs no linear program
constexpr double kSumRounding = 1e-12;    // of the terms of a sum: its error
constexpr double kEntryRounding = 1e-13;  // of the largest entry: rounding of products

/// The intervals of a program, as the propagation and the linear programs find them.
class Intervals {
 public:
  Intervals(const LcsMpcProgram& program, bool without_loss)
      : program_(&program),
        propagation_(program, without_loss),
        values_(propagation_.start()),
        modes_(to_size(program.N * program.system.pairs()), PairMode::kOpen) {}

  void run(int rounds) { empty_ = empty_ || !propagation_.run_twice(values_, modes_, rounds, scratch_); }
  /// An end that was computed, with its error.
  void raise_lower(int place, double bound, double error) {
    empty_ = !propagation_.narrow(values_, place, bound, kInfinity, error) || empty_;
  }
  void reduce_upper(int place, double bound, double error) {
    empty_ = !propagation_.narrow(values_, place, -kInfinity, bound, error) || empty_;
  }

  const LcsPropagation& layout() const { return propagation_; }
  double lower(int place) const { return values_.lo[place]; }
  double upper(int place) const { return values_.hi[place]; }
  bool empty() const { return empty_; }

  LcsBounds bounds() const {
    const int nx = program_->system.nx(), nu = program_->system.nu(), ng = program_->system.pairs(), N = program_->N;
    LcsBounds out;
    out.infeasible = empty_;
    const auto copy = [&](int rows, int cols, auto place, MatrixXd& lower, MatrixXd& upper) {
      lower.resize(rows, cols);
      upper.resize(rows, cols);
      for (int k = 0; k < cols; ++k) {
        for (int i = 0; i < rows; ++i) {
          lower(i, k) = values_.lo[place(k, i)];
          upper(i, k) = values_.hi[place(k, i)];
        }
      }
    };
    copy(nx, N + 1, [&](int k, int i) { return propagation_.x(k, i); }, out.x_lower, out.x_upper);
    copy(nu, N, [&](int k, int i) { return propagation_.u(k, i); }, out.u_lower, out.u_upper);
    copy(ng, N, [&](int k, int i) { return propagation_.gamma(k, i); }, out.gamma_lower, out.gamma_upper);
    copy(ng, N, [&](int k, int i) { return propagation_.slack(k, i); }, out.slack_lower, out.slack_upper);
    return out;
  }

 private:
  const LcsMpcProgram* program_;
  LcsPropagation propagation_;
  LcsIntervals values_;
  std::vector<PairMode> modes_;
  LcsPropagation::Scratch scratch_;
  bool empty_ = false;
};

/// Affine functions of a window's unknowns z = (x_a, u_a, γ_{a+1}, u_{a+1}, …).
struct Affine {
  MatrixXd factors;
  VectorXd constant;
};

/// The relaxation of steps first … last: complementarity becomes γ/Γ + s/S ≤ 1 where both bounds are finite. It is the
/// convex hull of one pair's two sides in their box.
class Window {
 public:
  Window(const LinearComplementaritySystem& s, const Intervals& intervals, int first, int last)
      : s_(s), intervals_(intervals), first_(first), last_(last), nx_(s.nx()), nu_(s.nu()), ng_(s.pairs()) {
    unknowns_ = nx_ + (last - first + 1) * (nu_ + ng_);
  }

  /// @returns false if there is proof that the window has no point.
  bool tighten(Intervals& intervals) {
    BoxLinearProgram program = build();
    for (int i = 0; i < nx_; ++i) {
      if (!narrow(program, intervals, intervals.layout().x(last_ + 1, i), next_row(last_, i))) return false;
    }
    for (int i = 0; i < ng_; ++i) {
      const int gamma = gamma_column(last_) + i, slack = slack_row(last_, i),
                gamma_place = intervals.layout().gamma(last_, i), slack_place = intervals.layout().slack(last_, i);
      if (!narrow(program, intervals, slack_place, slack) || !narrow(program, intervals, gamma_place, gamma))
        return false;
      // One of the two is zero where the other one is positive.
      part(program, intervals, gamma_place, gamma, slack, 0);
      part(program, intervals, slack_place, slack, gamma, 0);
    }
    return true;
  }

 private:
  int input_column(int k) const { return nx_ + (k - first_) * (nu_ + ng_); }
  int gamma_column(int k) const { return input_column(k) + nu_; }
  // Rows: of each step x_{k+1}, then s_{k+1}; the hulls at the end. Counted with the unknowns before them.
  int next_row(int k, int i) const { return unknowns_ + (k - first_) * (nx_ + ng_) + i; }
  int slack_row(int k, int i) const { return next_row(k, nx_) + i; }

  /// Both ends of one entry of (z, w), where there is something to find.
  bool narrow(BoxLinearProgram& program, Intervals& intervals, int place, int column) {
    const double low = intervals.lower(place), high = intervals.upper(place);
    if (high - low <= kFixed * std::max(std::abs(low), std::abs(high))) return true;
    const Index size = unknowns_ + rows_;
    const double offset = offset_of(column);
    VectorXd c = VectorXd::Zero(size);
    for (const double sign : {1.0, -1.0}) {
      c[column] = sign;
      const double bound = program.upper_bound(c);
      if (program.empty()) return false;
      if (!std::isfinite(bound)) continue;
      const double error = kSumRounding * (std::abs(bound) + std::abs(offset));
      if (sign > 0)
        intervals.reduce_upper(place, bound + offset, error);
      else
        intervals.raise_lower(place, -bound + offset, error);
      if (intervals.empty()) return false;
    }
    return true;
  }

  /// The upper end of one entry, from the part of the window where another one is at most `cap`; where it is more, the
  /// entry is zero.
  void part(BoxLinearProgram& program, Intervals& intervals, int place, int column, int other, double cap) {
    if (intervals.upper(place) <= 0) return;
    VectorXd c = VectorXd::Zero(unknowns_ + rows_);
    c[column] = 1;
    const double offset = offset_of(column), bound = program.upper_bound_below(c, other, cap - offset_of(other));
    if (bound == kInfinity) return;
    const double error = kSumRounding * (std::abs(bound) + std::abs(offset));
    if (bound == -kInfinity)
      intervals.reduce_upper(place, 0, 0);
    else
      intervals.reduce_upper(place, std::max(0.0, bound + offset), error);
  }
  double offset_of(int column) const { return column >= unknowns_ ? offset_[column - unknowns_] : 0.0; }

  /// The data of a BoxLinearProgram while it grows: w = R z in a box, and the hulls that will be its last rows.
  struct Table {
    MatrixXd R;
    VectorXd lower, upper;
    std::vector<RowVectorXd> hulls;
    std::vector<double> hull_limits;

    /// The interval of an entry of (z, w) whose constant part `offset` the program leaves out.
    void set_box(Index at, const Intervals& intervals, int place, double offset) {
      lower[at] = intervals.lower(place) - offset;
      upper[at] = intervals.upper(place) - offset;
    }
  };

  BoxLinearProgram build() {
    const int rows = (last_ - first_ + 1) * (nx_ + ng_);
    Table table{MatrixXd(rows, unknowns_), VectorXd(unknowns_ + rows), VectorXd(unknowns_ + rows), {}, {}};
    offset_.resize(rows);
    add_steps(table);
    add_hulls(table);
    drop_rounding(table);
    return {std::move(table.R), std::move(table.lower), std::move(table.upper)};
  }

  /// x_{k+1} and s_{k+1} of every step as affine functions of z, with their intervals.
  void add_steps(Table& table) {
    Affine x{MatrixXd::Zero(nx_, unknowns_), VectorXd::Zero(nx_)};
    x.factors.leftCols(nx_).setIdentity();
    const auto box = [&](Index at, int place, double offset) { table.set_box(at, intervals_, place, offset); };
    for (int i = 0; i < nx_; ++i) box(i, intervals_.layout().x(first_, i), 0);
    for (int k = first_; k <= last_; ++k) {
      Affine next{s_.A * x.factors, s_.A * x.constant + s_.F};
      next.factors.middleCols(input_column(k), nu_) += s_.B;
      next.factors.middleCols(gamma_column(k), ng_) += s_.C;
      Affine slack{s_.D0 * x.factors + s_.D * next.factors, s_.D0 * x.constant + s_.D * next.constant + s_.alpha};
      slack.factors.middleCols(input_column(k), nu_) += s_.H;
      slack.factors.middleCols(gamma_column(k), ng_) += s_.E;
      const int top = next_row(k, 0) - unknowns_;
      table.R.middleRows(top, nx_) = next.factors;
      table.R.middleRows(top + nx_, ng_) = slack.factors;
      offset_.segment(top, nx_) = next.constant;
      offset_.segment(top + nx_, ng_) = slack.constant;
      for (int i = 0; i < nu_; ++i) box(input_column(k) + i, intervals_.layout().u(k, i), 0);
      for (int i = 0; i < nx_; ++i) box(next_row(k, i), intervals_.layout().x(k + 1, i), next.constant[i]);
      for (int i = 0; i < ng_; ++i) {
        box(gamma_column(k) + i, intervals_.layout().gamma(k, i), 0);
        box(slack_row(k, i), intervals_.layout().slack(k, i), slack.constant[i]);
        // With γ ≤ L, s ≤ S: S γ + L s ≤ L S, divided by L + S.
        const double L = intervals_.upper(intervals_.layout().gamma(k, i)),
                     S = intervals_.upper(intervals_.layout().slack(k, i));
        if (!(L > 0 && S > 0 && std::isfinite(L) && std::isfinite(S))) continue;
        RowVectorXd hull = slack.factors.row(i) * (L / (L + S));
        hull[gamma_column(k) + i] += S / (L + S);
        table.hulls.push_back(hull);
        table.hull_limits.push_back(L * (S / (L + S)) - slack.constant[i] * (L / (L + S)));
      }
      x = std::move(next);
    }
  }

  /// Appends the hulls to the rows.
  void add_hulls(Table& table) {
    const Index plain = table.R.rows(), extra = static_cast<Index>(table.hulls.size());
    rows_ = plain + extra;
    table.R.conservativeResize(rows_, Eigen::NoChange);
    table.lower.conservativeResize(unknowns_ + rows_);
    table.upper.conservativeResize(unknowns_ + rows_);
    for (Index j = 0; j < extra; ++j) {
      table.R.row(plain + j) = table.hulls[j];
      table.lower[unknowns_ + plain + j] = -kInfinity;
      const double limit = table.hull_limits[j];
      table.upper[unknowns_ + plain + j] = limit + kSumRounding * std::abs(limit);
    }
  }

  /// Products of the dynamics leave rounding where entries cancel; on a multiplier without bound it would count.
  void drop_rounding(Table& table) const {
    MatrixXd& R = table.R;
    const double scale = R.size() > 0 ? R.cwiseAbs().maxCoeff() : 0.0;
    for (Index j = 0; j < unknowns_; ++j) {
      if (std::isfinite(table.lower[j]) && std::isfinite(table.upper[j])) continue;
      R.col(j) = (R.col(j).array().abs() > kEntryRounding * scale).select(R.col(j), 0.0).eval();
    }
  }

  const LinearComplementaritySystem& s_;
  const Intervals& intervals_;
  int first_, last_, nx_, nu_, ng_, unknowns_;
  Index rows_ = 0;
  VectorXd offset_;
};

}  // namespace

std::vector<bool> idle_multipliers(const LinearComplementaritySystem& s) {
  std::vector<bool> idle(s.pairs());
  for (int i = 0; i < s.pairs(); ++i)
    idle[i] = s.C.col(i).isZero(0) && s.E(i, i) == 0 && (s.E.col(i).array() >= 0).all();
  return idle;
}

namespace {

/// Steps of a window whose table stays small enough; 0 if none does.
int window_steps(const LinearComplementaritySystem& s, const LcsBoundSettings& settings) {
  for (int steps = std::max(1, settings.window); steps > 0; --steps) {
    const std::int64_t rows = steps * (s.nx() + 2 * s.pairs()), cols = s.nx() + steps * (s.nu() + s.pairs());
    if (rows * cols <= settings.max_entries) return steps;
  }
  return 0;
}

}  // namespace

LcsBounds find_lcs_bounds(const LcsMpcProgram& program, const LcsBoundSettings& settings) {
  check(program);
  const int rounds = std::max(1, settings.rounds), window_size = window_steps(program.system, settings),
            sweeps = window_size > 0 ? settings.sweeps : 0;
  Intervals intervals(program, settings.lower_idle);
  intervals.run(rounds);
  for (int sweep = 0; sweep < sweeps && !intervals.empty(); ++sweep) {
    bool empty = false;
    for (int k = 0; k < program.N && !empty; ++k) {
      Window window(program.system, intervals, std::max(0, k - window_size + 1), k);
      empty = !window.tighten(intervals);
      if (!empty) intervals.run(1);
      empty = empty || intervals.empty();
    }
    if (empty) {
      LcsBounds out = intervals.bounds();
      out.infeasible = true;
      return out;
    }
    intervals.run(rounds);
  }
  LcsBounds out = intervals.bounds();
  out.gamma_upper = out.gamma_upper.cwiseMax(0.0);  // a given bound may be −1e-9
  out.idle = settings.lower_idle ? idle_multipliers(program.system) : std::vector<bool>(program.system.pairs(), false);
  return out;
}

}  // namespace deft::solvers::lcs
