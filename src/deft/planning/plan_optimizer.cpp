#include "deft/planning/plan_optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "deft/core/index.hpp"
#include "deft/core/log.hpp"
#include "deft/planning/ensemble.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/joint_limits.hpp"
#include "deft/planning/grasps/grasp_renewal.hpp"
#include "deft/planning/grasps/transit.hpp"
#include "deft/planning/route.hpp"
#include "deft/planning/search/greedy_rollout.hpp"
#include "deft/planning/trajectory/segment_optimizer.hpp"

namespace deft::planning {
namespace {

using Eigen::VectorXd;

constexpr double kUnloadedSpring = 1e-3;  // [rad, m]: a spring stretched less bears no load
constexpr double kMetShare = 0.9;         // of the goal's tolerances, that all worlds of an ensemble meet before judges
constexpr double kNearerShare = 0.97;     // a segment must bring the distance below so much of what it was
constexpr double kMuchNearer = 0.6;       // below so much no other grasp is tried
constexpr int kTriedGrasps = 3;           // at a place, each time
constexpr int kRefusalsOfPass = 2;        // plans that judges refuse: the next pass is made with the worlds that did
constexpr double kTryWeight = 0.2;        // how much a try makes a place less promising
constexpr double kFar = 5;                // tolerances from the goal: segments are optimised with less care
constexpr int kFarIterations = 3;
constexpr double kDrift = 3;  // of plan.drift_m: what motions to a grasp may move; what counts is where its roll-out
                              // ends
constexpr double kPinches = 0.6;  // of grasps that are sampled because the plan's is out of reach
// Objects without weight: how often grasps press on them, and how far targets then lie inside them [m].
constexpr double kSqueezes = 0.75, kLeastDepth_m = 5e-4, kMostDepth_m = 1e-2;
constexpr double kConeShares[] = {1.0, 0.7, 1.4};  // of optimize.cone_share, pass by pass

/// A roll-out of a plan and the transit before it.
struct PlanLeg {
  std::optional<Segment> transit;
  Segment rollout;
};

/// Those whose steps were all simulated.
std::vector<PlanLeg> legs_in(const Plan& plan) {
  std::vector<PlanLeg> legs;
  std::optional<Segment> transit;
  for (const Segment& segment : plan.segments) {
    if (to_size(segment.last) >= plan.q.size()) break;
    if (segment.transit) {
      if (transit)
        transit->last = segment.last;
      else
        transit = segment;
      continue;
    }
    legs.push_back({transit, segment});
    transit.reset();
  }
  return legs;
}

/// The worlds of an optimisation: the shortest step of the judges, and drawn corners, or the second-order step where
/// there are none.
Ensemble optimizer_ensemble(const scene::Scene& scene, std::uint64_t seed, std::span<const World> refusing) {
  const scene::OptimizeSettings& settings = scene.settings().optimize;
  Ensemble ensemble = search_ensemble(scene, seed, refusing);
  const std::vector<int> divisors = divisors_of(judges_of(scene.settings().plan));
  const std::size_t second_order = divisors.size(), corners = ensemble.worlds.size() - second_order - 1;
  const std::size_t taken = std::min(corners, to_size(settings.corners));
  // Of steps h/n the shortest is furthest from h; of the corners the last are those that refused a plan.
  std::vector<World> worlds;
  if (!divisors.empty())
    worlds.push_back(ensemble.worlds[to_size(std::max_element(divisors.begin(), divisors.end()) - divisors.begin())]);
  if (taken == 0) worlds.push_back(ensemble.worlds[second_order]);
  worlds.insert(worlds.end(), ensemble.worlds.end() - static_cast<std::ptrdiff_t>(taken), ensemble.worlds.end());
  ensemble.worlds = std::move(worlds);
  ensemble.longest_step = settings.speed_share * *scene.settings().step.h * joint_speeds(scene).touching;
  ensemble.spread_weight = settings.spread_weight;
  ensemble.deciding = static_cast<int>(ensemble.worlds.size());
  return ensemble;
}

/// What a pass over the plan has done up to a place.
struct Pass {
  Motion motion;                   // its commands are those of the piece at hand
  std::vector<VectorXd> commands;  // of all
  std::vector<Segment> segments;   // of all
  double distance = 0;             // of the motion's end in all worlds [m]
};

/// Where a pass may go on from.
struct Place {
  Pass pass;
  int segments = 0;      // that led there
  int tries = 0;         // segments begun there
  bool refused = false;  // it met the goal, but not before all judges
};

class OptimizerRun {
 public:
  OptimizerRun(const scene::Scene& scene, const scene::GoalSpec& goal, const Plan& plan,
               const PlanOptimizerOptions& options)
      : scene_(planning_scene(scene).with([](scene::SceneSettings& settings) {
          settings.plan.judges = judges_of(settings.plan);
          settings.plan.refine.clear();
          settings.plan.drift_m *= kDrift;
        })),
        settings_(scene_.settings().optimize),
        goal_(scene_, goal, scene_.settings().plan.wrap_angles),
        met_(scene_, scaled_tolerances(goal, kMetShare), scene_.settings().plan.wrap_angles),
        plan_(plan),
        options_(options),
        hand_(scene_, goal_),
        legs_(legs_in(plan)),
        judges_(scene_, goal_, options.seed, options.threads) {
    deadline_.set(clock_, std::min(settings_.time_limit_s, options_.time_limit_s), options_.stop);
    end_.set(clock_, options_.time_limit_s, options_.stop);
  }

