#include "deft/planning/search/rollout_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "deft/core/index.hpp"
#include "deft/core/thread_pool.hpp"
#include "deft/planning/grasps/closure.hpp"
#include "deft/planning/grasps/grasp_renewal.hpp"

namespace deft::planning {
namespace {

// Of regrasps of objects that have a weight: the least share that presses on, of those the least share that pinches,
// and the force of each link, in weights.
constexpr double kPressShare = 0.5, kPinchShare = 0.5, kLeastPressure = 0.5, kMostPressure = 4;
constexpr double kSqueezeShare = 0.75, kSqueezePinchShare = 0.6;  // the same of objects without weight
constexpr double kLeastDepth = 5e-4, kMostDepth = 1e-2;           // [m], how far targets lie inside them
constexpr double kShiftShare = 0.5;      // of the roll-outs not to the goal: those that move what it leaves free
constexpr double kLongestShift_m = 0.1;  // [m], by as much per coordinate
constexpr double kRegraspShare = 0.01;   // of the distance at the start: what a regrasp must gain to be worth it
constexpr double kPace = 0.6;  // of the cost per distance that is allowed on the whole: nodes that would need less are
                               // left out

/// How a grasp is to hold the objects: `force_N` on each link, or targets `depth_m` inside them; both 0: it only
/// touches.
struct Pressure {
  bool presses = false, pinches = false;
  double force_N = 0, depth_m = 0;
};

/// A grasp of a plan and the roll-out after it.
struct Leg {
  const Segment* transit = nullptr;  // none: the plan begins with what its start holds
  int first = 0, last = 0;           // steps [first, last)
};

/// The legs of a plan after its step `from`, at which no transit is under way.
std::vector<Leg> legs_of(const Plan& plan, int from) {
  std::vector<Leg> legs;
  for (const Segment& segment : plan.segments) {
    if (segment.first < from) continue;
    if (segment.transit || legs.empty())
      legs.push_back({segment.transit ? &segment : nullptr, segment.first, segment.last});
    else
      legs.back().last = segment.last;
  }
  return legs;
}

/// The leg `next` and at most count − 1 later ones: those before which the objects of the plan lay nearest to q.
std::vector<int> fitting_legs(const Goal& goal, const Plan& plan, const std::vector<Leg>& legs, int next, int count,
                              const Eigen::VectorXd& q) {
  std::vector<std::pair<double, int>> later;
  for (int k = next + 1; k < static_cast<int>(legs.size()); ++k) {
    const auto first = to_size(legs[k].first);
    later.emplace_back(goal.distance(q, plan.q[first]), k);
  }
  std::sort(later.begin(), later.end());
  std::vector<int> fitting{next};
  for (const auto& [distance, leg] : later) {
    if (static_cast<int>(fitting.size()) < count) fitting.push_back(leg);
  }
  return fitting;
}

}  // namespace

/// What an expansion found: a transit, if it regrasped, and a roll-out.
struct RolloutTree::Growth {
  bool ok = false, regrasped = false, holds_goal = false;
  GrowthEnd end = GrowthEnd::kStalled;
  double released = -1;  // distance once the fingers have let go; negative: they have not
  double left = -1;      // the same of where the roll-out ended
  Motion transit, rollout;
  Eigen::VectorXd failed_q;  // where a try that came to nothing ended, or its grasp; no part of the journal

  /// All of it but failed_q through a Packer or an Unpacker.
  template <typename Pass>
  void pass(Pass& through) {
    auto number = static_cast<std::uint8_t>(end);
    through(ok, regrasped, holds_goal, number, released, left);
    end = static_cast<GrowthEnd>(number);
    transit.pass(through);
    rollout.pass(through);
  }
};

struct RolloutTree::Worker : WorkerContext {
  Worker(const scene::Scene& scene, const Goal& its_goal, const SearchContext& its_shared)
      : WorkerContext(scene, its_goal, its_shared) {
    if (!steps.ensemble().presses) return;
    whole_goal = goal->with_positions(scene);
    if (whole_goal) shift.emplace(*whole_goal, shared->hand, steps);
  }

