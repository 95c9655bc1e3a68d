#include "deft/solvers/lcs/search.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/core/thread_pool.hpp"

namespace deft::solvers::lcs {
namespace {

constexpr double kViolated = 1e-9;  // both sides of an open pair above: it is violated
constexpr double kScaleless = 10;   // stands for a bound that is not known when violations are compared
constexpr int kScored = 16;         // most violated pairs whose children are estimated
constexpr std::size_t kDeep = 4;    // decisions; above, estimates follow the dual further:
constexpr int kDeepPivots = 20, kPivots = 2;
constexpr double kLeastGain = 1e-8;  // of the cost: estimates below count as this
constexpr double kCloses = 100;      // the score of a pair, one side of which is estimated to close, grows by this
constexpr double kZeroCost = 1e-6;  // of the weights of start and goals: a smaller cost counts as this in relative gaps
constexpr double kLeastGap = 1e-12;               // absolute: a smaller difference is none
constexpr double kCeiling = 1.001;                // times the largest possible cost
constexpr double kHeavy = 0.3;                    // of the root's cost: a larger proximal term would rule the tree
constexpr double kWithin = 0.999;                 // of the gap: nodes close at, so that rounding does not leave it
constexpr int kRootRounds = 40, kNodeRounds = 8;  // of propagation
constexpr int kAlone = 64;                        // nodes that are explored one dive at a time
constexpr int kDives = 8, kNodesPerDive = 12;     // of a round afterwards
constexpr int kRoundEvery = 4;                    // dives: the first node of every fourth is rounded

/// Whether a lower bound lies above its upper one, by however little.
bool crossed(const LcsMpcProgram& program) {
  if (program.u_min.size() > 0 && program.u_max.size() > 0 && (program.u_min.array() > program.u_max.array()).any())
    return true;
  if (program.gamma_max.size() > 0 && (program.gamma_max.array() < 0).any()) return true;
  for (Eigen::Index i = 0; i < program.x_min.size() && program.x_max.size() > 0; ++i) {
    const bool soft = program.x_price.size() > 0 && std::isfinite(program.x_price(i));
    if (!soft && program.x_min(i) > program.x_max(i)) return true;
  }
  return false;
}

}  // namespace

/// What one dive is given and what it found.
struct LcsSearch::Dive {
  Node start;
  double cutoff = kInfinity;
  double incumbent = kInfinity;
  bool round = false;
  std::vector<Node> open;
  std::vector<LcsLeaf> leaves;
  std::optional<LcsCandidate> candidate;
  std::int64_t nodes = 0;
  bool unproven = false;
  double unproven_bound = kInfinity;
  bool heavy = false;
};

/// One thread's tools.
class LcsSearch::Worker {
 public:
  Worker(const LcsSearch& search)
      : search_(search),
        relaxation_(*search.stages_, search.propagation_),
        rounding_(*search.program_, *search.stages_, search.propagation_),
        ng_(search.program_->system.pairs()) {}

  void dive(Dive& dive) {
    dive_ = &dive;
    std::vector<Node>& open = dive.open;
    open.push_back(std::move(dive.start));
    bool follow = false;  // the last node of `open` is a child whose modes and intervals are at hand
    while (!open.empty() && dive.nodes < kNodesPerDive && search_.clock_.seconds() <= search_.settings_.time_limit_s) {
      if (!follow) {
        const auto best =
            std::min_element(open.begin(), open.end(), [](const Node& a, const Node& b) { return a.bound < b.bound; });
        std::iter_swap(best, open.end() - 1);
      }
      Node node = std::move(open.back());
      open.pop_back();
      follow = explore(node, follow);
    }
  }
  LcsRounding& rounding() { return rounding_; }
  long iterations() const { return relaxation_.iterations() + rounding_.iterations(); }

 private:
  double cutoff() const { return dive_->cutoff; }

  /// Fixes what was decided on the way to `node`.
  static void decide(const Node& node, std::vector<PairMode>& modes) {
    for (const int decision : node.path)
      modes[decision / 2] = decision % 2 ? PairMode::kSlackZero : PairMode::kGammaZero;
  }