  PlanOptimizerResult operator()() {
    require_judges(scene_);
    given_ = result_.plan = check({plan_.commands, plan_.segments});
    result_.before = judge(result_.plan, end_);
    result_.held_before = result_.plan.holds();
    result_.cost_before = result_.cost = cost_in(optimizer_ensemble(scene_, options_.seed, {}), plan_.commands);
    std::uint64_t number = 0;
    holds_ = result_.held_before;
    while (!holds_ && !legs_.empty() && !deadline_.due()) improve(number++);
    if (result_.plan.verdicts.empty()) judge(result_.plan, end_);
    result_.holds = result_.plan.holds();
    chain_nodes();
    result_.time_s = clock_.seconds();
    return std::move(result_);
  }

 private:
  Plan check(Route route) const {
    return check_route(scene_, goal_, nullptr, plan_.q.front(), std::move(route), plan_.u_start).plan;
  }

  std::vector<Verdict> judge(Plan& plan, const Deadline& deadline) {
    plan.verdicts = judges_(plan.q.front(), plan.u_start, plan.commands, &deadline);
    log_verdicts(plan.verdicts);
    return plan.verdicts;
  }

  /// What commands from the start cost in the worlds of a pass; infinity where a step fails.
  double cost_in(const Ensemble& ensemble, const std::vector<VectorXd>& commands) {
    PlanningSteps steps(scene_, &end_, &ensemble);
    const GreedyRollout rollout(goal_, hand_, steps);
    const std::vector<Instant> at = steps.simulate(start_instant(ensemble, plan_.q.front(), plan_.u_start), commands);
    result_.solves += steps.solves();
    if (at.size() != commands.size() + 1) return std::numeric_limits<double>::infinity();
    return cost_of(rollout.distance(at.back(), goal_.q()));
  }

  /// Costs of the best and of the given plan where worlds that refused a plan have joined: only what is measured in the
  /// same worlds is compared, and in these the given plan may be the better one again.
  void measure_again(const Ensemble& ensemble) {
    if (judges_.refusing().size() == known_refusing_) return;
    known_refusing_ = judges_.refusing().size();
    result_.cost_before = cost_in(ensemble, plan_.commands);
    result_.cost = cost_in(ensemble, result_.plan.commands);
    if (result_.cost <= result_.cost_before || (result_.plan.success && !given_.success)) return;
    result_.cost = result_.cost_before;
    result_.plan = given_;
    result_.plan.verdicts = result_.before;
  }

  double cost_of(double distance) const {
    const double share = distance / goal_.tolerance_m();
    return share * share;
  }

  /// What a pass works with.
  struct Tools {
    Tools(const OptimizerRun& run, const Ensemble& its_ensemble, const Ensemble& its_single, std::uint64_t number)
        : steps(run.scene_, &run.deadline_, &its_ensemble),
          single(run.scene_, &run.deadline_, &its_single),
          proximity(run.scene_),
          sampler(run.scene_, run.hand_),
          transit(run.hand_, steps, proximity),
          rollout(run.met_, run.hand_, steps),
          greedy(run.met_, run.hand_, single),
          segments(run.goal_, run.hand_, steps, run.options_.threads),
          draw(run.options_.seed, number) {}
    PlanningSteps steps, single;
    Proximity proximity;
    ContactSampler sampler;
    Transit transit;
    GreedyRollout rollout, greedy;
    SegmentOptimizer segments;
    RandomStream draw;
  };

