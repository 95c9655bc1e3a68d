#include "deft/planning/search/ensemble_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/core/index.hpp"
#include "deft/core/thread_pool.hpp"
#include "deft/planning/search/rollout_tree.hpp"

namespace deft::planning {
namespace {

constexpr double kPlanRegrasp_m = 0.05;          // what a regrasp counts in them [m]
constexpr double kPlanTries = 0.25;              // of plan.tries_weight, in them
constexpr double kNearer = 0.99;                 // a growth that comes no nearer than this share leaves no node
constexpr double kMedoidShare = 0.5;             // of the growths that plan for the world in the middle
constexpr double kWorse = 1.3, kWorse_m = 0.03;  // a leg that ends further off than that is the end of a growth
constexpr double kRootShare = 0.3;               // of the growths that begin at the root
constexpr double kNearestShare = 0.6;            // of the others at which regrasps do not count
constexpr double kPaces[] = {1, 1, 2.5};         // times that of the plan of one world, drawn

/// The way along `commands` from `from` in steps as long as `longest` (size nu) allows; it ends at the last of them.
std::vector<Eigen::VectorXd> paced(const Eigen::VectorXd& from, const std::vector<Eigen::VectorXd>& commands,
                                   const Eigen::VectorXd& longest) {
  std::vector<Eigen::VectorXd> way;
  Eigen::VectorXd at = from;
  double left = 1;  // of the step at hand
  for (const Eigen::VectorXd& corner : commands) {
    double steps = (corner - at).cwiseAbs().cwiseQuotient(longest).maxCoeff();
    for (; steps >= left; left = 1) {
      at += (corner - at) * (left / steps);
      steps -= left;
      way.push_back(at);
    }
    left -= steps;
    at = corner;
  }
  if (left < 1) way.push_back(at);
  return way;
}

}  // namespace

/// What a plan of one world became in all of them: its transits and roll-outs in turn.
struct EnsembleTree::Growth {
  struct Leg {
    bool transit = false;
    Motion motion;
  };
  std::vector<Leg> legs;
  bool holds_goal = false;
  GrowthEnd end = GrowthEnd::kGrew;  // without legs: what the tries of its plan mostly ended with

  /// All of it through a Packer or an Unpacker.
  template <typename Pass>
  void pass(Pass& through) {
    auto count = static_cast<std::uint32_t>(legs.size());
    auto number = static_cast<std::uint8_t>(end);
    through(holds_goal, number, count);
    end = static_cast<GrowthEnd>(number);
    legs.resize(count);
    for (Leg& leg : legs) {
      through(leg.transit);
      leg.motion.pass(through);
    }
  }
};

struct EnsembleTree::Worker : WorkerContext {
  using WorkerContext::WorkerContext;
  long single_solves = 0;  // of the plans of one world

  /// The states of all worlds, that at h first.
  std::vector<const Eigen::VectorXd*> states(const Instant& at) const {
    std::vector<const Eigen::VectorXd*> all{&at.q};
    for (const Eigen::VectorXd& q : at.q_worlds) all.push_back(&q);
    return all;
  }

  /// What the next plan is made for: a world, and where its objects are to go.
  struct Task {
    Eigen::VectorXd q;
    Goal aim;
  };
  /// Mostly the world in the middle, whose plan leads the middle of all worlds to the goal; with the middle there, or
  /// at times, one of the worlds that are not.
  Task choose_task(const Instant& at, const Goal& aim, RandomStream& draw) const {
    const std::vector<const Eigen::VectorXd*> all = states(at);
    Eigen::MatrixXd errors(goal->size(), static_cast<Eigen::Index>(all.size()));
    Eigen::VectorXd e;
    for (std::size_t i = 0; i < all.size(); ++i) {
      goal->residual(*all[i], at.q, e);
      errors.col(static_cast<Eigen::Index>(i)) = e;
    }
    const Eigen::VectorXd middle = (errors.rowwise().minCoeff() + errors.rowwise().maxCoeff()) / 2;
    Eigen::Index medoid = 0;
    (errors.colwise() - middle).colwise().squaredNorm().minCoeff(&medoid);
    // Where this world has to go so that the middle is at the goal.
    const Eigen::VectorXd& q = *all[to_size(static_cast<int>(medoid))];
    Goal shifted = aim.moved_by(middle - errors.col(medoid));
    std::vector<std::size_t> away;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!goal->reached(*all[i])) away.push_back(i);
    const bool is_middle = draw.chance(kMedoidShare);
    const std::size_t other = away.empty() ? 0 : away[to_size(draw.index(static_cast<int>(away.size())))];
    if (away.empty() || (is_middle && !shifted.reached(q))) return {q, std::move(shifted)};
    return {*all[other], aim};
  }