  std::optional<Goal> whole_goal;      // with the positions that the goal leaves free, if there are any
  std::optional<GreedyRollout> shift;  // a roll-out to them
  scene::SceneState lying = steps.scene().make_state();  // scratch of lift_share

  /// A pose between the node's and the goal's, every entry at its own share of the way.
  Eigen::VectorXd draw_target(const Eigen::VectorXd& q, RandomStream& draw) const {
    const multibody::Model& model = steps.scene().model();
    Eigen::VectorXd way = model.difference(q, goal->q());
    goal->shorten_way(way);
    for (const int row : goal->rows()) way(row) *= draw.uniform();
    Eigen::VectorXd q_target;
    model.integrate(q, way, q_target);
    return q_target;
  }

  /// The pose of a node with what the goal leaves free somewhere else.
  Eigen::VectorXd draw_shifted(const Eigen::VectorXd& q, RandomStream& draw) const {
    const multibody::Model& model = steps.scene().model();
    Eigen::VectorXd way = Eigen::VectorXd::Zero(model.nv());
    for (int i = goal->size(); i < whole_goal->size(); ++i)
      way(whole_goal->rows()[to_size(i)]) = draw.uniform(-kLongestShift_m, kLongestShift_m);
    Eigen::VectorXd q_target;
    model.integrate(q, way, q_target);
    return q_target;
  }

  /// The part of the way to a target that leads up: work against gravity per weight and metre of distance, 0 to 1.
  double lift_share(const Eigen::VectorXd& q, const Eigen::VectorXd& q_target) {
    const scene::Scene& scene = steps.scene();
    Eigen::VectorXd gravity;
    scene.update(q, lying);
    scene.model().gravity_force(lying.kinematics, scene.spec().gravity_W, gravity);
    const Eigen::VectorXd way = scene.model().difference(q, q_target);
    double work = 0;
    for (const int row : goal->rows()) work -= gravity(row) * way(row);
    const double height = work / shared->hand.weight_N;
    return height > 0 ? height / std::max(height, goal->distance(q, q_target)) : 0;
  }

  /// How the next grasp presses on objects without weight.
  static Pressure draw_depth(RandomStream& draw) {
    Pressure pressure;
    pressure.presses = draw.chance(kSqueezeShare);
    if (!pressure.presses) return {};
    pressure.pinches = draw.chance(kSqueezePinchShare);
    pressure.depth_m = kLeastDepth * std::pow(kMostDepth / kLeastDepth, draw.uniform());
    return pressure;
  }

  /// Whether the next grasp presses: only on objects that have a weight, and the more often the more of the way leads
  /// up.
  Pressure draw_pressure(const Eigen::VectorXd& q, const Eigen::VectorXd& q_target, RandomStream& draw) {
    const double weight_N = shared->hand.weight_N;
    if (!(weight_N > 0)) return steps.ensemble().presses ? draw_depth(draw) : Pressure{};
    const double lift = lift_share(q, q_target);
    Pressure pressure;
    pressure.presses = draw.chance(std::max(kPressShare, lift));
    if (!pressure.presses) return {};
    pressure.pinches = draw.chance(std::max(kPinchShare, lift));
    pressure.force_N = weight_N * draw.uniform(kLeastPressure, kMostPressure);
    return pressure;
  }

  /// How near the first step after a grasp comes to the target, the fingers being there already [m].
  double first_step(const Motion& motion, const Grasp& grasp, const Eigen::VectorXd& q_target) {
    Motion there{{motion.q, grasp.joints, motion.q_worlds, motion.v_worlds}, {}};
    set_joint_positions(steps.scene(), grasp.joints, there.q);
    for (Eigen::VectorXd& q : there.q_worlds) set_joint_positions(steps.scene(), grasp.joints, q);
    return rollout.first_step(there, q_target);
  }