  /// One pass: the grasps of the plan in turn, and others of its grasps where these come no nearer.
  void improve(std::uint64_t number) {
    const Ensemble ensemble = optimizer_ensemble(scene_, options_.seed, judges_.refusing());
    measure_again(ensemble);
    Ensemble single = single_ensemble(scene_);
    scene::OptimizeSettings settings = settings_;
    settings.cone_share = std::min(0.9, settings.cone_share * kConeShares[number % std::size(kConeShares)]);
    single.cone_share = settings.cone_share;
    single.longest_step = ensemble.longest_step;
    Tools tools(*this, ensemble, single, number);
    Pass start;
    start.motion = {start_instant(ensemble, plan_.q.front(), plan_.u_start), {}};
    start.distance = tools.rollout.distance(start.motion, goal_.q());
    places_ = {Place{std::move(start)}};
    OptimizerPass row{.cost = std::numeric_limits<double>::infinity(), .cone_share = settings.cone_share};
    int refusals = 0;
    for (int in_vain = 0; in_vain < settings.patience && refusals < kRefusalsOfPass && !deadline_.due();) {
      const std::size_t from = choose_place();
      Pass pass = places_[from].pass;
      const int turn = places_[from].segments;
      ++places_[from].tries;
      ++in_vain;
      if (!go_nearer(tools, settings, turn + places_[from].tries - 1, pass)) continue;
      if (deadline_.due()) break;
      in_vain = 0;
      report(row, pass);
      const bool done = tools.rollout.reached(pass.motion);
      places_.push_back({pass, turn + 1, 0, false});
      row.cost = std::min(row.cost, cost_of(pass.distance));
      if (!done && !(cost_of(pass.distance) < result_.cost)) continue;
      finish(tools, done, pass, row);
      if (row.holds) break;
      places_.back().refused = done;
      refusals += done;
    }
    result_.solves += tools.steps.solves() + tools.single.solves() + tools.segments.solves();
    row.time_s = clock_.seconds();
    result_.passes.push_back(row);
  }

  /// The place to go on from: that of least distance, tries counted.
  std::size_t choose_place() const {
    const auto score = [&](const Place& place) {
      return place.refused ? std::numeric_limits<double>::infinity()
                           : std::max(place.pass.distance, goal_.tolerance_m()) * (1 + kTryWeight * place.tries);
    };
    std::size_t best = 0;
    for (std::size_t k = 1; k < places_.size(); ++k)
      if (score(places_[k]) < score(places_[best])) best = k;
    return best;
  }

  /// A grasp that was taken, and the commands with which its roll-out begins.
  struct Begun {
    Pass pass;
    std::vector<std::vector<VectorXd>> starts;
    double distance = std::numeric_limits<double>::infinity();  // where these lead in all worlds [m]
  };

  /// The legs to try next: that whose turn it is, and those before which the objects of the plan lay nearest.
  std::vector<std::size_t> fitting(int turn, const VectorXd& q) const {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t k = 0; k < legs_.size(); ++k) {
      if (!legs_[k].transit && turn > 0) continue;
      const double distance = goal_.distance(q, plan_.q[to_size(legs_[k].rollout.first)]);
      order.emplace_back(static_cast<int>(k) == turn ? -1 : distance, k);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::size_t> legs;
    for (const auto& [distance, leg] : order) legs.push_back(leg);
    return legs;
  }

  /// Of some grasps the one whose roll-out leads nearest to the goal, optimised. @returns false if none comes nearer.
  bool go_nearer(Tools& tools, const scene::OptimizeSettings& settings, int turn, Pass& pass) {
    std::optional<Begun> best;
    int tried = 0;
    for (const std::size_t leg : fitting(turn % static_cast<int>(legs_.size()), pass.motion.q)) {
      if (deadline_.due()) return false;
      std::optional<Begun> begun = begin_leg(tools, legs_[leg], pass);
      if (!begun) continue;
      const double distance = begun->distance;
      if (!best || distance < best->distance) best = std::move(begun);
      if (distance < kMuchNearer * pass.distance || ++tried >= kTriedGrasps) break;
    }
    scene::OptimizeSettings own = settings;
    if (best && best->distance > kFar * goal_.tolerance_m()) own.iterations = std::min(own.iterations, kFarIterations);
    if (!best || !roll_out(tools, own, *best)) return false;
    if (!(best->pass.distance < kNearerShare * pass.distance)) return false;
    pass = std::move(best->pass);
    return true;
  }