  /// Carries out commands in the worlds that decide; rests after a roll-out. @returns false if a step failed.
  bool carry_out(const std::vector<Eigen::VectorXd>& commands, bool is_transit, Motion& motion) {
    Instant next;
    for (const Eigen::VectorXd& u : commands) {
      if (!steps.advance(motion, u, next)) return false;
      std::swap(static_cast<Instant&>(motion), next);
      motion.commands.push_back(u);
    }
    return is_transit || steps.rest(motion);
  }

  /// The same in all worlds, unless those that lie furthest apart come to nothing: further off than `bound` [m].
  bool carry_out_in_all(const std::vector<Eigen::VectorXd>& commands, bool is_transit, double bound, Motion& motion) {
    const Instant start = motion;
    steps.choose_deciding(start, *goal);
    const bool worth = carry_out(commands, is_transit, motion) && rollout.distance(motion, goal->q()) <= bound;
    const bool done = worth && steps.catch_up(start, motion);
    steps.all_decide();
    return done && rollout.distance(motion, goal->q()) <= bound;
  }

  /// Leaves out what follows the leg that ends nearest to the goal; all, if none comes nearer than the node.
  void keep_to_nearest(double node_distance, Growth& growth) const {
    if (growth.holds_goal) return;
    double least = kNearer * node_distance;
    std::size_t kept = 0;
    for (std::size_t k = 0; k < growth.legs.size(); ++k) {
      const double distance = rollout.distance(growth.legs[k].motion, goal->q());
      // A transit alone is no place to go on from.
      if (growth.legs[k].transit || distance >= least) continue;
      least = distance;
      kept = k + 1;
    }
    growth.legs.resize(kept);
  }

  /// What the tries of a plan that came to nothing mostly ended with; stalled, if none did or it was found.
  static GrowthEnd end_of(const SearchTree& plan) {
    if (plan.goal_node() >= 0) return GrowthEnd::kStalled;
    const auto first = plan.ends().begin() + 1, last = plan.ends().end();  // after kGrew
    const auto most = std::max_element(first, last);
    return *most > 0 ? static_cast<GrowthEnd>(most - plan.ends().begin()) : GrowthEnd::kStalled;
  }

  /// A plan for one world, and what becomes of it in all.
  Growth grow(std::span<const SinglePlans> ways, const Node& node, bool goes_on, std::uint64_t seed, RandomStream draw,
              double cost_limit_s) {
    Growth growth;
    const Instant at = instant_of(node);
    const SinglePlans& plans = ways[to_size(draw.index(static_cast<int>(ways.size())))];
    const Task task = choose_task(at, plans.aim, draw);
    RolloutTree tree(plans.scene, task.aim, Instant{task.q, at.u, {}, {}}, seed, &plans.ensemble);
    if (!goes_on) tree.let_go_at_root();
    SearchLimits limits;
    limits.nodes = plans.nodes;
    limits.threads = 1;
    limits.time_limit_s = 1e9;
    limits.regrasp_weight = kPlanRegrasp_m;
    limits.tries = kPlanTries;
    limits.stop = [this] { return steps.is_over(); };
    limits.cost_limit_s = cost_limit_s - node.cost_s;
    tree.search(limits);
    single_solves += tree.solves();
    if (steps.is_over()) return growth;
    const int end = tree.goal_node() >= 0 ? tree.goal_node() : tree.best_node();
    steps.reset();
    Motion motion{at, {}};
    const double bound = kWorse * node.distance + kWorse_m;
    const double pace = kPaces[to_size(draw.index(static_cast<int>(std::size(kPaces))))];
    for (const int link : chain_to(tree.nodes(), end)) {
      const Node& step = tree.nodes()[to_size(link)];
      const bool is_transit = step.kind == NodeKind::kTransit;
      motion.commands.clear();
      const std::vector<Eigen::VectorXd> commands =
          is_transit || pace <= 1 ? step.commands : paced(motion.u, step.commands, pace * plans.ensemble.longest_step);
      if (!carry_out_in_all(commands, is_transit, bound, motion)) break;
      growth.legs.push_back({is_transit, motion});
      if (is_transit || !rollout.reached(motion)) continue;
      growth.holds_goal = rollout.holds(growth.legs.back().motion);
      if (growth.holds_goal) break;
    }
    keep_to_nearest(node.distance, growth);
    if (growth.legs.empty()) growth.end = end_of(tree);
    return growth;
  }
};

EnsembleTree::EnsembleTree(const scene::Scene& scene, const Goal& goal, const Instant& root, std::uint64_t seed,
                           const Ensemble& ensemble, std::span<const SinglePlans> plans)
    : scene_(&scene), goal_(&goal), plans_(plans), seed_(seed), shared_(scene, goal, deadline_, &ensemble) {
  add_root(root, goal.distance(root.q));
}

EnsembleTree::~EnsembleTree() = default;