  /// What a grasp resists with less friction; grasps without force closure by what they resist in some directions.
  double resistance(const Motion& motion, const Grasp& grasp) {
    constexpr double kFriction = 0.8, kReach = 2, kMeanShare = 1e-3;
    Eigen::VectorXd q = motion.q;
    set_joint_positions(steps.scene(), grasp.joints, q);
    const Closure closure = closure_at(steps.scene(), shared->hand, q, kFriction,
                                       kReach * steps.scene().settings().plan.standoff_m, proximity);
    return closure.least + kMeanShare * closure.mean;
  }

  /// Of some sampled grasps the one whose first step comes nearest to the target; of those that press the one that
  /// resists most, for a step without load does not show what they are worth.
  std::optional<Grasp> choose_grasp(const Motion& motion, const std::vector<int>& fingers, const Pressure& pressure,
                                    const Eigen::VectorXd& q_target, RandomStream& draw) {
    const scene::PlanSettings& settings = steps.scene().settings().plan;
    std::optional<Grasp> best;
    double least = std::numeric_limits<double>::infinity();
    const std::vector<char> moves = choose_moves(motion.q, fingers, draw);
    const int candidates = pressure.presses ? settings.closure_candidates : settings.candidates;
    for (int k = 0; k < candidates && !steps.is_over(); ++k) {
      std::optional<Grasp> grasp = sample(motion.q, fingers, moves, draw, pressure.pinches);
      if (!grasp) break;  // not with all attempts: these fingers do not reach the objects from here
      const double rank = candidates == 1    ? 0
                          : pressure.presses ? -resistance(motion, *grasp)
                                             : first_step(motion, *grasp, q_target);
      if (best && rank >= least) continue;
      least = rank;
      best = std::move(grasp);
    }
    return best;
  }

  /// Lets go and takes hold somewhere else.
  bool regrasp(const Eigen::VectorXd& q_target, RandomStream& draw, Motion& motion, Growth& growth) {
    const std::vector<int> fingers = choose_fingers(draw);
    const Pressure pressure = draw_pressure(motion.q, q_target, draw);
    growth.end = GrowthEnd::kNotReleased;
    if (!transit.release(shared->hand.commands_of(fingers), motion)) return false;
    growth.released = rollout.distance(motion, goal->q());
    const std::optional<Grasp> grasp = choose_grasp(motion, fingers, pressure, q_target, draw);
    growth.end = GrowthEnd::kNoGrasp;
    growth.failed_q = motion.q;
    if (!grasp) return false;
    set_joint_positions(steps.scene(), grasp->joints, growth.failed_q);
    const bool there = transit.reach(*grasp, draw, motion);
    growth.end = transit.end() == Transit::End::kDrifted ? GrowthEnd::kDrifted : GrowthEnd::kBlocked;
    if (!there) return false;
    growth.end = GrowthEnd::kNotPressed;
    if (!pressure.presses) return true;
    return pressure.depth_m > 0 ? transit.squeeze(grasp->moves, pressure.depth_m, motion)
                                : transit.press(grasp->moves, pressure.force_N, motion);
  }

  /// The goal that is reached, but not held by these fingers, may be held without them.
  bool let_go(Motion& motion) {
    Motion away = motion;
    const bool holds = transit.release(shared->hand.commands_of(shared->hand.all_fingers()), away) &&
                       rollout.reached(away) && rollout.holds(away);
    if (holds) motion = std::move(away);
    return holds;
  }

  /// The grasp to which a transit of the plan leads.
  Grasp grasp_after(const Segment& plan_transit, const Plan& plan) const {
    const Eigen::VectorXd& q_after = plan.q[to_size(plan_transit.last)];
    return {joint_positions(steps.scene(), q_after), moved_commands(plan, plan_transit)};
  }

  /// The grasp of a leg, and a roll-out from there to where the objects were at its end, or to the goal if it is last.
  Growth retrace(const Node& node, const Plan& plan, const Leg& leg, RandomStream draw) {
    steps.reset();
    Growth growth;
    Motion motion{instant_of(node), {}};
    if (leg.transit != nullptr) {
      Grasp grasp = grasp_after(*leg.transit, plan);
      growth.regrasped = true;
      if (!transit.release(grasp.moves, motion)) return growth;
      grasp.moves = moves_once_released(steps.scene(), shared->hand, grasp, motion.q, proximity);
      if (!transit.reach(grasp, draw, motion)) return growth;
      growth.transit = motion;
      motion.commands.clear();
    }
    const bool is_last = leg.last == static_cast<int>(plan.commands.size());
    roll_out(rollout, is_last ? goal->q() : plan.q[leg.last], motion, growth);
    return growth;
  }

