#include "deft/solvers/lcp/mode_search.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::solvers::lcp {
namespace {

constexpr char kZ = 1, kW = 2;      // which of a pair is zero
constexpr double kPositive = 1e-9;  // both of a pair above: not complementary
constexpr double kNeeded = 1e-11;   // wrong signs of multipliers, of what they gain, below which a fixing is not needed
constexpr int kDecidingRounds = 3;  // over all pairs, at the root
constexpr int kCutsPerNode = 4;
constexpr int kMostCuts = 16;                   // of one search: each makes every pivot dearer
constexpr double kAlongRays[] = {1, 1e2, 1e4};  // scaled lengths, where nothing bounds the motion
constexpr double kOutside = 1e-7;               // energies and cuts that count as violated
constexpr std::uint64_t kModeSeed = 0x30de;

}  // namespace

bool ModeSearch::find_any(const ScaledComplementarity& problem, const Accept& accept, const Limits& limits) {
  motion_.clear();
  known_ = {};
  start(problem, accept, limits);
  Fixings used;
  return explore(0, used) == Outcome::kFound;
}

bool ModeSearch::find_other(const ScaledComplementarity& problem, const Known& known, const Accept& accept,
                            const Limits& limits) {
  motion_.assign(known.motion.begin(), known.motion.end());
  known_ = known;
  start(problem, accept, limits);
  if (known.energy) {
    for (const bool at_known : {false, true}) {
      if (!at_known) point_.assign(problem.n, 0.0);
      known.energy->tangent(at_known ? known.z : std::span<const double>(point_), cuts_.emplace_back());
    }
  }
  if (!decide_pairs()) return false;
  Fixings used;
  return explore(0, used) == Outcome::kFound;
}

void ModeSearch::start(const ScaledComplementarity& problem, const Accept& accept, const Limits& limits) {
  problem_ = &problem;
  accept_ = &accept;
  limits_ = limits;
  nodes_ = 0;
  work_ = 0;
  complete_ = true;
  leaves_.clear();
  cuts_.clear();
  path_.assign(problem.n, 0);
  if (tables_.empty()) tables_.emplace_back();
  tables_[0].start(problem, motion_, kModeSeed);
}

bool ModeSearch::exhausted() const {
  return nodes_ >= limits_.nodes || work_ > limits_.work ||
         (limits_.clock && limits_.clock->seconds() > limits_.time_s);
}

// Cuts that a node's point only just obeys may leave it neither feasible nor refuted: they are then ignored.
ModeTable::End ModeSearch::restore(ModeTable& table) {
  const int before = table.pivots();
  ModeTable::End end = table.restore();
  if (end == ModeTable::End::kStalled && !cuts_.empty()) {
    table.ignore_cuts();
    end = table.restore();
  }
  work_ += (table.pivots() - before + 1) * table.pivot_work();
  return end;
}

ModeTable::Top ModeSearch::climb(ModeTable& table, double sign) {
  const int before = table.pivots();
  const ModeTable::Top top = table.climb(sign);
  work_ += (table.pivots() - before + 1) * table.pivot_work();
  return top;
}

// At the root: pairs of which one choice is refuted keep the other one. @returns whether anything is left to
// search.
bool ModeSearch::decide_pairs() {
  ModeTable& root = tables_[0];
  root.add_cuts(cuts_);
  if (restore(root) != ModeTable::End::kFeasible) {
    complete_ = false;  // contradicts the known solution: rounding
    return false;
  }
  bool any = true;
  for (int round = 0; any && round < kDecidingRounds; ++round) {
    any = false;
    for (int i = 0; i < problem_->n; ++i) {
      if (problem_->free[i] || path_[i] != 0) continue;
      if (!decide(i, any)) {
        complete_ = false;
        return false;
      }
    }
  }
  return true;
}

bool ModeSearch::decide(int pair, bool& any) {
  for (const char side : {kZ, kW}) {
    const int own = side == kZ ? pair : problem_->n + pair, other = side == kZ ? problem_->n + pair : pair;
    if (!(tables_[0].value(own) > kPositive)) continue;  // the root's point stays possible
    if (exhausted()) return true;
    ++nodes_;
    scratch_ = tables_[0];
    scratch_.fix(own);
    if (restore(scratch_) != ModeTable::End::kInfeasible) continue;
    tables_[0].fix(other);
    path_[pair] = side == kZ ? kW : kZ;
    any = true;
    return restore(tables_[0]) == ModeTable::End::kFeasible;
  }
  return true;
}

// Where the point of a table violates the energy bound, a tangent that cuts it off. @returns whether there is a new
// one.
bool ModeSearch::cut_off(const ModeTable& table) {
  if (!known_.energy || cuts_.size() >= to_size(kMostCuts)) return false;
  double excess = 0;
  for (const double length : kAlongRays) {
    table.point(point_, length);
    excess = known_.energy->value(point_);
    if (excess > kOutside) break;
  }
  if (!(excess > kOutside)) return false;
  known_.energy->border(known_.z, point_, border_);
  known_.energy->tangent(border_, cuts_.emplace_back());
  double value = cuts_.back().constant;
  for (std::size_t j = 0; j < point_.size(); ++j) value += cuts_.back().slope[j] * point_[j];
  if (value < -kOutside) return true;
  cuts_.pop_back();  // rounding
  return false;
}

