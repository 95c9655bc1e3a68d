#include "deft/solvers/lcs/dive.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::solvers::lcs {
namespace {

constexpr double kWithin = 0.999;   // of the gap: nodes close at, so that rounding does not leave it
constexpr double kViolated = 1e-9;  // both sides of an open pair above: it is violated
constexpr double kScaleless = 10;   // stands for a bound that is not known when violations are compared
constexpr int kScored = 16;         // most violated pairs whose children are estimated
constexpr std::size_t kDeep = 4;    // decisions; above, estimates follow the dual further:
constexpr int kDeepPivots = 20, kPivots = 2;
constexpr double kLeastGain = 1e-8;  // of 1 + the bound: estimates below count as this
constexpr double kMostGain = 1e9;    // estimates above count as this
constexpr double kCloses = 100;      // the score of a pair, one side of which is estimated to close, grows by this
constexpr double kHeavy = 0.3;       // of the root's cost: a larger proximal term would rule the tree
constexpr int kNodeRounds = 8;       // of propagation
constexpr int kNodesPerDive = 12;

/// Fixes what was decided on the way to `node`.
void decide(const LcsNode& node, std::vector<PairMode>& modes) {
  for (const int decision : node.path) modes[decision / 2] = decision % 2 ? PairMode::kSlackZero : PairMode::kGammaZero;
}

}  // namespace

double LcsSearchTask::cutoff(double cost) const {
  if (!std::isfinite(cost)) return ceiling;
  return cost - kWithin * settings.gap * std::max(cost, least_cost);
}

LcsDiver::LcsDiver(const LcsSearchTask& task)
    : task_(task),
      relaxation_(*task.stages, task.propagation),
      rounding_(*task.program, *task.stages, task.propagation),
      ng_(task.program->system.pairs()) {}

void LcsDiver::run(LcsDive& dive) {
  dive_ = &dive;
  std::vector<LcsNode>& open = dive.open;
  open.push_back(std::move(dive.start));
  bool at_hand = false;  // the last node of `open` is a child whose modes and intervals are at hand
  while (!open.empty() && dive.nodes < kNodesPerDive && task_.clock.seconds() <= task_.settings.time_limit_s) {
    if (!at_hand) {
      const auto best = std::min_element(open.begin(), open.end(),
                                         [](const LcsNode& a, const LcsNode& b) { return a.bound < b.bound; });
      std::iter_swap(best, open.end() - 1);
    }
    LcsNode node = std::move(open.back());
    open.pop_back();
    at_hand = explore(node, at_hand);
  }
}

/// One node: bound it, close it if no trajectory below the cutoff is left, round it, and branch on a pair.
/// @returns whether the last node of dive_->open is the child to follow, with its modes and intervals at hand.
bool LcsDiver::explore(LcsNode& node, bool at_hand) {
  using End = LcsRelaxation::End;
  if (node.bound >= dive_->cutoff) return close(node, node.bound), false;
  if (!at_hand && !restore(node)) return close(node, kInfinity), false;
  ++dive_->nodes;
  const End end = relax(node);
  if (end == End::kAbove || end == End::kInfeasible) return close(node, relaxation_.bound()), false;
  if (end != End::kOptimal) {  // rounding leaves no minimiser to choose by
    const Branching branching = first_open();
    return branching.pair < 0 ? finish_leaf(node) : branch(node, branching);
  }
  node.bound = std::max(node.bound, relaxation_.bound());
  if (node.bound >= dive_->cutoff) return close(node, node.bound), false;
  if (node.path.empty() && is_heavy()) return dive_->heavy = true, false;
  if (dive_->round && dive_->nodes == 1) round();
  const Branching branching = choose(node.path.size());
  return branching.pair < 0 ? finish_leaf(node) : branch(node, branching);
}

/// The modes and intervals of a node that is not the child of the last one. @returns false where it has no trajectory.
bool LcsDiver::restore(const LcsNode& node) {
  modes_ = task_.root_modes;
  intervals_ = task_.root_intervals;
  decide(node, modes_);
  return task_.propagation.run(intervals_, modes_, kNodeRounds, scratch_);
}

/// Solves the relaxation of the node at hand.
LcsRelaxation::End LcsDiver::relax(const LcsNode& node) {
  relaxation_.set(*task_.program, intervals_, modes_, true);
  relaxation_.start(node.working);
  LcsRelaxation::End end = relaxation_.solve(dive_->cutoff);
  if (end == LcsRelaxation::End::kFailed) {  // rounding errors of the inherited working set
    relaxation_.start({});
    end = relaxation_.solve(dive_->cutoff);
  }
  return end;
}

bool LcsDiver::is_heavy() const {
  const LcsStagePoint& point = relaxation_.point();
  return !task_.any_weight && point.proximal > kHeavy * std::max(point.cost, task_.least_cost);
}

/// From the relaxation's inputs to a trajectory.
void LcsDiver::round() {
  if (const auto modes = rounding_.simulate(rounding_.inputs(relaxation_.point())))
    offer(rounding_.improve(*modes, relaxation_.working(), dive_->incumbent));
}

/// The open pairs that the relaxation's point violates, each with min(γ/L, s/S).
void LcsDiver::list_violated() {
  candidates_.clear();
  const LcsStagePoint& point = relaxation_.point();
  const LcsPropagation& layout = task_.propagation;
  for (int pair = 0; pair < static_cast<int>(modes_.size()); ++pair) {
    if (modes_[pair] != PairMode::kOpen) continue;
    const double gamma = point.y[relaxation_.gamma_row(pair)], slack = point.y[relaxation_.slack_row(pair)];
    if (std::min(gamma, slack) <= kViolated) continue;
    const double L = std::min(intervals_.hi[layout.gamma(pair / ng_, pair % ng_)], kScaleless);
    const double S = std::min(intervals_.hi[layout.slack(pair / ng_, pair % ng_)], kScaleless);
    candidates_.push_back({std::min(gamma / L, slack / S), pair});
  }
}