  /// The roll-out of a growth, and what is left of the pose where it ends once all fingers have let go.
  void roll_out(GreedyRollout& by, const Eigen::VectorXd& q_target, Motion& motion, Growth& growth) {
    growth.end = GrowthEnd::kStalled;
    const RolloutReport report = by.run(q_target, motion);
    growth.failed_q = motion.q;
    if (report.moved && !report.holds_goal && steps.has_second_order() && !steps.rest(motion)) return;
    growth.holds_goal = report.holds_goal || (rollout.reached(motion) && let_go(motion));
    growth.ok = report.moved || growth.holds_goal;
    if (growth.ok && !growth.holds_goal && shared->hand.weight_N > 0) {
      Motion away = motion;
      if (transit.release(shared->hand.commands_of(shared->hand.all_fingers()), away))
        growth.left = rollout.distance(away, goal->q());
    }
    growth.rollout = std::move(motion);
  }

  /// A regrasp at the node, unless it goes on with what is held, and a roll-out towards the goal or a random pose.
  Growth grow(const Node& node, bool regrasps, RandomStream draw) {
    steps.reset();
    steps.choose_deciding(instant_of(node), *goal);
    Growth growth = grow_deciding(node, regrasps, draw);
    if (growth.ok) catch_up(node, growth);
    steps.all_decide();
    return growth;
  }

  /// The same in the worlds that decide.
  Growth grow_deciding(const Node& node, bool regrasps, RandomStream& draw) {
    const scene::PlanSettings& settings = steps.scene().settings().plan;
    Growth growth;
    Motion motion{instant_of(node), {}};
    const bool to_goal = draw.chance(settings.goal_bias);
    const bool shifts = !to_goal && shift && draw.chance(kShiftShare);
    const Eigen::VectorXd q_target = to_goal  ? goal->q()
                                     : shifts ? draw_shifted(node.q, draw)
                                              : draw_target(node.q, draw);
    if (regrasps) {
      growth.regrasped = true;
      if (!regrasp(q_target, draw, motion, growth)) return growth;
      growth.transit = motion;
      motion.commands.clear();
    }
    roll_out(shifts ? *shift : rollout, q_target, motion, growth);
    return growth;
  }