  void close(const Node& node, double bound) {
    if (!search_.settings_.log_proof) return;
    LcsLeaf leaf{std::vector<PairMode>(search_.root_modes_.size(), PairMode::kOpen), bound};
    decide(node, leaf.modes);
    dive_->leaves.push_back(std::move(leaf));
  }

  bool restore(const Node& node) {
    modes_ = search_.root_modes_;
    intervals_ = search_.root_intervals_;
    decide(node, modes_);
    return search_.propagation_.run(intervals_, modes_, kNodeRounds, scratch_);
  }

  void offer(std::optional<LcsCandidate> candidate) {
    if (!candidate || candidate->certificate.cost >= dive_->incumbent) return;
    dive_->incumbent = candidate->certificate.cost;
    dive_->cutoff = std::min(dive_->cutoff, search_.cutoff(dive_->incumbent));
    dive_->candidate = std::move(candidate);
  }

  /// @returns whether the last node of dive_->open is the child to follow, with its modes and intervals at hand.
  bool explore(Node& node, bool at_hand) {
    if (node.bound >= cutoff()) return close(node, node.bound), false;
    if (!at_hand && !restore(node)) return close(node, kInfinity), false;
    ++dive_->nodes;
    using End = LcsRelaxation::End;
    relaxation_.set(*search_.program_, intervals_, modes_, true);
    relaxation_.start(node.working);
    End end = relaxation_.solve(cutoff());
    if (end == End::kFailed) {  // rounding errors of the inherited working set
      relaxation_.start({});
      end = relaxation_.solve(cutoff());
    }
    if (end == End::kAbove || end == End::kInfeasible) return close(node, relaxation_.bound()), false;
    if (end == End::kOptimal) {
      node.bound = std::max(node.bound, relaxation_.bound());
      if (node.bound >= cutoff()) return close(node, node.bound), false;
    }
    if (end == End::kOptimal && node.path.empty() && is_heavy()) {
      dive_->heavy = true;
      return false;
    }
    if (end == End::kOptimal && dive_->round && dive_->nodes == 1) round(relaxation_.point());
    slack_first_ = false;
    const int pair = end == End::kOptimal ? choose(node.path.size()) : first_open();
    if (pair < 0) return finish_leaf(node);
    return branch(node, pair);
  }

  bool is_heavy() const {
    const LcsStagePoint& point = relaxation_.point();
    return !search_.any_weight_ && point.proximal > kHeavy * std::max(point.cost, search_.least_cost_);
  }

  void round(const LcsStagePoint& point) {
    if (const auto modes = rounding_.simulate(rounding_.inputs(point)))
      offer(rounding_.improve(*modes, relaxation_.working(), dive_->incumbent));
  }

  int first_open() const {
    for (std::size_t i = 0; i < modes_.size(); ++i) {
      if (modes_[i] == PairMode::kOpen) return static_cast<int>(i);
    }
    return -1;
  }