// `used` are the fixings that closed the node needed: its leaves hold wherever those do.
ModeSearch::Outcome ModeSearch::explore(std::size_t depth, Fixings& used) {
  if (exhausted()) {
    complete_ = false;
    return Outcome::kStopped;
  }
  ++nodes_;
  ModeTable& table = tables_[depth];
  table.add_cuts(cuts_);
  const ModeTable::End end = restore(table);
  if (end == ModeTable::End::kInfeasible) {
    add_leaf(table, used);
    return Outcome::kClosed;
  }
  used = path_;
  int pair = -1;
  bool z_first = true;
  if (end == ModeTable::End::kStalled) {  // rounding: neither a point nor a proof. Deciding more pairs makes it
                                          // clearer.
    if (choose_pair(table, -std::numeric_limits<double>::infinity(), pair, z_first))
      return branch(depth, pair, z_first, used);
    complete_ = false;
    return Outcome::kClosed;
  }
  const Outcome outcome = motion_.empty() ? settle(table, pair, z_first) : bound_motion(depth, pair, z_first, used);
  return pair < 0 ? outcome : branch(depth, pair, z_first, used);
}

// A point of the node: the answer, or the pair to decide next.
ModeSearch::Outcome ModeSearch::settle(const ModeTable& table, int& pair, bool& z_first) {
  if (choose_pair(table, kPositive, pair, z_first)) return Outcome::kClosed;
  if ((*accept_)(table)) return Outcome::kFound;
  // Complementary, but refused by the certifier: rounding. Deciding more pairs makes it clearer.
  if (!choose_pair(table, -1, pair, z_first)) complete_ = false;
  return Outcome::kClosed;
}

// The largest and the smallest motion of a node: closed if both stay near the known one. Otherwise the extreme point is
// cut off by a new tangent, or settled.
ModeSearch::Outcome ModeSearch::bound_motion(std::size_t depth, int& pair, bool& z_first, Fixings& used) {
  for (int cuts = 0;; ++cuts) {
    bool cut = false;
    for (const double sign : {1.0, -1.0}) {
      scratch_ = tables_[depth];
      const ModeTable::Top top = climb(scratch_, sign);
      if (top == ModeTable::Top::kBest && sign * (scratch_.motion() - known_.value) <= known_.apart) continue;
      if (cuts < kCutsPerNode && cut_off(scratch_)) {
        cut = true;
        break;
      }
      if (top == ModeTable::Top::kStalled && sign * (scratch_.motion() - known_.value) <= known_.apart) {
        if (!choose_pair(scratch_, -1, pair, z_first)) complete_ = false;
        return Outcome::kClosed;
      }
      return settle(scratch_, pair, z_first);
    }
    if (!cut) return Outcome::kClosed;
    tables_[depth].add_cuts(cuts_);
    const ModeTable::End end = restore(tables_[depth]);
    if (end == ModeTable::End::kFeasible) continue;
    if (end == ModeTable::End::kInfeasible)
      add_leaf(tables_[depth], used);
    else if (!choose_pair(tables_[depth], -std::numeric_limits<double>::infinity(), pair, z_first))
      complete_ = false;
    return Outcome::kClosed;
  }
}

ModeSearch::Outcome ModeSearch::branch(std::size_t depth, int pair, bool z_first, Fixings& used) {
  const auto place = to_size(pair);
  if (tables_.size() < depth + 2) tables_.emplace_back();
  const std::size_t first_leaf = leaves_.size();
  Fixings all(path_.size(), 0), own;
  for (const bool z : {z_first, !z_first}) {
    const std::size_t own_leaf = leaves_.size();
    tables_[depth + 1] = tables_[depth];
    tables_[depth + 1].fix(z ? pair : problem_->n + pair);
    path_[place] = z ? kZ : kW;
    const Outcome outcome = explore(depth + 1, own);
    path_[place] = 0;
    if (outcome != Outcome::kClosed) return outcome;
    if (own[place] == 0) {  // refuted without this fixing: the other side too
      leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(first_leaf),
                    leaves_.begin() + static_cast<std::ptrdiff_t>(own_leaf));
      for (std::size_t k = first_leaf; k < leaves_.size(); ++k) leaves_[k].fixed[place] = 0;
      used = own;
      return Outcome::kClosed;
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], own[i]);
  }
  all[place] = 0;
  used = all;
  return Outcome::kClosed;
}

void ModeSearch::add_leaf(const ModeTable& table, Fixings& used) {
  const std::vector<double>&y = table.multipliers(), &slope = table.slopes();
  used.assign(path_.size(), 0);
  for (std::size_t i = 0; i < path_.size(); ++i) {
    const bool needed =
        (path_[i] == kZ && slope[i] > kNeeded * table.gained()) || (path_[i] == kW && y[i] < -kNeeded * table.gained());
    if (needed) used[i] = path_[i];
  }
  if (motion_.empty()) leaves_.push_back({path_, y});
}

// Of the undecided pairs whose smaller member is above `least` the largest one (of those that are complementary, the
// least clear); which member is the smaller one.
bool ModeSearch::choose_pair(const ModeTable& table, double least, int& pair, bool& z_first) const {
  for (int i = 0; i < problem_->n; ++i) {
    if (problem_->free[i] || path_[i] != 0) continue;
    const double z = table.value(i), w = table.value(problem_->n + i), smaller = std::min(z, w);
    const double size = smaller > kPositive ? z + w : smaller;
    if (size <= least) continue;
    least = size;
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
      const auto k = to_size(i);
      part.y[i] = leaf.y[k] / problem_->row[k];
      if (leaf.fixed[k] == kZ) part.z_zero.push_back(i);
      if (leaf.fixed[k] == kW) part.w_zero.push_back(i);
    }
  }
  return out;
}

}  // namespace deft::solvers::lcp