  /// Brings the worlds that did not decide through a growth; the goal must hold in them too.
  void catch_up(const Node& node, Growth& growth) {
    if (std::count(steps.deciding().begin(), steps.deciding().end(), char{0}) == 0) return;
    const Instant start = instant_of(node);
    if (growth.regrasped) growth.ok = steps.catch_up(start, growth.transit);
    growth.ok = growth.ok && steps.catch_up(growth.regrasped ? growth.transit : start, growth.rollout);
    steps.all_decide();
    growth.holds_goal = growth.ok && growth.holds_goal && rollout.reached(growth.rollout);
  }
};

/// Nodes that are grown together.
struct RolloutTree::Batch {
  explicit Batch(int size) : parents(to_size(size)), added(to_size(size)), growths(to_size(size)) {}
  std::vector<int> parents, added;  // added: the node that came of it, −1 if none did
  std::vector<Growth> growths;
};

RolloutTree::RolloutTree(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q,
                         const Eigen::VectorXd& u, std::uint64_t seed)
    : RolloutTree(scene, goal, start_instant(halved_ensemble(scene), q, u), seed) {}

RolloutTree::RolloutTree(const scene::Scene& scene, const Goal& goal, const Instant& root, std::uint64_t seed,
                         const Ensemble* ensemble)
    : scene_(&scene), goal_(&goal), seed_(seed), shared_(scene, goal, deadline_, ensemble) {
  add_root(root, goal.distance(root.q));
  nodes_.front().goes_on = 0;
}

RolloutTree::~RolloutTree() = default;

/// The node to grow from: mostly the one of least distance, tries and regrasps counted; at times any.
int RolloutTree::choose(const SearchLimits& limits, std::uint64_t item) const {
  const scene::PlanSettings& settings = scene_->settings().plan;
  const double regrasp_weight = limits.regrasp_weight + kRegraspShare * nodes_.front().distance;
  const bool limited = limits.cost_limit_s < SearchLimits{}.cost_limit_s && nodes_.front().distance > 0;
  const double pace_s = limited ? kPace * limits.cost_limit_s / nodes_.front().distance : 0;
  const auto may_grow = [&](const Node& node) {
    return node.kind != NodeKind::kTransit && !node.rejected &&
           !(node.cost_s + pace_s * node.distance >= limits.cost_limit_s);
  };
  const auto score_of = [&](const Node& node) {
    // Under gravity a pose is worth what is left of it when fingers let go. A goal that is not held is no nearer than
    // its tolerance.
    const double distance = std::max({node.distance, node.released, goal_->tolerance_m()});
    return distance * (1 + limits.tries * settings.tries_weight * node.tries) + regrasp_weight * node.regrasps;
  };
  return choose_node(choice_draw(seed_, item), settings.greed, may_grow, score_of);
}

/// @returns the last node.
int RolloutTree::append(int parent, Growth& growth, double time_s) {
  const double h = *scene_->settings().step.h;
  const scene::PlanSettings& settings = scene_->settings().plan;
  const auto add_node = [&](NodeKind kind, Motion& motion, double price_s) {
    const double distance = workers_.front()->rollout.distance(motion, goal_->q());
    parent = add_motion(parent, kind, motion, distance, h * static_cast<double>(motion.commands.size()), price_s);
    nodes_.back().time_s = time_s;
  };
  if (growth.regrasped) add_node(NodeKind::kTransit, growth.transit, settings.regrasp_cost_s);
  add_node(NodeKind::kRollout, growth.rollout, 0);
  nodes_.back().released = growth.left;
  // A way to the goal that costs more than what is known is none.
  if (growth.holds_goal && nodes_.back().cost_s < cost_limit_s_) mark_goal(parent);
  return parent;
}

/// What every batch of growths goes through; `choose` says how to come to the parents, `grow` to the growths.
SearchTree::BatchParts RolloutTree::parts_of(Batch& batch, std::function<void(int)> choose,
                                             std::function<void(int)> grow) {
  BatchParts parts;
  parts.choose = std::move(choose);
  parts.grow = std::move(grow);
  const auto parent_of = [this, &batch](int k) -> Node& { return nodes_[batch.parents[k]]; };
  parts.unchoose = [parent_of](int count) {
    for (int k = 0; k < count; ++k) --parent_of(k).tries;
  };
  parts.append = [this, &batch, parent_of](int k, double time_s) {
    const auto at = to_size(k);
    Growth& growth = batch.growths[at];
    Node& parent = parent_of(k);
    if (growth.released >= 0)
      parent.released = parent.released < 0 ? growth.released : std::min(parent.released, growth.released);
    ++ends_[to_size(static_cast<int>(growth.ok ? GrowthEnd::kGrew : growth.end))];
    if (!growth.ok && growth.failed_q.size() > 0 &&
        std::count_if(failed_.begin(), failed_.end(), [&](const FailedTry& f) { return f.end == growth.end; }) <
            kFailedTries)
      failed_.push_back({growth.end, std::move(growth.failed_q)});
    batch.added[at] = growth.ok ? append(batch.parents[at], growth, time_s) : -1;
  };
  parts.pack = [&batch](int k, Packer& out) {
    out(batch.parents[k]);
    batch.growths[k].pass(out);
  };
  parts.unpack = [this, &batch](int k, Unpacker& in) {
    int parent = -1;
    in(parent);
    check_choice(parent, batch.parents[k]);
    batch.growths[k].pass(in);
  };
  return parts;
}

void RolloutTree::retrace(const Plan& plan, int from, const SearchLimits& limits) {
  const int size = scene_->settings().plan.batch;
  const int threads = equip(limits.threads, *scene_, *goal_, shared_, workers_);
  cost_limit_s_ = limits.cost_limit_s;
  RunClock own;
  SearchLimits bounds = limits;
  if (bounds.clock == nullptr) bounds.clock = &own;
  const double until_s = bounds.clock->seconds() + limits.time_limit_s;

  const std::vector<Leg> legs = legs_of(plan, from);
  Batch batch(size);
  std::vector<int> chosen;
  int at = 0;
  ThreadPool pool(threads, [&](int worker, int k) {
    const auto item = to_size(k);
    batch.growths[item] = workers_[worker]->retrace(nodes_[at], plan, legs[chosen[item]],
                                                    growth_draw(seed_, static_cast<std::uint64_t>(tried_ + k)));
  });
  const auto choose_batch = [&](int count) {
    std::fill(batch.parents.begin(), batch.parents.end(), at);
    nodes_[at].tries += count;
  };
  const BatchParts parts = parts_of(batch, choose_batch, [&](int count) { pool.run(count); });
  for (int next = 0; next < static_cast<int>(legs.size());) {
    const Node& node = nodes_[at];
    if (goal_node_ >= 0 || node.cost_s >= limits.cost_limit_s || tried_ >= limits.nodes) return;
    chosen = fitting_legs(*goal_, plan, legs, next, size, node.q);
    bounds.nodes = static_cast<int>(chosen.size());
    bounds.time_limit_s = until_s - bounds.clock->seconds();
    const SearchEnd end = grow_in_batches(bounds, bounds.nodes, parts);
    if (end == SearchEnd::kTime || end == SearchEnd::kStopped) return;
    // The way goes on from the best of the new nodes, or else from here without the next leg.
    double least = std::numeric_limits<double>::infinity();
    ++next;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      if (batch.added[k] < 0) continue;
      const double score = nodes_[batch.added[k]].distance +
                           limits.regrasp_weight * static_cast<double>(legs.size() - to_size(chosen[k]));
      if (score >= least) continue;
      least = score;
      at = batch.added[k];
      next = chosen[k] + 1;
    }
  }
}