/// Of the most violated pairs the one with the largest product of its children's estimated gains; none where no open
/// pair is violated. The child with the smaller gain comes first.
LcsDiver::Branching LcsDiver::choose(std::size_t depth) {
  list_violated();
  const std::size_t scored = std::min(candidates_.size(), to_size(kScored));
  std::partial_sort(
      candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(scored), candidates_.end(),
      [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  const int pivots = depth < kDeep ? kDeepPivots : kPivots;
  const double least = kLeastGain * (1 + std::abs(relaxation_.bound()));
  Branching best;
  double best_score = -1;
  for (std::size_t c = 0; c < scored; ++c) {
    const int pair = candidates_[c].second;
    const double gamma_gain = relaxation_.gain(relaxation_.gamma_row(pair), 0, pivots),
                 slack_gain = relaxation_.gain(relaxation_.slack_row(pair), 0, pivots);
    double score = std::clamp(gamma_gain, least, kMostGain) * std::clamp(slack_gain, least, kMostGain);
    if (relaxation_.bound() + std::max(gamma_gain, slack_gain) >= dive_->cutoff) score *= kCloses;
    if (score > best_score) best_score = score, best = {pair, slack_gain < gamma_gain};
  }
  return best;
}

LcsDiver::Branching LcsDiver::first_open() const {
  const auto open = std::find(modes_.begin(), modes_.end(), PairMode::kOpen);
  return {open == modes_.end() ? -1 : static_cast<int>(open - modes_.begin()), false};
}

/// Splits the node at hand by γ = 0 and s = 0 of one pair. The first child, estimated to gain less, is followed; its
/// sister waits. A child that propagation proves empty closes at once.
bool LcsDiver::branch(const LcsNode& node, Branching branching) {
  const std::vector<LcsMultiplier> working = relaxation_.working();
  const auto child = [&](bool slack) {
    LcsNode out{.path = node.path, .working = working, .bound = node.bound};
    out.path.push_back(2 * branching.pair + (slack ? 1 : 0));
    return out;
  };
  const auto enter = [&](bool slack) {
    modes_[branching.pair] = slack ? PairMode::kSlackZero : PairMode::kGammaZero;
    return task_.propagation.run(intervals_, modes_, kNodeRounds, scratch_);
  };
  const bool first = branching.slack_first;
  std::vector<PairMode> kept_modes = modes_;
  LcsIntervals kept_intervals = intervals_;
  if (enter(first)) {
    dive_->open.push_back(child(!first));
    dive_->open.push_back(child(first));
    return true;
  }
  close(child(first), kInfinity);
  modes_ = std::move(kept_modes);
  intervals_ = std::move(kept_intervals);
  if (enter(!first)) {
    dive_->open.push_back(child(!first));
    return true;
  }
  close(child(!first), kInfinity);
  return false;
}

/// No open pair is violated, or none is open: the relaxation's point is a trajectory of the system. Where the node's
/// bound lies below that trajectory's cost all the same, the open pair with the widest gap is fixed.
bool LcsDiver::finish_leaf(LcsNode& node) {
  std::vector<PairMode> modes = modes_;
  const LcsStagePoint& point = relaxation_.point();
  int corner = -1;
  double widest = 0;
  for (int pair = 0; pair < static_cast<int>(modes.size()); ++pair) {
    if (modes[pair] != PairMode::kOpen) continue;
    const double gamma = point.y[relaxation_.gamma_row(pair)], slack = point.y[relaxation_.slack_row(pair)];
    modes[pair] = gamma > slack ? PairMode::kSlackZero : PairMode::kGammaZero;
    if (corner < 0 || std::min(gamma, slack) > widest) widest = std::min(gamma, slack), corner = pair;
  }
  offer(rounding_.improve(modes, relaxation_.working(), dive_->incumbent));
  if (node.bound >= dive_->cutoff) return close(node, node.bound), false;
  if (corner >= 0) return branch(node, {corner, false});
  bound_fixed(node);
  return false;
}

/// All modes are fixed: the node closes at its own value, without what the proximal term may hide.
void LcsDiver::bound_fixed(LcsNode& node) {
  using End = LcsRelaxation::End;
  const End end = relaxation_.solve(dive_->cutoff, true);
  if (end == End::kAbove || end == End::kInfeasible) return close(node, relaxation_.bound());
  node.bound = std::max(node.bound, relaxation_.bound());
  if (node.bound < dive_->cutoff) {
    dive_->unproven = true;
    dive_->unproven_bound = std::min(dive_->unproven_bound, node.bound);
  }
  close(node, node.bound);
}

/// Keeps the candidate if it is the best trajectory so far.
void LcsDiver::offer(std::optional<LcsCandidate> candidate) {
  if (!candidate || candidate->certificate.cost >= dive_->incumbent) return;
  dive_->incumbent = candidate->certificate.cost;
  dive_->cutoff = std::min(dive_->cutoff, task_.cutoff(dive_->incumbent));
  dive_->candidate = std::move(candidate);
}

/// The node is a leaf of the proof: no trajectory of it costs less than `bound`.
void LcsDiver::close(const LcsNode& node, double bound) {
  if (!task_.settings.log_proof) return;
  LcsLeaf leaf{std::vector<PairMode>(task_.root_modes.size(), PairMode::kOpen), bound};
  decide(node, leaf.modes);
  dive_->leaves.push_back(std::move(leaf));
}

}  // namespace deft::solvers::lcs
