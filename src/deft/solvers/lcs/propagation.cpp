#include "deft/solvers/lcs/propagation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "deft/core/infinity.hpp"

namespace deft::solvers::lcs {
namespace {

constexpr double kRounding = 1e-9;    // relative: how far ends are moved outwards
constexpr double kSum = 1e-12;        // of the terms of a sum: its error
constexpr double kNoticeable = 1e-3;  // of an interval: less is kept, but not followed
constexpr double kEmpty = 1e-7;       // how far ends must cross, relative, at least absolute, to prove that there is no
                                      // point
constexpr double kPositive = 1e-8;    // a lower end above is positive
constexpr double kNothing = 1e-10;    // an upper end of a multiplier or slack below is zero

bool is_crossed(double lower, double upper) {
  return lower > upper + kEmpty * std::max({1.0, std::abs(lower), std::abs(upper)});
}

/// Whether the gain is worth going on. An interval without one end counts as the other one's size.
bool is_noticeable(double gain, double lower, double upper) {
  if (std::isinf(gain)) return true;
  const double size = std::isfinite(upper - lower) ? upper - lower : 1 + std::min(std::abs(lower), std::abs(upper));
  return gain > kNoticeable * size;
}

double upwards(double bound) { return bound + kRounding * std::abs(bound); }
double downwards(double bound) { return bound - kRounding * std::abs(bound); }

}  // namespace

void LcsPropagation::note(Stage& stage, int offset) const {
  stage.moved |= bit(offset);
  if (offset < nx_) stage.before |= bit(offset + stride_);
  if (offset >= stride_) stage.after |= bit(offset - stride_);
}

/// What moved at stage k, to it and to its neighbours.
void LcsPropagation::pass_on(LcsIntervals& intervals, int k, const Stage& stage) const {
  intervals.pending[k].moved |= stage.moved;
  intervals.pending[k].new_modes |= stage.new_modes;
  if (k > 0) intervals.pending[k - 1].moved |= stage.before;
  if (k + 1 < N_) intervals.pending[k + 1].moved |= stage.after;
}

void LcsPropagation::raise_lower(Stage& stage, int offset, double bound) const {
  double &l = stage.lo[offset], &h = stage.hi[offset];
  if (!(bound > l)) return;
  if (bound > h) {
    stage.empty = stage.empty || is_crossed(bound, h);
    if (l == h) return;
    // Crossed by rounding: the interval between them, which holds both.
    l = h;
    if (!is_pair(offset)) h = bound;
    return note(stage, offset);
  }
  const bool noticeable = is_noticeable(bound - l, l, h) || (is_pair(offset) && l <= kPositive && bound > kPositive);
  l = bound;
  if (noticeable) note(stage, offset);
}

void LcsPropagation::reduce_upper(Stage& stage, int offset, double bound) const {
  double &l = stage.lo[offset], &h = stage.hi[offset];
  if (!(bound < h)) return;
  if (bound < l) {
    stage.empty = stage.empty || is_crossed(l, bound);
    if (l == h) return;
    h = l;
    if (!is_pair(offset)) l = bound;
    return note(stage, offset);
  }
  const bool noticeable = is_noticeable(h - bound, l, h) || (is_pair(offset) && h > kNothing && bound <= kNothing);
  h = bound;
  if (noticeable) note(stage, offset);
}

/// Of all terms but two.
LcsPropagation::Range LcsPropagation::range(const Stage& stage, const Row& row, int without, int and_without) const {
  Range out;
  for (const Term& term : row.terms) {
    if (term.offset == without || term.offset == and_without) continue;
    const double a = term.a * (term.a > 0 ? stage.lo : stage.hi)[term.offset],
                 b = term.a * (term.a > 0 ? stage.hi : stage.lo)[term.offset];
    if (a == -kInfinity)
      ++out.least_open;
    else
      out.least += a;
    if (b == kInfinity)
      ++out.most_open;
    else
      out.most += b;
  }
  return out;
}

/// Of the sums over a row.
double LcsPropagation::error(const Stage& stage, const Row& row) const {
  double terms = std::abs(row.rhs);
  for (const Term& term : row.terms) {
    const double l = std::abs(stage.lo[term.offset]), h = std::abs(stage.hi[term.offset]);
    terms += std::abs(term.a) * std::max(std::isfinite(l) ? l : 0.0, std::isfinite(h) ? h : 0.0);
  }
  return kSum * terms;
}

/// Each entry of the row against what the others leave.
void LcsPropagation::propagate(Stage& stage, const Row& row) const {
  const Range sums = range(stage, row, -1, -1);
  double known_error = -1;  // computed when it is needed
  const auto error_of_sums = [&] { return known_error < 0 ? known_error = error(stage, row) : known_error; };
  const double limit = kEmpty * std::max(1.0, std::abs(row.rhs));
  if ((sums.least_open == 0 && sums.least > row.rhs + limit && sums.least - error_of_sums() > row.rhs + limit) ||
      (sums.most_open == 0 && sums.most < row.rhs - limit && sums.most + error_of_sums() < row.rhs - limit)) {
    stage.empty = true;
    return;
  }
  if (sums.least_open > 1 && sums.most_open > 1) return;
  for (const Term& term : row.terms) {
    const double l = stage.lo[term.offset], h = stage.hi[term.offset];
    if (l == h) continue;
    const double a = term.a * (term.a > 0 ? l : h), b = term.a * (term.a > 0 ? h : l);
    const bool least_known = sums.least_open == (a == -kInfinity), most_known = sums.most_open == (b == kInfinity);
    // a·v ≤ rhs − others' least, a·v ≥ rhs − others' most.
    const double most = least_known ? row.rhs - (a == -kInfinity ? sums.least : sums.least - a) : kInfinity;
    const double least = most_known ? row.rhs - (b == kInfinity ? sums.most : sums.most - b) : -kInfinity;
    const double from = (term.a > 0 ? least : most) / term.a, to = (term.a > 0 ? most : least) / term.a;
    if (from > l) raise_lower(stage, term.offset, downwards(from) - error_of_sums() / std::abs(term.a));
    if (to < h) reduce_upper(stage, term.offset, upwards(to) + error_of_sums() / std::abs(term.a));
    if (stage.empty) return;
  }
}

/// s = rest + factor γ with one of both zero: s ≤ max(0, rest); γ ≤ max(0, −rest)/factor, or max(0, rest)/−factor.
void LcsPropagation::propagate_own(Stage& stage, const Row& row) const {
  const int s = row.terms[0].offset, gamma = row.terms[row.own].offset;
  if (stage.hi[s] == 0 && stage.hi[gamma] == 0) return;
  const double factor = -row.terms[row.own].a;
  const Range others = range(stage, row, s, gamma);
  double rest_upper = others.least_open == 0 ? row.rhs - others.least : kInfinity,  // ends of rest
      minus_rest_lower = others.most_open == 0 ? others.most - row.rhs : kInfinity;
  const double multiplier = std::max(0.0, factor > 0 ? minus_rest_lower / factor : rest_upper / -factor);
  if (rest_upper >= stage.hi[s] && multiplier >= stage.hi[gamma]) return;
  const double sum_error = error(stage, row);
  rest_upper += sum_error, minus_rest_lower += sum_error;
  reduce_upper(stage, s, upwards(std::max(0.0, rest_upper)));
  reduce_upper(stage, gamma, upwards(std::max(0.0, factor > 0 ? minus_rest_lower / factor : rest_upper / -factor)));
}

/// γ_i = 0, or one of the slacks that it lifts is zero.
void LcsPropagation::lower_idle(Stage& stage, std::uint64_t moved) const {
  for (const Idle& idle : idle_) {
    if (stage.hi[idle.offset] == 0 || !(idle.mask & (moved | stage.moved))) continue;
    double bound = 0;
    for (const auto& [j, lift] : idle.slacks) {
      double least = -kInfinity;  // of s_j − lift γ_i
      for (const int r : {nx_ + j, substituted_[j]}) {
        if (r < 0) continue;
        const Row& row = rows_[r];
        const Range others = range(stage, row, row.terms[0].offset, idle.offset);
        if (others.most_open == 0) least = std::max(least, row.rhs - others.most - error(stage, row));
      }
      bound = std::max(bound, -least / lift);
      if (bound >= stage.hi[idle.offset]) break;
    }
    reduce_upper(stage, idle.offset, upwards(bound));
  }
}

/// The ends of Σ a·v − rhs without slacks and without scratch.pairs; infinite, both, where one is.
std::pair<double, double> LcsPropagation::rest(const Stage& stage, const Row& row, const Scratch& scratch) const {
  double low = -row.rhs, high = -row.rhs, terms = std::abs(row.rhs);
  for (const Term& term : row.terms) {
    if (term.offset >= gamma(0, 0) && term.offset < stride_) {
      if (term.offset >= slack(0, 0) ||
          std::binary_search(scratch.pairs.begin(), scratch.pairs.end(), term.offset - gamma(0, 0)))
        continue;
    }
    const double a = term.a * (term.a > 0 ? stage.lo : stage.hi)[term.offset],
                 b = term.a * (term.a > 0 ? stage.hi : stage.lo)[term.offset];
    low += a;
    high += b;
    terms += std::max(std::abs(a), std::abs(b));
  }
  return std::isfinite(terms) ? std::pair(low - kSum * terms, high + kSum * terms) : std::pair(-kInfinity, kInfinity);
}

/// Of multipliers without a bound: M is positive definite over them.
void LcsPropagation::bound_by_energy(Stage& stage, Scratch& scratch) const {
  scratch.pairs.clear();
  for (int i = 0; i < ng_; ++i) {
    if (stage.hi[gamma(0, i)] == kInfinity) scratch.pairs.push_back(i);
  }
  if (scratch.pairs.empty()) return;
  const double least = forces_.least_eigenvalue(scratch);
  if (least == 0) return;
  double squares = 0;
  for (const int i : scratch.pairs) {
    const int r = substituted_[i] >= 0 ? substituted_[i] : nx_ + i;
    const double missing = std::max(0.0, rest(stage, rows_[r], scratch).second);
    squares += missing * missing;
  }
  if (!std::isfinite(squares)) return;
  for (const int i : scratch.pairs) reduce_upper(stage, gamma(0, i), upwards(std::sqrt(squares) / least));
}

/// Of multipliers without a bound, or of all that may be positive; idle ones have their own rule, if it finds a bound.
void LcsPropagation::bound_by_vertices(Stage& stage, bool all, Scratch& scratch) const {
  scratch.pairs.clear();
  for (int i = 0; i < ng_; ++i) {
    const double h = stage.hi[gamma(0, i)];
    if (h == kInfinity || (all && h > 0 && !capped_[i] && !is_idle_[i])) scratch.pairs.push_back(i);
  }
  if (scratch.pairs.empty()) return;
  const LcsForceBound::Vertices& vertices = forces_.vertices(scratch);
  if (!vertices.known) return;
  scratch.low.clear();
  scratch.high.clear();
  for (const int r : vertices.rows) {
    const auto [low, high] = rest(stage, rows_[r], scratch);
    if (high == kInfinity) return;
    scratch.low.push_back(low);
    scratch.high.push_back(high);
  }
  forces_.bound(vertices, scratch);
  for (std::size_t i = 0; i < scratch.pairs.size(); ++i)
    reduce_upper(stage, gamma(0, scratch.pairs[i]), upwards(scratch.bounds[i]));
}

void LcsPropagation::settle_modes(Stage& stage, PairMode* modes) const {
  for (int i = 0; i < ng_; ++i) {
    PairMode& mode = modes[i];
    double &gamma_hi = stage.hi[gamma(0, i)], &slack_hi = stage.hi[slack(0, i)];
    const double gamma_lo = stage.lo[gamma(0, i)], slack_lo = stage.lo[slack(0, i)];
    if (mode == PairMode::kOpen) {
      if (slack_lo > kPositive || gamma_hi <= kNothing)
        mode = PairMode::kGammaZero;
      else if (gamma_lo > kPositive || slack_hi <= kNothing)
        mode = PairMode::kSlackZero;
    }
    if (mode == PairMode::kGammaZero && gamma_hi != 0)
      gamma_hi = 0, stage.moved |= bit(gamma(0, i)), stage.new_modes = true;
    if (mode == PairMode::kSlackZero && slack_hi != 0) slack_hi = 0, stage.moved |= bit(slack(0, i));
    if ((mode == PairMode::kGammaZero && gamma_lo > kEmpty) || (mode == PairMode::kSlackZero && slack_lo > kEmpty))
      stage.empty = true;
  }
}

bool LcsPropagation::crossed(const LcsIntervals& intervals, int k) const {
  for (int place = k * stride_; place < (k + 1) * stride_ + nx_; ++place) {
    if (is_crossed(intervals.lo[place], intervals.hi[place])) return true;
  }
  return false;
}

bool LcsPropagation::run(LcsIntervals& intervals, std::vector<PairMode>& modes, int rounds, Scratch& scratch) const {
  std::vector<LcsPending>& pending = intervals.pending;
  const auto stage_of = [&](int k) {
    return Stage{.lo = intervals.lo.data() + k * stride_, .hi = intervals.hi.data() + k * stride_};
  };
  for (int k = 0; k < N_; ++k) {
    if (pending[k].moved && crossed(intervals, k)) return false;
    Stage stage = stage_of(k);
    settle_modes(stage, modes.data() + k * ng_);
    if (stage.empty) return false;
    pass_on(intervals, k, stage);
  }
  for (int round = 0; round < rounds; ++round) {
    bool any = false;
    for (int visit = 0; visit < 2 * N_; ++visit) {
      const int k = visit < N_ ? visit : 2 * N_ - 1 - visit;
      LcsPending& left = pending[k];
      if (!left.moved && !left.new_modes) continue;
      Stage stage = stage_of(k);
      const std::uint64_t moved = std::exchange(left.moved, 0);
      for (const Row& row : rows_) {
        if (!(row.mask & (moved | stage.moved))) continue;
        propagate(stage, row);
        if (row.own >= 0) propagate_own(stage, row);
        if (stage.empty) return false;
      }
      lower_idle(stage, moved);
      bound_by_energy(stage, scratch);
      settle_modes(stage, modes.data() + k * ng_);
      if (!stage.moved) {  // the expensive rules once the others find nothing more
        if (without_loss_) bound_by_vertices(stage, false, scratch);
        if (without_loss_ && left.new_modes) bound_by_vertices(stage, true, scratch);
        left.new_modes = false;
      }
      if (stage.empty) return false;
      pass_on(intervals, k, stage);
      any = any || stage.moved;
    }
    if (!any) break;
  }
  return true;
}

bool LcsPropagation::run_twice(LcsIntervals& intervals, std::vector<PairMode>& modes, int rounds,
                               Scratch& scratch) const {
  if (!run(intervals, modes, rounds, scratch)) return false;
  std::fill(intervals.pending.begin(), intervals.pending.end(), LcsPending());
  return run(intervals, modes, rounds, scratch);
}

bool LcsPropagation::narrow(LcsIntervals& intervals, int place, double lower, double upper, double error) const {
  const int k = std::min(place / stride_, N_ - 1), offset = place - k * stride_;
  Stage stage{.lo = intervals.lo.data() + k * stride_, .hi = intervals.hi.data() + k * stride_};
  if (lower > -kInfinity) raise_lower(stage, offset, downwards(lower) - error);
  if (upper < kInfinity) reduce_upper(stage, offset, upwards(upper) + error);
  pass_on(intervals, k, stage);
  return !stage.empty;
}

}  // namespace deft::solvers::lcs