void RolloutTree::correct(const Plan& plan, const std::vector<Instant>& at) {
  place_nodes(plan, at, [&](Node& node, const Segment& segment) {
    node.distance = workers_.front()->rollout.distance(instant_of(node), goal_->q());
    node.holds_goal = node.rejected = false;
    if (segment.last == static_cast<int>(plan.commands.size())) node.goes_on = node.tries;
  });
}

SearchEnd RolloutTree::search(const SearchLimits& limits) {
  cost_limit_s_ = limits.cost_limit_s;
  const int size = scene_->settings().plan.batch;
  const int threads = equip(limits.threads, *scene_, *goal_, shared_, workers_);
  Batch batch(size);
  std::vector<char> regrasps(size);
  const auto number_of = [this](int k) { return static_cast<std::uint64_t>(tried_ + k); };
  ThreadPool pool(threads, [&](int worker, int k) {
    const auto at = to_size(k);
    batch.growths[at] =
        workers_[worker]->grow(nodes_[batch.parents[at]], regrasps[at], growth_draw(seed_, number_of(k)));
  });
  const auto choose_batch = [&](int count) {
    for (int k = 0; k < count; ++k) {
      batch.parents[k] = choose(limits, number_of(k));
      Node& node = nodes_[batch.parents[k]];
      regrasps[k] = node.tries != node.goes_on;
      // A try counts at once, so that the next choices of the batch see it.
      ++node.tries;
    }
  };
  return grow_in_batches(limits, size, parts_of(batch, choose_batch, [&](int count) { pool.run(count); }));
}

long RolloutTree::solves_here() const {
  long sum = 0;
  for (const auto& worker : workers_) sum += worker->steps.solves();
  return sum;
}

}  // namespace deft::planning