int EnsembleTree::choose(const SearchLimits& limits, std::uint64_t item) const {
  const scene::PlanSettings& settings = scene_->settings().plan;
  const auto may_grow = [&](const Node& node) {
    return node.kind != NodeKind::kTransit && !node.rejected && !(node.cost_s >= limits.cost_limit_s) &&
           (node.parent >= 0 || first_ == 0);
  };
  RandomStream draw = choice_draw(seed_, item);
  if (draw.chance(kRootShare)) return first_;
  const double regrasp_weight = draw.chance(kNearestShare) ? 0 : limits.regrasp_weight;
  const auto score_of = [&](const Node& node) {
    return std::max(node.distance, goal_->tolerance_m()) * (1 + limits.tries * settings.tries_weight * node.tries) +
           regrasp_weight * node.regrasps;
  };
  return choose_node(draw, settings.greed, may_grow, score_of);
}

void EnsembleTree::append(int parent, Growth& growth, double time_s) {
  const double h = *scene_->settings().step.h;
  for (Growth::Leg& leg : growth.legs) {
    const double distance = workers_.front()->rollout.distance(leg.motion, goal_->q());
    const double duration_s = h * static_cast<double>(leg.motion.commands.size());
    parent = add_motion(parent, leg.transit ? NodeKind::kTransit : NodeKind::kRollout, leg.motion, distance, duration_s,
                        leg.transit ? scene_->settings().plan.regrasp_cost_s : 0);
    nodes_.back().time_s = time_s;
  }
  if (growth.holds_goal && nodes_.back().cost_s < cost_limit_s_) mark_goal(parent);
}

void EnsembleTree::settle() {
  if (nodes_.size() > 1) return;
  Worker& worker = *workers_.front();
  Motion motion{instant_of(nodes_.front()), {}};
  worker.steps.reset();
  if (!worker.steps.rest(motion) || motion.commands.empty()) return;
  const double distance = worker.rollout.distance(motion, goal_->q());
  const double duration_s = *scene_->settings().step.h * static_cast<double>(motion.commands.size());
  first_ = add_motion(0, NodeKind::kRollout, motion, distance, duration_s, 0);
}

SearchEnd EnsembleTree::search(const SearchLimits& limits) {
  cost_limit_s_ = limits.cost_limit_s;
  const int size = scene_->settings().plan.batch;
  const int threads = equip(limits.threads, *scene_, *goal_, shared_, workers_);
  settle();
  std::vector<int> parents(to_size(size));
  std::vector<char> goes_on(to_size(size));  // the first try at a node goes on with what the fingers hold
  std::vector<Growth> growths(to_size(size));
  const auto number_of = [this](int k) { return static_cast<std::uint64_t>(tried_ + k); };
  ThreadPool pool(threads, [&](int worker, int k) {
    const std::uint64_t number = number_of(k);
    const Node& parent = nodes_[to_size(parents[to_size(k)])];
    growths[to_size(k)] =
        workers_[to_size(worker)]->grow(plans_, parent, goes_on[to_size(k)] != 0, seed_of(seed_, number),
                                        growth_draw(seed_, number), limits.cost_limit_s);
  });
  BatchParts parts;
  parts.choose = [&](int count) {
    for (int k = 0; k < count; ++k) {
      parents[to_size(k)] = choose(limits, number_of(k));
      goes_on[to_size(k)] = nodes_[to_size(parents[to_size(k)])].tries == 0;
      // A try counts at once, so that the next choices of the batch see it.
      ++nodes_[to_size(parents[to_size(k)])].tries;
    }
  };
  parts.unchoose = [&](int count) {
    for (int k = 0; k < count; ++k) --nodes_[to_size(parents[to_size(k)])].tries;
  };
  parts.grow = [&](int count) { pool.run(count); };
  parts.append = [&](int k, double time_s) {
    Growth& growth = growths[to_size(k)];
    ++ends_[to_size(static_cast<int>(growth.end))];
    append(parents[to_size(k)], growth, time_s);
  };
  parts.pack = [&](int k, Packer& out) {
    out(parents[to_size(k)]);
    growths[to_size(k)].pass(out);
  };
  parts.unpack = [&](int k, Unpacker& in) {
    int parent = -1;
    in(parent);
    check_choice(parent, parents[to_size(k)]);
    growths[to_size(k)].pass(in);
  };
  return grow_in_batches(limits, size, parts);
}

void EnsembleTree::correct(const Plan& plan, const std::vector<Instant>& at) {
  place_nodes(plan, at, [&](Node& node, const Segment&) {
    node.distance = workers_.front()->rollout.distance(instant_of(node), goal_->q());
    // What met the goal in all these worlds, but not before all judges, stays rejected.
    node.holds_goal = false;
    node.rejected = node.rejected && workers_.front()->rollout.reached(instant_of(node));
  });
}

long EnsembleTree::solves_here() const {
  long sum = 0;
  for (const auto& worker : workers_) sum += worker->steps.solves() + worker->single_solves;
  return sum;
}

}  // namespace deft::planning