  /// Takes the grasp of a leg and finds a roll-out to begin with. @returns none if the grasp is not reached.
  std::optional<Begun> begin_leg(Tools& tools, const PlanLeg& leg, const Pass& pass) {
    Begun begun{pass, {}, std::numeric_limits<double>::infinity()};
    if (leg.transit && !regrasp(tools, *leg.transit, begun.pass)) return std::nullopt;
    Motion greedy{Instant{begun.pass.motion.q, begun.pass.motion.u, {}, {}}, {}};
    tools.single.reset();
    tools.greedy.run(goal_.q(), greedy);
    begun.starts.push_back(choose_knots(greedy.commands, begun.pass.motion.u, settings_.knots));
    if (begun.starts.back().empty()) return std::nullopt;
    begun.starts.push_back(knots_of(leg.rollout, begun.pass.motion.u));
    SegmentMotion motion;
    const SegmentProblem problem{begun.pass.motion, goal_.q(), settings_};
    if (tools.segments.roll_out(problem, begun.starts.front(), motion)) begun.distance = motion.distance;
    return begun;
  }

  /// The knots of a roll-out of the plan, moved to begin with the command u.
  std::vector<VectorXd> knots_of(const Segment& rollout, const VectorXd& u) const {
    const std::vector<VectorXd> commands(plan_.commands.begin() + rollout.first, plan_.commands.begin() + rollout.last);
    const VectorXd& before = rollout.first == 0 ? plan_.u_start : plan_.commands[to_size(rollout.first) - 1];
    std::vector<VectorXd> knots = choose_knots(commands, before, settings_.knots);
    for (VectorXd& knot : knots) knot += u - before;
    return knots;
  }

  void report(OptimizerPass& row, const Pass& pass) {
    ++row.segments;
    if (options_.on_segment)
      options_.on_segment(static_cast<int>(result_.passes.size()) + 1, row.segments, result_.cost, pass.distance);
  }

  /// Adds the commands of the motion at hand as a segment.
  static void close_piece(bool is_transit, Pass& pass) {
    const auto first = static_cast<int>(pass.commands.size());
    pass.commands.insert(pass.commands.end(), pass.motion.commands.begin(), pass.motion.commands.end());
    const auto last = static_cast<int>(pass.commands.size());
    if (last > first) pass.segments.push_back({first, last, is_transit, -1});
    pass.motion.commands.clear();
  }

  /// The grasp renewed for where the objects are now; out of reach another one by the same fingers.
  std::optional<Grasp> renewed(Tools& tools, const Grasp& grasp, const VectorXd& q) const {
    if (std::optional<Grasp> again = renew_grasp(scene_, hand_, grasp, q, tools.proximity)) return again;
    std::vector<int> fingers;
    for (std::size_t f = 0; f < hand_.fingers.size(); ++f) {
      const std::vector<int>& commands = hand_.fingers[f].commands;
      if (std::any_of(commands.begin(), commands.end(), [&](int u) { return grasp.moves[to_size(u)] != 0; }))
        fingers.push_back(static_cast<int>(f));
    }
    if (fingers.empty()) return std::nullopt;
    const bool pinches = tools.draw.chance(kPinches);
    return tools.sampler.sample(q, fingers, grasp.moves, tools.draw, tools.proximity, pinches);
  }

  /// Reaches the grasp of a transit of the plan from where the pass is.
  bool regrasp(Tools& tools, const Segment& transit, Pass& pass) {
    const auto first = to_size(transit.first), last = to_size(transit.last);
    Grasp before{{}, moved_commands(plan_, transit)};
    // The grasp as it was before it pressed: the last place of the transit where springs bear no load.
    std::size_t open = last;
    const auto load = [&](std::size_t k) {
      return (plan_.commands[k - 1] - joint_positions(scene_, plan_.q[k])).cwiseAbs().maxCoeff();
    };
    while (open > first + 1 && load(open) > kUnloadedSpring) --open;
    if (load(open) > kUnloadedSpring) open = last;
    Motion& motion = pass.motion;
    before.joints = joint_positions(scene_, plan_.q[open]);
    if (!tools.transit.release(before.moves, motion)) return false;
    before.moves = moves_once_released(scene_, hand_, before, motion.q, tools.proximity);
    const std::optional<Grasp> grasp = renewed(tools, before, motion.q);
    if (!grasp) {
      log::debug("optimize: no such grasp");
      return false;
    }
    if (!tools.transit.reach(*grasp, tools.draw, motion)) {
      log::debug(fmt::format("optimize: grasp not reached ({})",
                             tools.transit.end() == Transit::End::kDrifted ? "drift" : "blocked"));
      return false;
    }
    // Pressing as in the plan.
    const VectorXd offset = grasp->joints - before.joints;
    for (std::size_t k = open; k < last; ++k) {
      const VectorXd u = (plan_.commands[k] + offset).cwiseMax(hand_.lower).cwiseMin(hand_.upper);
      if (!tools.steps.move_to(u, tools.steps.ensemble().longest_reach, motion)) return false;
    }
    if (!(hand_.weight_N > 0) && tools.draw.chance(kSqueezes)) {
      const double depth = kLeastDepth_m * std::pow(kMostDepth_m / kLeastDepth_m, tools.draw.uniform());
      if (!tools.transit.squeeze(grasp->moves, depth, motion)) return false;
    }
    close_piece(true, pass);
    return true;
  }

