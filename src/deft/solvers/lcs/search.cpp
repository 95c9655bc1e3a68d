#include "deft/solvers/lcs/search.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/thread_pool.hpp"

namespace deft::solvers::lcs {
namespace {

constexpr double kZeroCost = 1e-6;  // of the weights of start and goals: a smaller cost counts as this in relative gaps
constexpr double kLeastGap = 1e-12;  // absolute: a smaller difference is none
constexpr double kCeiling = 1.001;   // times the largest possible cost
constexpr int kRootRounds = 40;      // of propagation
constexpr int kAlone = 64;           // nodes that are explored one dive at a time
constexpr int kDives = 8;            // of a round afterwards
constexpr int kRoundEvery = 4;       // dives: the first node of every fourth is rounded

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

/// |v|ᵀ|W||v|, which no vᵀWv with entries up to |v| in size exceeds; infinite entries without weight do not count.
double largest_form(const Eigen::MatrixXd& weight, const Eigen::VectorXd& size) {
  double sum = 0;
  for (Eigen::Index i = 0; i < size.size(); ++i) {
    for (Eigen::Index j = 0; j < size.size(); ++j) {
      if (weight(i, j) != 0) sum += std::abs(weight(i, j)) * size(i) * size(j);
    }
  }
  return sum;
}

/// The order of the heap: the node of least bound on top, of equal ones the latest.
bool comes_later(const LcsNode& a, const LcsNode& b) {
  return a.bound != b.bound ? a.bound > b.bound : a.number < b.number;
}

double cost_of_incumbent(const LcsMpcResult& result) { return result.has_incumbent ? result.cost : kInfinity; }

}  // namespace

LcsSearch::LcsSearch(const LcsMpcProgram& program, const LcsStages& stages, const BranchAndBoundSettings& settings,
                     bool any_weight)
    : task_{.program = &program,
            .stages = &stages,
            .settings = settings,
            .any_weight = any_weight,
            .propagation = LcsPropagation(program),
            .root_intervals = {},
            .root_modes = {}} {}

bool LcsSearch::run(const std::vector<Eigen::MatrixXd>& suggestions, LcsMpcResult& result) {
  task_.clock.restart();
  open_root(suggestions, result);
  std::vector<LcsDive> dives;
  ThreadPool pool(std::max(1, task_.settings.threads),
                  [&](int worker, int item) { divers_[worker]->run(dives[item]); });
  result.status = Status::kSolved;
  while (!open_.empty()) {
    if (const std::optional<Status> limit = limit_passed(result)) {
      result.status = *limit;
      break;
    }
    choose_dives(result, dives);
    pool.run(static_cast<int>(dives.size()));
    for (LcsDive& dive : dives) merge(dive, result);
    if (heavy_) return false;
    if (task_.settings.watch && !report(result)) {
      result.status = Status::kTimeLimit;
      break;
    }
  }
  finish(result);
  return true;
}

/// The root's modes and intervals; the root becomes a node, with a first incumbent from the suggestions, unless it has
/// no trajectory.
void LcsSearch::open_root(const std::vector<Eigen::MatrixXd>& suggestions, LcsMpcResult& result) {
  task_.least_cost = find_least_cost();
  task_.root_modes.assign(task_.program->N * task_.program->system.pairs(), PairMode::kOpen);
  task_.root_intervals = task_.propagation.start();
  LcsPropagation::Scratch scratch;
  if (crossed(*task_.program) ||
      !task_.propagation.run_twice(task_.root_intervals, task_.root_modes, kRootRounds, scratch)) {
    if (task_.settings.log_proof)
      result.proof.push_back({std::vector<PairMode>(task_.root_modes.size(), PairMode::kOpen), kInfinity});
    return;
  }
  task_.ceiling = find_ceiling();
  for (int i = 0; i < std::max(1, task_.settings.threads); ++i) divers_.push_back(std::make_unique<LcsDiver>(task_));
  LcsRounding& rounding = divers_.front()->rounding();
  for (const Eigen::MatrixXd& u : suggestions) {
    const auto modes = rounding.simulate(u);
    if (!modes) continue;
    std::optional<LcsCandidate> candidate = rounding.improve(*modes, {}, cost_of_incumbent(result));
    take(candidate, result);
  }
  LcsNode root;
  root.bound = 0;  // all terms of the cost are squares or prices
  push(std::move(root));
}

std::optional<Status> LcsSearch::limit_passed(const LcsMpcResult& result) const {
  if (task_.clock.seconds() > task_.settings.time_limit_s) return Status::kTimeLimit;
  if (result.nodes >= task_.settings.node_limit) return Status::kIterationLimit;
  return std::nullopt;
}

/// The dives of a round, from the nodes of least bound. None where that bound passes the cutoff: all nodes are closed
/// (with a proof to keep, dives close them one by one).
void LcsSearch::choose_dives(const LcsMpcResult& result, std::vector<LcsDive>& dives) {
  const double incumbent = cost_of_incumbent(result), cutoff = task_.cutoff(incumbent);
  const int count = result.nodes < kAlone ? 1 : kDives;
  dives.clear();
  for (int i = 0; i < count && !open_.empty(); ++i) {
    LcsNode start = pop();
    if (start.bound >= cutoff && !task_.settings.log_proof) return open_.clear();
    LcsDive dive{.start = std::move(start), .cutoff = cutoff, .incumbent = incumbent};
    dive.round = dives_started_++ % kRoundEvery == 0;
    dives.push_back(std::move(dive));
  }
}

void LcsSearch::merge(LcsDive& dive, LcsMpcResult& result) {
  take(dive.candidate, result);
  result.nodes += dive.nodes;
  for (LcsLeaf& leaf : dive.leaves) result.proof.push_back(std::move(leaf));
  for (LcsNode& node : dive.open) push(std::move(node));
  heavy_ = heavy_ || dive.heavy;
  if (!dive.unproven) return;
  unproven_ = true;
  unproven_bound_ = std::min(unproven_bound_, dive.unproven_bound);
}

/// A candidate that costs less becomes the incumbent.
void LcsSearch::take(std::optional<LcsCandidate>& candidate, LcsMpcResult& result) {
  if (!candidate || (result.has_incumbent && candidate->certificate.cost >= result.cost)) return;
  result.has_incumbent = true;
  result.cost = candidate->certificate.cost;
  result.certificate = candidate->certificate;
  result.incumbent = std::move(candidate->trajectory);
}

void LcsSearch::push(LcsNode node) {
  node.number = nodes_numbered_++;
  open_.push_back(std::move(node));
  std::push_heap(open_.begin(), open_.end(), comes_later);
}

LcsNode LcsSearch::pop() {
  std::pop_heap(open_.begin(), open_.end(), comes_later);
  LcsNode node = std::move(open_.back());
  open_.pop_back();
  return node;
}

/// Costs far below the terms that cancel in them are zero.
double LcsSearch::find_least_cost() const {
  const LcsMpcProgram& program = *task_.program;
  double cost = program.x0.dot(program.Q * program.x0);
  for (int k = 0; k <= program.N; ++k) {
    const Eigen::VectorXd goal = program.x_goal.col(k);
    cost += goal.dot((k < program.N ? program.Q : program.Qf) * goal);
  }
  return std::max(kZeroCost * cost, kLeastGap / task_.settings.gap);
}

/// Of an entry of the root's intervals from a value.
double LcsSearch::largest_deviation(int place, double from) const {
  return std::max(std::abs(task_.root_intervals.lo[place] - from), std::abs(task_.root_intervals.hi[place] - from));
}

/// What violations of the soft bounds of (x_k)_i can cost within the root's intervals.
double LcsSearch::largest_payment(int k, int i) const {
  const LcsMpcProgram& program = *task_.program;
  if (!std::isfinite(program.x_price(i)) || program.x_price(i) == 0) return 0;
  const int place = task_.propagation.x(k, i);
  const double lower = program.x_min.size() > 0 ? program.x_min(i) : -kInfinity,
               upper = program.x_max.size() > 0 ? program.x_max(i) : kInfinity;
  const double below = std::isfinite(lower) ? lower - task_.root_intervals.lo[place] : 0.0,
               above = std::isfinite(upper) ? task_.root_intervals.hi[place] - upper : 0.0;
  return program.x_price(i) * std::max({below, above, 0.0});
}

/// No trajectory within the intervals costs more: relaxations above have no trajectory.
double LcsSearch::find_ceiling() const {
  const LcsMpcProgram& program = *task_.program;
  const LcsPropagation& layout = task_.propagation;
  const int nx = program.system.nx(), nu = program.system.nu(), N = program.N;
  double cost = 0;
  Eigen::VectorXd x(nx), u(nu);
  for (int k = 0; k <= N; ++k) {
    for (int i = 0; i < nx; ++i) x(i) = largest_deviation(layout.x(k, i), program.x_goal(i, k));
    cost += largest_form(k < N ? program.Q : program.Qf, x);
    for (int j = 0; j < nu && k < N; ++j) u(j) = largest_deviation(layout.u(k, j), 0);
    if (k < N) cost += largest_form(program.R, u);
    for (int i = 0; i < nx && k > 0 && program.x_price.size() > 0; ++i) cost += largest_payment(k, i);
  }
  return std::isfinite(cost) ? kCeiling * (cost + 1) : kInfinity;
}

void LcsSearch::find_bound(LcsMpcResult& result) const {
  double least = unproven_bound_;
  if (!open_.empty()) least = std::min(least, open_.front().bound);  // of the heap
  // Closed nodes were closed at bounds no lower than the cutoff.
  result.bound = result.has_incumbent ? std::max(0.0, std::min(least, task_.cutoff(result.cost))) : least;
  result.gap = result.has_incumbent
                   ? std::max(0.0, result.cost - result.bound) / std::max(result.cost, task_.least_cost)
                   : kInfinity;
  result.time_s = task_.clock.seconds();
}

/// @returns whether the search may go on.
bool LcsSearch::report(LcsMpcResult& result) const {
  find_bound(result);
  return task_.settings.watch(result);
}

void LcsSearch::finish(LcsMpcResult& result) const {
  find_bound(result);
  if (result.status == Status::kSolved && !result.has_incumbent)
    result.status = unproven_ ? Status::kNumericalFailure : Status::kInfeasible;
  if (result.status == Status::kSolved && unproven_bound_ < task_.cutoff(result.cost))
    result.status = Status::kNumericalFailure;
  for (const auto& diver : divers_) result.iterations += diver->iterations();
}

}  // namespace deft::solvers::lcs
