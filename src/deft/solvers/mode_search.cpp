#include "deft/solvers/mode_search.hpp"

#include <algorithm>
#include <cmath>

namespace deft::solvers {
namespace {

constexpr char kZ = 1, kW = 2;         // which of a pair is zero
constexpr double kPositive = 1e-9;     // both of a pair above: not complementary
constexpr double kNeeded = 1e-11;      // wrong signs of multipliers, of what they gain, below which a fixing is not needed
constexpr std::uint64_t kSeed = 0x30de;

}  // namespace

bool ModeSearch::find_any(const ScaledComplementarity& problem, const Accept& accept, const Limits& limits) {
  motion_.clear();
  return run(problem, accept, limits);
}

bool ModeSearch::find_other(const ScaledComplementarity& problem, std::span<const double> motion, double value, double apart,
                            const Accept& accept, const Limits& limits) {
  motion_.assign(motion.begin(), motion.end());
  value_ = value;
  apart_ = apart;
  return run(problem, accept, limits);
}

bool ModeSearch::run(const ScaledComplementarity& problem, const Accept& accept, const Limits& limits) {
  problem_ = &problem;
  accept_ = &accept;
  limits_ = limits;
  nodes_ = 0;
  complete_ = true;
  leaves_.clear();
  path_.assign(static_cast<std::size_t>(problem.n), 0);
  if (tables_.empty()) tables_.emplace_back();
  tables_[0].start(problem, motion_, kSeed);
  Fixings used;
  return explore(0, used) == Verdict::kFound;
}

// `used` are the fixings that closed the node needed: its leaves hold wherever those do.
ModeSearch::Verdict ModeSearch::explore(std::size_t depth, Fixings& used) {
  if (nodes_ >= limits_.nodes || (limits_.clock && limits_.clock->seconds() > limits_.time_s)) {
    complete_ = false;
    return Verdict::kStopped;
  }
  ++nodes_;
  ModeTable& table = tables_[depth];
  const ModeTable::End end = table.restore();
  if (end == ModeTable::End::kInfeasible) {
    add_leaf(table, used);
    return Verdict::kClosed;
  }
  used = path_;
  if (end == ModeTable::End::kStalled) {  // rounding: neither a point nor a proof
    complete_ = false;
    return Verdict::kClosed;
  }
  int pair = -1;
  bool z_first = true;
  const Verdict verdict = motion_.empty() ? settle(table, pair, z_first) : look_both_ways(depth, pair, z_first);
  return pair < 0 ? verdict : branch(depth, pair, z_first, used);
}

// A point of the node: the answer, or the pair to decide next.
ModeSearch::Verdict ModeSearch::settle(const ModeTable& table, int& pair, bool& z_first) {
  if (choose_pair(table, kPositive, pair, z_first)) return Verdict::kClosed;
  if ((*accept_)(table)) return Verdict::kFound;
  // Complementary, but not to the judge: by rounding. Deciding more pairs makes it clearer.
  if (!choose_pair(table, -1, pair, z_first)) complete_ = false;
  return Verdict::kClosed;
}

ModeSearch::Verdict ModeSearch::look_both_ways(std::size_t depth, int& pair, bool& z_first) {
  for (const double sign : {1.0, -1.0}) {
    scratch_ = tables_[depth];
    const ModeTable::Top top = scratch_.climb(sign);
    if (top == ModeTable::Top::kBest && sign * (scratch_.motion() - value_) <= apart_) continue;
    if (top == ModeTable::Top::kStalled && sign * (scratch_.motion() - value_) <= apart_) {
      if (!choose_pair(scratch_, -1, pair, z_first)) complete_ = false;
      return Verdict::kClosed;
    }
    return settle(scratch_, pair, z_first);
  }
  return Verdict::kClosed;
}

ModeSearch::Verdict ModeSearch::branch(std::size_t depth, int pair, bool z_first, Fixings& used) {
  const auto place = static_cast<std::size_t>(pair);
  if (tables_.size() < depth + 2) tables_.emplace_back();
  const std::size_t first_leaf = leaves_.size();
  Fixings all(path_.size(), 0), own;
  for (const bool z : {z_first, !z_first}) {
    const std::size_t own_leaf = leaves_.size();
    tables_[depth + 1] = tables_[depth];
    tables_[depth + 1].fix(z ? pair : problem_->n + pair);
    path_[place] = z ? kZ : kW;
    const Verdict verdict = explore(depth + 1, own);
    path_[place] = 0;
    if (verdict != Verdict::kClosed) return verdict;
    if (own[place] == 0) {  // refuted without this fixing: the other side too
      leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(first_leaf), leaves_.begin() + static_cast<std::ptrdiff_t>(own_leaf));
      for (std::size_t k = first_leaf; k < leaves_.size(); ++k) leaves_[k].fixed[place] = 0;
      used = own;
      return Verdict::kClosed;
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], own[i]);
  }
  all[place] = 0;
  used = all;
  return Verdict::kClosed;
}

void ModeSearch::add_leaf(const ModeTable& table, Fixings& used) {
  const int n = problem_->n;
  const std::vector<double>& y = table.multipliers();
  double gained = 0;
  std::vector<double> slope(static_cast<std::size_t>(n), 0.0);
  for (int i = 0; i < n; ++i) {
    const double value = y[static_cast<std::size_t>(i)];
    gained -= value * problem_->q[static_cast<std::size_t>(i)];
    if (value == 0) continue;
    const double* row = problem_->M_row(i);
    for (int j = 0; j < n; ++j) slope[static_cast<std::size_t>(j)] += value * row[j];
  }
  used.assign(path_.size(), 0);
  for (std::size_t i = 0; i < path_.size(); ++i) {
    const bool needed = (path_[i] == kZ && slope[i] > kNeeded * gained) || (path_[i] == kW && y[i] < -kNeeded * gained);
    if (needed) used[i] = path_[i];
  }
  if (motion_.empty()) leaves_.push_back({path_, y});
}

// The undecided pair whose smaller member is largest, above `least`; which member is the smaller one.
bool ModeSearch::choose_pair(const ModeTable& table, double least, int& pair, bool& z_first) const {
  for (int i = 0; i < problem_->n; ++i) {
    if (problem_->free[static_cast<std::size_t>(i)] || path_[static_cast<std::size_t>(i)] != 0) continue;
    const double z = table.value(i), w = table.value(problem_->n + i), smaller = std::min(z, w);
    if (smaller <= least) continue;
    least = smaller;
    pair = i;
    z_first = z <= w;
  }
  return pair >= 0;
}

std::vector<RefutedModes> ModeSearch::proof() const {
  std::vector<RefutedModes> out;
  for (const Leaf& leaf : leaves_) {
    RefutedModes& part = out.emplace_back();
    part.y.resize(problem_->n);
    for (int i = 0; i < problem_->n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      part.y[i] = leaf.y[k] / problem_->row[k];
      if (leaf.fixed[k] == kZ) part.z_zero.push_back(i);
      if (leaf.fixed[k] == kW) part.w_zero.push_back(i);
    }
  }
  return out;
}

}  // namespace deft::solvers