  /// Optimises the roll-out of a grasp. @returns false if it cannot be carried out.
  bool roll_out(Tools& tools, const scene::OptimizeSettings& settings, Begun& begun) {
    Pass& pass = begun.pass;
    SegmentProblem problem{pass.motion, goal_.q(), settings};
    const SegmentResult result = tools.segments.optimize(problem, begun.starts);
    if (!result.ok) return false;
    log::debug(fmt::format(
        "optimize: segment {} knots, cost {:.3g} -> {:.3g}, distance {:.4f} -> {:.4f} m, excess "
        "{:.3f} -> {:.3f}, {} iterations, {} steps, {:.2f} s",
        result.best.knots.size(), result.history.front().cost, result.best.cost, result.history.front().distance,
        result.best.distance, result.history.front().excess, result.best.excess, result.history.size() - 1,
        result.best.motion.commands.size(), clock_.seconds()));
    pass.motion = result.best.motion;
    pass.distance = tools.rollout.distance(pass.motion, goal_.q());
    close_piece(false, pass);
    return true;
  }

  /// Holds the goal, and keeps the plan if it is better.
  void finish(Tools& tools, bool done, Pass pass, OptimizerPass& row) {
    if (done) {
      tools.rollout.holds(pass.motion);
      close_piece(false, pass);
    }
    const double cost = cost_of(tools.rollout.distance(pass.motion, goal_.q()));
    if (!done && !(cost < result_.cost)) return;
    Plan plan = check({pass.commands, pass.segments});
    if (done) judge(plan, deadline_);
    row.holds = done && plan.holds();
    // A plan that leads to the goal at h is not given up for one that does not.
    if (!row.holds && !(cost < result_.cost && (plan.success || !result_.plan.success))) return;
    result_.cost = cost;
    result_.plan = std::move(plan);
    holds_ = row.holds;
  }

  void chain_nodes() {
    Plan& plan = result_.plan;
    Node root{.q = plan.q.front(), .u = plan.u_start, .distance = goal_.distance(plan.q.front())};
    result_.nodes = {root};
    int regrasps = 0;
    for (Segment& segment : plan.segments) {
      if (to_size(segment.last) >= plan.q.size()) break;
      regrasps += segment.transit;
      Node node{.parent = static_cast<int>(result_.nodes.size()) - 1,
                .kind = segment.transit ? NodeKind::kTransit : NodeKind::kRollout,
                .q = plan.q[to_size(segment.last)],
                .u = plan.commands[to_size(segment.last) - 1],
                .distance = goal_.distance(plan.q[to_size(segment.last)]),
                .cost_s = segment.last * plan.h + scene_.settings().plan.regrasp_cost_s * regrasps,
                .regrasps = regrasps};
      node.commands.assign(plan.commands.begin() + segment.first, plan.commands.begin() + segment.last);
      segment.node = static_cast<int>(result_.nodes.size());
      result_.nodes.push_back(std::move(node));
    }
  }

  scene::Scene scene_;
  scene::OptimizeSettings settings_;
  Goal goal_, met_;
  const Plan& plan_;
  const PlanOptimizerOptions& options_;
  Hand hand_;
  std::vector<PlanLeg> legs_;
  RunClock clock_;
  Deadline deadline_, end_;  // of passes; of the whole run
  Judges judges_;
  PlanOptimizerResult result_;
  Plan given_;                      // simulated
  std::size_t known_refusing_ = 0;  // worlds, when costs were measured
  bool holds_ = false;              // the plan of the result, before all judges
  std::vector<Place> places_;
};

}  // namespace

PlanOptimizerResult optimize_plan(const scene::Scene& scene, const scene::GoalSpec& goal, const Plan& plan,
                                  const PlanOptimizerOptions& options) {
  return OptimizerRun(scene, goal, plan, options)();
}

}  // namespace deft::planning
