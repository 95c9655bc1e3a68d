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
#include "deft/planning/grasps/transit.hpp"
#include "deft/planning/route.hpp"
#include "deft/planning/search/greedy_rollout.hpp"
#include "deft/planning/trajectory/segment_optimizer.hpp"

namespace deft::planning {
namespace {

using Eigen::VectorXd;

constexpr double kUnloadedSpring = 1e-3;  // [rad, m]: a spring stretched less bears no load
constexpr double kMetShare = 0.9;         // of the goal's tolerances, that all worlds of an ensemble meet before judges
constexpr double kNearerShare = 0.8;      // a repeated grasp must bring the distance below so much of what it was
constexpr double kConeShares[] = {1.0, 0.7, 1.4};  // of optimize.cone_share, pass by pass

// PROTO
inline scene::OptimizeSettings proto() {
  scene::OptimizeSettings s;
  const auto get = [](const char* name, auto& field) {
    if (const char* text = std::getenv(name)) field = std::atof(text);
  };
  get("O_time", s.time_limit_s);
  get("O_iter", s.iterations);
  get("O_knots", s.knots);
  get("O_k1", s.kappa_first);
  get("O_k2", s.kappa_last);
  get("O_radius", s.radius);
  get("O_cone", s.cone_share);
  get("O_force", s.force_weight);
  get("O_spread", s.spread_weight);
  get("O_change", s.change_weight);
  get("O_corners", s.corners);
  get("O_speed", s.speed_share);
  get("O_repeats", s.repeats);
  return s;
}
// PROTO

/// A roll-out of a plan and the transit before it.
struct PlanLeg {
  std::optional<Segment> transit;
  Segment rollout;
};

std::vector<PlanLeg> legs_in(const Plan& plan) {
  std::vector<PlanLeg> legs;
  std::optional<Segment> transit;
  for (const Segment& segment : plan.segments) {
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

scene::GoalSpec tighter(scene::GoalSpec spec, double factor) {
  spec.tolerance_position_m *= factor;
  spec.tolerance_rotation_rad *= factor;
  spec.tolerance_joint *= factor;
  for (auto& [joint, tolerance] : spec.tolerance_joints) tolerance *= factor;
  return spec;
}

/// The worlds of an optimisation: the shortest step of the judges, the second-order step, drawn corners.
Ensemble optimizer_ensemble(const scene::Scene& scene, std::uint64_t seed, std::span<const World> refusing) {
  const scene::OptimizeSettings settings = proto();
  Ensemble ensemble = search_ensemble(scene, seed, refusing);
  const auto divisors = divisors_of(judges_of(scene.settings().plan)).size();
  // Of steps h/n the shortest is furthest from h; of the corners the last are those that refused a plan.
  std::vector<World> worlds;
  if (divisors > 0) worlds.push_back(ensemble.worlds[divisors - 1]);
  if (ensemble.worlds.size() > divisors) worlds.push_back(ensemble.worlds[divisors]);
  const std::size_t corners = ensemble.worlds.size() - divisors - 1;
  for (std::size_t k = corners - std::min(corners, to_size(settings.corners)); k < corners; ++k)
    worlds.push_back(ensemble.worlds[divisors + 1 + k]);
  ensemble.worlds = std::move(worlds);
  ensemble.longest_step = longest_steps(scene, *scene.settings().step.h, settings.speed_share);
  ensemble.spread_weight = settings.spread_weight;
  ensemble.deciding = static_cast<int>(ensemble.worlds.size());
  return ensemble;
}

/// What a pass over the plan has done so far.
struct Pass {
  Motion motion;                      // its commands are those of the piece at hand
  std::vector<VectorXd> commands;     // of all
  std::vector<Segment> segments;      // of all
  double distance = 0;                // of the motion's end in all worlds [m]
};

class OptimizerRun {
 public:
  OptimizerRun(const scene::Scene& scene, const scene::GoalSpec& goal, const Plan& plan,
               const PlanOptimizerOptions& options)
      : scene_(planning_scene(scene).with([](scene::SceneSettings& settings) {
          settings.plan.judges = judges_of(settings.plan);
          settings.plan.refine.clear();
        })),
        settings_(proto()),
        goal_(scene_, goal, scene_.settings().plan.wrap_angles),
        met_(scene_, tighter(goal, kMetShare), scene_.settings().plan.wrap_angles),
        plan_(plan),
        options_(options),
        hand_(scene_, goal_),
        legs_(legs_in(plan)),
        judges_(scene_, goal_, options.seed, options.threads) {
    deadline_.set(clock_, settings_.time_limit_s, options_.stop);
  }

  PlanOptimizerResult operator()() {
    result_.plan = check({plan_.commands, plan_.segments});
    result_.before = judge(result_.plan);
    result_.held_before = result_.plan.holds();
    result_.cost_before = result_.cost = given_cost();
    std::uint64_t number = 0;
    while (!result_.plan.holds() && !deadline_.due()) improve(number++);
    if (result_.plan.verdicts.empty()) result_.plan.verdicts = result_.before;
    chain_nodes();
    result_.time_s = clock_.seconds();
    return std::move(result_);
  }

 private:
  Plan check(Route route) const {
    return check_route(scene_, goal_, nullptr, plan_.q.front(), std::move(route), plan_.u_start).plan;
  }

  std::vector<Verdict> judge(Plan& plan) {
    plan.verdicts = judges_(plan.q.front(), plan.u_start, plan.commands);
    for (const Verdict& verdict : plan.verdicts)
      log::debug(fmt::format("judge {}: {}, {:.2g} m, {:.2g} rad, joint {:.2g}, {:.2f} s", verdict.judge,
                             verdict.success ? "holds" : "does not hold", verdict.error.position_m,
                             verdict.error.rotation_rad, verdict.error.joint, verdict.time_s));
    return plan.verdicts;
  }

  /// What the plan as it was given costs in the worlds of the first pass.
  double given_cost() {
    const Ensemble ensemble = optimizer_ensemble(scene_, options_.seed, {});
    PlanningSteps steps(scene_, nullptr, &ensemble);
    const GreedyRollout rollout(goal_, hand_, steps);
    const std::vector<Instant> at =
        steps.simulate(start_instant(ensemble, plan_.q.front(), plan_.u_start), plan_.commands);
    result_.solves += steps.solves();
    if (at.size() != plan_.commands.size() + 1) return std::numeric_limits<double>::infinity();
    return cost_of(rollout.distance(at.back(), goal_.q()));
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
          transit(run.hand_, steps, proximity),
          rollout(run.met_, run.hand_, steps),
          greedy(run.met_, run.hand_, single),
          segments(run.goal_, run.hand_, steps, run.options_.threads),
          draw(run.options_.seed, number) {}
    PlanningSteps steps, single;
    Proximity proximity;
    Transit transit;
    GreedyRollout rollout, greedy;
    SegmentOptimizer segments;
    RandomStream draw;
  };

  /// One pass.
  void improve(std::uint64_t number) {
    const Ensemble ensemble = optimizer_ensemble(scene_, options_.seed, judges_.refusing());
    Ensemble single = single_ensemble(scene_);
    scene::OptimizeSettings settings = settings_;
    settings.cone_share = std::min(0.9, settings.cone_share * kConeShares[number % std::size(kConeShares)]);
    single.cone_share = settings.cone_share;
    single.longest_step = ensemble.longest_step;
    Tools tools(*this, ensemble, single, number);
    Pass pass;
    pass.motion = {start_instant(ensemble, plan_.q.front(), plan_.u_start), {}};
    OptimizerPass row{.cost = std::numeric_limits<double>::infinity(), .cone_share = settings.cone_share};
    bool done = false;
    const auto last = static_cast<int>(legs_.size()) - 1;
    bool carried = !legs_.empty();
    for (int k = 0; k <= last && carried && !done; ++k) {
      carried = go_through(tools, settings, legs_[to_size(k)], k == last, pass);
      done = carried && tools.rollout.reached(pass.motion);
      report(row, pass);
    }
    for (int k = 0; k < settings.repeats && carried && !done; ++k) {
      if (!repeat(tools, settings, k, pass)) break;
      done = tools.rollout.reached(pass.motion);
      report(row, pass);
    }
    if (carried && !deadline_.due()) finish(tools, done, pass, row);
    result_.solves += tools.steps.solves() + tools.single.solves() + tools.segments.solves();
    row.time_s = clock_.seconds();
    result_.passes.push_back(row);
  }

  void report(OptimizerPass& row, const Pass& pass) {
    ++row.segments;
    if (options_.on_segment)
      options_.on_segment(static_cast<int>(result_.passes.size()) + 1, row.segments, result_.cost, pass.distance);
  }

  /// The grasp of a leg, and its roll-out. @returns false if they could not be carried out.
  bool go_through(Tools& tools, const scene::OptimizeSettings& settings, const PlanLeg& leg, bool is_last, Pass& pass) {
    if (leg.transit && !regrasp(tools, *leg.transit, pass)) return false;
    const VectorXd& q_target = is_last ? goal_.q() : plan_.q[to_size(leg.rollout.last)];
    return roll_out(tools, settings, &leg.rollout, q_target, pass);
  }

  /// Takes the last grasps again, the latest first, each for what is left. @returns whether that came nearer.
  bool repeat(Tools& tools, const scene::OptimizeSettings& settings, int number, Pass& pass) {
    for (std::size_t back = 0; back < legs_.size(); ++back) {
      const PlanLeg& leg = legs_[legs_.size() - 1 - (to_size(number) + back) % legs_.size()];
      if (!leg.transit) continue;
      Pass tried = pass;
      if (!regrasp(tools, *leg.transit, tried) || !roll_out(tools, settings, nullptr, goal_.q(), tried)) continue;
      if (!(tried.distance < kNearerShare * pass.distance)) continue;
      pass = std::move(tried);
      return true;
    }
    return false;
  }

  /// Adds the commands of the motion at hand as a segment.
  static void close_piece(bool is_transit, Pass& pass) {
    const auto first = static_cast<int>(pass.commands.size());
    pass.commands.insert(pass.commands.end(), pass.motion.commands.begin(), pass.motion.commands.end());
    const auto last = static_cast<int>(pass.commands.size());
    if (last > first) pass.segments.push_back({first, last, is_transit, -1});
    pass.motion.commands.clear();
  }

  /// Reaches the grasp of a transit of the plan from where the pass is.
  bool regrasp(Tools& tools, const Segment& transit, Pass& pass) {
    const auto first = to_size(transit.first), last = to_size(transit.last);
    const VectorXd& before = first == 0 ? plan_.u_start : plan_.commands[first - 1];
    std::vector<char> moves(to_size(static_cast<int>(before.size())), 0);
    for (std::size_t k = first; k < last; ++k) {
      for (Eigen::Index u = 0; u < before.size(); ++u)
        moves[to_size(static_cast<int>(u))] |= plan_.commands[k](u) != before(u);
    }
    // The grasp as it was before it pressed: the last place of the transit where springs bear no load.
    std::size_t open = last;
    const auto load = [&](std::size_t k) {
      return (plan_.commands[k - 1] - joint_positions(scene_, plan_.q[k])).cwiseAbs().maxCoeff();
    };
    while (open > first + 1 && load(open) > kUnloadedSpring) --open;
    if (load(open) > kUnloadedSpring) open = last;
    const Grasp grasp{joint_positions(scene_, plan_.q[open]), moves};
    Motion& motion = pass.motion;
    if (!tools.transit.release(moves, motion)) return false;
    if (!tools.transit.reach(grasp, tools.draw, motion)) {
      log::debug(fmt::format("optimize: grasp not reached ({})",
                             tools.transit.end() == Transit::End::kDrifted ? "drift" : "blocked"));
      return false;
    }
    for (std::size_t k = open; k < last; ++k) {
      if (!tools.steps.move_to(plan_.commands[k], tools.steps.ensemble().longest_reach, motion)) return false;
    }
    close_piece(true, pass);
    return true;
  }

  /// An optimised roll-out towards a place. @param rollout  of the plan, whose commands it begins with; null: none.
  bool roll_out(Tools& tools, const scene::OptimizeSettings& settings, const Segment* rollout, const VectorXd& q_target,
                Pass& pass) {
    std::vector<std::vector<VectorXd>> starts;
    if (rollout != nullptr) {
      const std::vector<VectorXd> commands(plan_.commands.begin() + rollout->first,
                                           plan_.commands.begin() + rollout->last);
      const VectorXd& before = rollout->first == 0 ? plan_.u_start : plan_.commands[to_size(rollout->first) - 1];
      std::vector<VectorXd> knots = choose_knots(commands, before, settings.knots);
      // What the start differs in fades.
      const VectorXd offset = pass.motion.u - before;
      for (std::size_t k = 0; k < knots.size(); ++k)
        knots[k] += offset * (1 - static_cast<double>(k + 1) / static_cast<double>(knots.size()));
      starts.push_back(std::move(knots));
    }
    Motion greedy{Instant{pass.motion.q, pass.motion.u, {}, {}}, {}};
    tools.single.reset();
    tools.greedy.run(q_target, greedy);
    starts.push_back(choose_knots(greedy.commands, pass.motion.u, settings.knots));
    SegmentProblem problem{pass.motion, q_target, settings};
    const SegmentResult result = tools.segments.optimize(problem, starts);
    if (!result.ok) return false;
    log::debug(fmt::format("optimize: segment {} knots, cost {:.3g} -> {:.3g}, distance {:.4f} -> {:.4f} m, excess "
                           "{:.3f} -> {:.3f}, {} iterations, {} steps, {:.2f} s",
                           result.best.knots.size(), result.history.front().cost, result.best.cost,
                           result.history.front().distance, result.best.distance, result.history.front().excess,
                           result.best.excess, result.history.size() - 1, result.best.motion.commands.size(),
                           clock_.seconds()));
    pass.motion = result.best.motion;
    pass.distance = tools.rollout.distance(pass.motion, goal_.q());
    close_piece(false, pass);
    return true;
  }

  /// Holds the goal, and keeps the plan if it is better.
  void finish(Tools& tools, bool done, Pass& pass, OptimizerPass& row) {
    if (done) {
      tools.rollout.holds(pass.motion);
      close_piece(false, pass);
    }
    row.cost = cost_of(tools.rollout.distance(pass.motion, goal_.q()));
    if (!done && !(row.cost < result_.cost)) return;
    Plan plan = check({pass.commands, pass.segments});
    if (done) judge(plan);
    const bool holds = done && plan.holds();
    if (!holds && !(row.cost < result_.cost)) return;
    result_.cost = std::min(result_.cost, row.cost);
    result_.plan = std::move(plan);
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
  Deadline deadline_;
  Judges judges_;
  PlanOptimizerResult result_;
};

}  // namespace

PlanOptimizerResult optimize_plan(const scene::Scene& scene, const scene::GoalSpec& goal, const Plan& plan,
                                  const PlanOptimizerOptions& options) {
  return OptimizerRun(scene, goal, plan, options)();
}

}  // namespace deft::planning