  /// The violated pair whose weaker side is estimated to raise the bound most; −1 where no open pair is violated.
  int choose(std::size_t depth) {
    const int pivots = depth < kDeep ? kDeepPivots : kPivots;
    candidates_.clear();
    const LcsStagePoint& point = relaxation_.point();
    const LcsPropagation& layout = search_.propagation_;
    for (int pair = 0; pair < static_cast<int>(modes_.size()); ++pair) {
      if (modes_[pair] != PairMode::kOpen) continue;
      const double gamma = point.y[relaxation_.gamma_row(pair)], slack = point.y[relaxation_.slack_row(pair)];
      if (std::min(gamma, slack) <= kViolated) continue;
      const double L = std::min(intervals_.hi[layout.gamma(pair / ng_, pair % ng_)], kScaleless);
      const double S = std::min(intervals_.hi[layout.slack(pair / ng_, pair % ng_)], kScaleless);
      candidates_.push_back({std::min(gamma / L, slack / S), pair});
    }
    if (candidates_.empty()) return -1;
    const std::size_t scored = std::min(candidates_.size(), to_size(kScored));
    std::partial_sort(
        candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(scored), candidates_.end(),
        [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    int best = -1;
    double best_score = -1;
    const double least = kLeastGain * (1 + std::abs(relaxation_.bound()));
    for (std::size_t c = 0; c < scored; ++c) {
      const int pair = candidates_[c].second;
      const double gamma_gain = relaxation_.gain(relaxation_.gamma_row(pair), 0, pivots),
                   slack_gain = relaxation_.gain(relaxation_.slack_row(pair), 0, pivots);
      double score = std::clamp(gamma_gain, least, 1e9) * std::clamp(slack_gain, least, 1e9);
      if (relaxation_.bound() + std::max(gamma_gain, slack_gain) >= cutoff()) score *= kCloses;
      if (score > best_score) best_score = score, best = pair, slack_first_ = slack_gain < gamma_gain;
    }
    return best;
  }

  bool branch(Node& node, int pair) {
    const std::vector<LcsMultiplier> working = relaxation_.working();
    Node children[2];
    for (const bool slack : {false, true}) {
      Node& child = children[slack];
      child.path = node.path;
      child.path.push_back(2 * pair + (slack ? 1 : 0));
      child.working = working;
      child.bound = node.bound;
    }
    // The child that the relaxation is nearer to is followed; its sister waits.
    const bool first = slack_first_;
    std::vector<PairMode> kept_modes = modes_;
    LcsIntervals kept_intervals = intervals_;
    const auto enter = [&](bool slack) {
      modes_[pair] = slack ? PairMode::kSlackZero : PairMode::kGammaZero;
      return search_.propagation_.run(intervals_, modes_, kNodeRounds, scratch_);
    };
    if (enter(first)) {
      dive_->open.push_back(std::move(children[!first]));
      dive_->open.push_back(std::move(children[first]));
      return true;
    }
    close(children[first], kInfinity);
    modes_ = std::move(kept_modes);
    intervals_ = std::move(kept_intervals);
    if (enter(!first)) {
      dive_->open.push_back(std::move(children[!first]));
      return true;
    }
    close(children[!first], kInfinity);
    return false;
  }

  /// No open pair is violated: the point is a trajectory of the system.
  bool finish_leaf(Node& node) {
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
    if (node.bound >= cutoff()) return close(node, node.bound), false;
    slack_first_ = false;
    if (corner >= 0) return branch(node, corner);
    // All modes are fixed: the node's own value, without what the proximal term may hide.
    using End = LcsRelaxation::End;
    const End end = relaxation_.solve(cutoff(), true);
    if (end == End::kAbove || end == End::kInfeasible) return close(node, relaxation_.bound()), false;
    node.bound = std::max(node.bound, relaxation_.bound());
    if (node.bound < cutoff()) {
      dive_->unproven = true;
      dive_->unproven_bound = std::min(dive_->unproven_bound, node.bound);
    }
    close(node, node.bound);
    return false;
  }

  const LcsSearch& search_;
  LcsRelaxation relaxation_;
  LcsRounding rounding_;
  int ng_;
  Dive* dive_ = nullptr;
  std::vector<PairMode> modes_;
  LcsIntervals intervals_;
  LcsPropagation::Scratch scratch_;
  std::vector<std::pair<double, int>> candidates_;
  bool slack_first_ = false;
};

LcsSearch::LcsSearch(const LcsMpcProgram& program, const LcsStages& stages, const BranchAndBoundSettings& settings,
                     bool any_weight)
    : program_(&program),
      stages_(&stages),
      settings_(settings),
      propagation_(program),
      any_weight_(any_weight),
      unproven_bound_(kInfinity) {}

LcsSearch::~LcsSearch() = default;

double LcsSearch::cutoff(double cost) const {
  if (!std::isfinite(cost)) return ceiling_;
  return cost - kWithin * settings_.gap * std::max(cost, least_cost_);
}

void LcsSearch::push(Node node) {
  node.number = numbers_++;
  open_.push_back(std::move(node));
  std::push_heap(open_.begin(), open_.end(), [](const Node& a, const Node& b) {
    return a.bound != b.bound ? a.bound > b.bound : a.number < b.number;
  });
}

LcsSearch::Node LcsSearch::pop() {
  std::pop_heap(open_.begin(), open_.end(), [](const Node& a, const Node& b) {
    return a.bound != b.bound ? a.bound > b.bound : a.number < b.number;
  });
  Node node = std::move(open_.back());
  open_.pop_back();
  return node;
}

void LcsSearch::take(std::optional<LcsCandidate>& candidate, LcsMpcResult& result) {
  if (!candidate || (result.has_incumbent && candidate->certificate.cost >= result.cost)) return;
  result.has_incumbent = true;
  result.cost = candidate->certificate.cost;
  result.certificate = candidate->certificate;
  result.incumbent = std::move(candidate->trajectory);
}

void LcsSearch::merge(Dive& dive, LcsMpcResult& result) {
  take(dive.candidate, result);
  result.nodes += dive.nodes;
  for (LcsLeaf& leaf : dive.leaves) result.proof.push_back(std::move(leaf));
  for (Node& node : dive.open) push(std::move(node));
  heavy_ = heavy_ || dive.heavy;
  if (!dive.unproven) return;
  unproven_ = true;
  unproven_bound_ = std::min(unproven_bound_, dive.unproven_bound);
}

/// No trajectory within the intervals costs more: relaxations above have no trajectory.
double LcsSearch::find_ceiling() const {
  const auto most = [](const Eigen::MatrixXd& weight, const Eigen::VectorXd& reach) {
    double sum = 0;
    for (Eigen::Index i = 0; i < reach.size(); ++i) {
      for (Eigen::Index j = 0; j < reach.size(); ++j) {
        if (weight(i, j) != 0) sum += std::abs(weight(i, j)) * reach(i) * reach(j);
      }
    }
    return sum;
  };
  const auto reach = [&](int index, double from) {
    return std::max(std::abs(root_intervals_.lo[index] - from), std::abs(root_intervals_.hi[index] - from));
  };
  const int nx = program_->system.nx(), nu = program_->system.nu(), N = program_->N;
  double cost = 0;
  Eigen::VectorXd x(nx), u(nu);
  for (int k = 0; k <= N; ++k) {
    for (int i = 0; i < nx; ++i) x(i) = reach(propagation_.x(k, i), program_->x_goal(i, k));
    cost += most(k < N ? program_->Q : program_->Qf, x);
    for (int j = 0; j < nu && k < N; ++j) u(j) = reach(propagation_.u(k, j), 0);
    if (k < N) cost += most(program_->R, u);
    // Soft bounds: what is paid for them.
    for (int i = 0; i < nx && k > 0 && program_->x_price.size() > 0; ++i) {
      if (!std::isfinite(program_->x_price(i)) || program_->x_price(i) == 0) continue;
      const double lo = root_intervals_.lo[propagation_.x(k, i)], hi = root_intervals_.hi[propagation_.x(k, i)];
      const double least = program_->x_min.size() > 0 ? program_->x_min(i) : -kInfinity,
                   most_wanted = program_->x_max.size() > 0 ? program_->x_max(i) : kInfinity;
      const double below = std::isfinite(least) ? least - lo : 0.0,
                   above = std::isfinite(most_wanted) ? hi - most_wanted : 0.0;
      cost += program_->x_price(i) * std::max({below, above, 0.0});
    }
  }
  return std::isfinite(cost) ? kCeiling * (cost + 1) : kInfinity;
}

void LcsSearch::begin(const std::vector<Eigen::MatrixXd>& suggestions, LcsMpcResult& result) {
  for (int i = 0; i < std::max(1, settings_.threads); ++i) workers_.push_back(std::make_unique<Worker>(*this));
  for (const Eigen::MatrixXd& u : suggestions) {
    LcsRounding& rounding = workers_.front()->rounding();
    const auto modes = rounding.simulate(u);
    if (!modes) continue;
    std::optional<LcsCandidate> candidate =
        rounding.improve(*modes, {}, result.has_incumbent ? result.cost : kInfinity);
    take(candidate, result);
  }
}

bool LcsSearch::run(const std::vector<Eigen::MatrixXd>& suggestions, LcsMpcResult& result) {
  clock_.restart();
  // Costs far below the terms that cancel in them are zero.
  least_cost_ = program_->x0.dot(program_->Q * program_->x0);
  for (int k = 0; k <= program_->N; ++k) {
    const Eigen::VectorXd goal = program_->x_goal.col(k);
    least_cost_ += goal.dot((k < program_->N ? program_->Q : program_->Qf) * goal);
  }
  least_cost_ = std::max(kZeroCost * least_cost_, kLeastGap / settings_.gap);
  root_modes_.assign(program_->N * program_->system.pairs(), PairMode::kOpen);
  root_intervals_ = propagation_.start();
  const bool possible =
      !crossed(*program_) && propagation_.run_twice(root_intervals_, root_modes_, kRootRounds, scratch_);
  if (possible) {
    ceiling_ = find_ceiling();
    begin(suggestions, result);
    Node root;
    root.bound = 0;  // all terms of the cost are squares or prices
    push(std::move(root));
  } else if (settings_.log_proof) {
    result.proof.push_back({std::vector<PairMode>(root_modes_.size(), PairMode::kOpen), kInfinity});
  }
  std::vector<Dive> dives;
  ThreadPool pool(std::max(1, settings_.threads), [&](int worker, int item) { workers_[worker]->dive(dives[item]); });
  std::int64_t number = 0;
  result.status = Status::kSolved;
  while (!open_.empty()) {
    if (clock_.seconds() > settings_.time_limit_s) {
      result.status = Status::kTimeLimit;
      break;
    }
    if (result.nodes >= settings_.node_limit) {
      result.status = Status::kIterationLimit;
      break;
    }
    const double limit = cutoff(result.has_incumbent ? result.cost : kInfinity);
    dives.clear();
    for (int i = 0; i < (result.nodes < kAlone ? 1 : kDives) && !open_.empty(); ++i) {
      Dive dive;
      dive.start = pop();
      if (dive.start.bound >= limit && !settings_.log_proof) {  // the least bound of all
        open_.clear();
        break;
      }
      dive.cutoff = limit;
      dive.incumbent = result.has_incumbent ? result.cost : kInfinity;
      dive.round = number++ % kRoundEvery == 0;
      dives.push_back(std::move(dive));
    }
    pool.run(static_cast<int>(dives.size()));
    for (Dive& dive : dives) merge(dive, result);
    if (heavy_) return false;
    if (settings_.watch && !report(result)) {
      result.status = Status::kTimeLimit;
      break;
    }
  }
  finish(result);
  return true;
}

void LcsSearch::find_bound(LcsMpcResult& result) const {
  double least = unproven_bound_;
  if (!open_.empty()) least = std::min(least, open_.front().bound);  // of the heap
  // Closed nodes were closed at bounds no lower than the cutoff.
  result.bound = result.has_incumbent ? std::max(0.0, std::min(least, cutoff(result.cost))) : least;
  result.gap =
      result.has_incumbent ? std::max(0.0, result.cost - result.bound) / std::max(result.cost, least_cost_) : kInfinity;
  result.time_s = clock_.seconds();
}

bool LcsSearch::report(LcsMpcResult& result) const {
  find_bound(result);
  return settings_.watch(result);
}

void LcsSearch::finish(LcsMpcResult& result) const {
  find_bound(result);
  if (result.status == Status::kSolved && !result.has_incumbent)
    result.status = unproven_ ? Status::kNumericalFailure : Status::kInfeasible;
  if (result.status == Status::kSolved && unproven_bound_ < cutoff(result.cost))
    result.status = Status::kNumericalFailure;
  for (const auto& worker : workers_) result.iterations += worker->iterations();
}

}  // namespace deft::solvers::lcs
