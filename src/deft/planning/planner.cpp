#include "deft/planning/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

#include "deft/core/index.hpp"
#include "deft/core/log.hpp"
#include "deft/planning/attempts.hpp"
#include "deft/planning/ensemble.hpp"
#include "deft/planning/feasibility/deadline.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/impossible.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/feasibility/random_stream.hpp"
#include "deft/planning/plan_optimizer.hpp"
#include "deft/planning/route.hpp"
#include "deft/planning/search/ensemble_tree.hpp"
#include "deft/planning/search/rollout_tree.hpp"

namespace deft::planning {
namespace {

scene::Scene without_step_halving(const scene::Scene& scene) {
  return scene.with([](scene::SceneSettings& settings) { settings.plan.refine.clear(); });
}

/// With settings.refine a roll-out costs hundreds of steps of rest, and the first step of a candidate few of them: more
/// care is taken before one is begun and more are tried at a node before a regrasp is spent.
scene::Scene for_step_halving(const scene::Scene& scene) {
  constexpr int kCandidates = 8;
  constexpr double kRegrasp = 0.5;  // times the weight of the search at h
  return scene.with([&](scene::SceneSettings& settings) {
    scene::PlanSettings& plan = settings.plan;
    plan.candidates = std::max(plan.candidates, kCandidates);
    plan.regrasp_weight *= kRegrasp;
  });
}

/// The scene of a search for plans that hold.
scene::Scene for_holding(const scene::Scene& scene) {
  constexpr int kCandidates = 2;
  return scene.with([&](scene::SceneSettings& settings) {
    settings.plan.candidates = std::max(settings.plan.candidates, kCandidates);
  });
}

/// Of plan.tries_weight, in all searches but that for the first plan: few regrasps need other grasps at the same nodes,
/// rather than more nodes.
constexpr double kTriesShare = 0.25;

/// Seeds of the trees of one run.
std::uint64_t seed_of_tree(std::uint64_t seed, std::uint64_t tree) { return seed + 0x9e3779b97f4a7c15ULL * tree; }

/// One run of the planner.
class Run {
 public:
  Run(const scene::Scene& scene, const scene::GoalSpec& goal, const PlannerOptions& options)
      : scene_(without_step_halving(planning_scene(scene))),
        halved_scene_(for_step_halving(planning_scene(scene))),
        settings_(scene.settings().plan),
        goal_(scene_, goal, settings_.wrap_angles),
        spec_(goal),
        goal_name_(goal.target.name),
        options_(options),
        q_start_(scene_.initial_configuration()),
        watch_(options.journal) {}

  PlannerResult operator()() {
    result_.reasons = prove_impossible(scene_, goal_, goal_name_);
    if (!result_.reasons.empty()) {
      stay();
      return std::move(result_);
    }
    const bool holding = !settings_.first && settings_.refine.empty() && judges_of(settings_).size() > 1;
    if (holding) require_judges(scene_);
    find_first(holding ? kFirstTries : settings_.nodes);
    if (holding) find_holding();
    if (result_.plan.success && !holding) {
      if (!settings_.first && settings_.refine.empty()) note_found();  // h is the only judge
      improve(scene_);
    }
    if (result_.plan.success && !settings_.first && !settings_.refine.empty()) pass_step_halving();
    result_.tally.add(*first_);
    result_.reasons = reasons_of(scene_, goal_, result_.plan, result_.tally, result_.end);
    result_.time_s = watch_.seconds();
    return std::move(result_);
  }

 private:
  SearchLimits limits(int nodes, double until_s) {
    SearchLimits limits;
    limits.nodes = nodes;
    limits.time_limit_s = until_s - watch_.seconds();
    limits.threads = options_.threads;
    limits.stop = options_.stop;
    limits.clock = &watch_;
    if (options_.on_progress) {
      limits.on_progress = [this](int tried, double distance) {
        options_.on_progress(result_.tried + tried, distance, result_.plan.success ? result_.plan.cost_s : -1.0);
      };
    }
    return limits;
  }

  /// The start's command: the joints where they are.
  Eigen::VectorXd start_command() const { return command_at_start(scene_, q_start_, options_.u_start); }

  /// The result where there is nothing to search for: the start.
  void stay() {
    result_.plan = check(scene_, nullptr, {}).plan;
    result_.nodes = make_search_tree(scene_, goal_, q_start_, start_command(), options_.seed)->nodes();
    if (options_.on_tree) options_.on_tree(result_.nodes);
    result_.end = SearchEnd::kImpossible;
    result_.time_s = watch_.seconds();
  }

  /// Goes on with the search for a plan in one world, for so many tries at most.
  void find_first(int tries) {
    if (first_ == nullptr) {
      first_ = make_search_tree(scene_, goal_, q_start_, start_command(), options_.seed);
      if (options_.on_tree) options_.on_tree(first_->nodes());
    }
    const int before = first_->tried(), most = std::min(settings_.nodes - before, tries) + before;
    const long solves_before = first_->solves();
    for (;;) {
      SearchLimits bounds = limits(most - first_->tried(), settings_.time_limit_s);
      bounds.on_progress = [this, before, solves_before, report = bounds.on_progress](int tried, double distance) {
        if (report) report(tried - before, distance);
        if (options_.on_solves) options_.on_solves(result_.solves + first_->solves() - solves_before);
        if (options_.on_tree) options_.on_tree(first_->nodes());
      };
      result_.end = first_->search(bounds);
      const bool found = result_.end == SearchEnd::kFound;
      Checked checked =
          check(scene_, nullptr, route_to(first_->nodes(), found ? first_->goal_node() : first_->best_node()));
      result_.plan = std::move(checked.plan);
      if (result_.plan.success || !found) break;
      // The whole from the start ended elsewhere than its pieces: not a plan.
      first_->reject_goal();
      first_->correct(result_.plan, checked.at);
    }
    if (result_.plan.success) result_.first_solution_s = watch_.seconds();
    result_.tried += first_->tried() - before;
    result_.solves += first_->solves() - solves_before;
    result_.nodes = first_->nodes();
  }

  /// Looks for cheaper plans: trees from the start or the end of one of the plan's roll-outs, with the steps of
  /// `scene`.
  void improve(const scene::Scene& scene) {
    const bool halves = !scene.settings().plan.refine.empty();
    const int before = halves ? halving_begins_ : 0;
    const double until_s = std::min(settings_.time_limit_s, watch_.seconds() + settings_.improve_s);
    for (std::uint64_t k = 1; result_.tried - before < settings_.nodes && !watch_.is_up(until_s); ++k) {
      if (is_stopped()) return;
      if (options_.on_plan && k == 1) options_.on_plan(result_.plan, result_.nodes);
      const std::uint64_t number = halves ? kHalvedTrees + k : k;
      RandomStream draw(options_.seed, ~number);
      const int from = draw_restart(draw);
      SearchLimits bounds = limits(settings_.nodes - result_.tried + before, until_s);
      bounds.regrasp_weight = scene.settings().plan.regrasp_weight;
      bounds.tries = kTriesShare;
      bounds.cost_limit_s = result_.plan.cost_s - cost_until(from);
      std::unique_ptr<SearchTree> tree;
      try {
        tree = replan(scene, from, seed_of_tree(options_.seed, number), bounds);
      } catch (const InputError& error) {  // no tree grows there; what was found stays
        log::warning(fmt::format("the plan is not improved further: {}", error.what()));
        return;
      }
      result_.tried += tree->tried();
      result_.tally.add(*tree);
      result_.solves += tree->solves();
      if (tree->goal_node() >= 0) keep_if_cheaper(scene, from, *tree);
    }
  }

  /// The start or the end of a roll-out of the plan, with a chance in proportion to the cost of what follows.
  int draw_restart(RandomStream& draw) const {
    std::vector<int> ends{0};
    std::vector<double> until{result_.plan.cost_s};
    for (const Segment& segment : result_.plan.segments) {
      if (segment.transit || segment.last == static_cast<int>(result_.plan.commands.size())) continue;
      ends.push_back(segment.last);
      until.push_back(until.back() + result_.plan.cost_s - cost_until(segment.last));
    }
    const auto at = std::upper_bound(until.begin(), until.end() - 1, draw.uniform() * until.back());
    return ends[at - until.begin()];
  }

  /// A tree from the plan's step `from`, grown. With step halving it begins with the rest of the plan itself.
  std::unique_ptr<SearchTree> replan(const scene::Scene& scene, int from, std::uint64_t seed, SearchLimits bounds) {
    const Instant root = instant_of_plan(from);
    std::unique_ptr<SearchTree> tree;
    if (root.q_worlds.empty()) {
      tree = make_search_tree(scene, goal_, root.q, root.u, seed);
    } else {
      auto halved = std::make_unique<RolloutTree>(scene, goal_, root, seed);
      const double until_s = watch_.seconds() + bounds.time_limit_s;
      halved->retrace(result_.plan, from, bounds);
      bounds.time_limit_s = until_s - watch_.seconds();
      tree = std::move(halved);
    }
    bounds.nodes = std::min(bounds.nodes - tree->tried(), improve_nodes(scene));
    tree->search(bounds);
    return tree;
  }

  /// Keeps the plan if it passes the step-halving check, or else finds another with all step lengths at once; improves
  /// what passes.
  void pass_step_halving() {
    halving_begins_ = result_.tried;
    result_.plan.step_halving =
        check_plan(halved_scene_, goal_, q_start_, result_.plan.commands, result_.plan.segments, options_.u_start)
            .step_halving;
    if (!result_.plan.holds()) search_with_step_halving();
    if (!result_.plan.holds()) return;
    note_found();
    improve(halved_scene_);
  }

  /// Searches with all step lengths at once until a plan passes; without one the plan stays as it was.
  void search_with_step_halving() {
    RolloutTree tree(halved_scene_, goal_, q_start_, start_command(), options_.seed);
    for (;;) {
      SearchLimits bounds = limits(settings_.nodes - tree.tried(), settings_.time_limit_s);
      bounds.regrasp_weight = halved_scene_.settings().plan.regrasp_weight;
      bounds.tries = kTriesShare;
      result_.end = tree.search(bounds);
      if (result_.end != SearchEnd::kFound) break;
      Route route = route_to(tree.nodes(), tree.goal_node());
      Checked checked = check(halved_scene_, nullptr, std::move(route));
      Plan plan = std::move(checked.plan);
      if (!plan.holds()) {
        tree.reject_goal();
        tree.correct(plan, checked.at);
        continue;
      }
      graft(tree, 0, 0, watch_.seconds(), plan.segments, result_.nodes);
      result_.plan = std::move(plan);
      break;
    }
    result_.tried += tree.tried();
    result_.tally.add(tree);
    result_.solves += tree.solves();
  }

  Checked check(const scene::Scene& scene, const Ensemble* ensemble, Route route) const {
    return check_route(scene, goal_, ensemble, q_start_, std::move(route), options_.u_start);
  }

  /// Makes plans until one holds before all judges, and cheaper ones for settings.improve_s more: trees that move all
  /// worlds of an ensemble at once, begun anew from the start as soon as they stall. Without one the first plan stays,
  /// with what the judges say of it; as long as there is none either, the search for it goes on between two trees.
  void find_holding() {
    Judges judges(scene_, goal_, options_.seed, options_.threads);
    judge_first(judges);
    const scene::Scene scene = for_holding(scene_);
    const Goal met(scene, scaled_tolerances(spec_, kMet), settings_.wrap_angles);
    const int most = result_.tried + settings_.nodes;
    for (std::uint64_t k = 0; result_.tried < most && !watch_.is_up(holding_until_s()); ++k) {
      if (is_stopped()) {
        result_.end = SearchEnd::kStopped;
        return;
      }
      if (k > 0 && !result_.plan.success && first_->tried() < settings_.nodes) {
        find_first(kFirstTries);
        judge_first(judges);
      }
      const Attempt attempt = attempt_of(k);
      std::vector<SinglePlans> plans;
      for (const Manner& manner : kManners) plans.push_back(single_plans(scene, manner, attempt.nodes));
      const Ensemble ensemble = search_ensemble(scene, options_.seed, judges.refusing());
      EnsembleTree tree(scene, met, start_instant(ensemble, q_start_, start_command()),
                        seed_of_tree(options_.seed, kHoldingTrees + k), ensemble, plans);
      grow_until_stall(tree, ensemble, judges, attempt, most - result_.tried);
      result_.tried += tree.tried();
      result_.tally.add(tree);
      result_.solves += tree.solves();
    }
    if (result_.plan.holds())
      result_.end = SearchEnd::kFound;
    else
      result_.end = watch_.is_up(settings_.time_limit_s) ? SearchEnd::kTime : SearchEnd::kNodes;
  }

  /// What the judges say of a plan, until the limit of time.
  std::vector<Verdict> judge(Judges& judges, const Plan& plan) {
    // What an earlier run judged is judged to the end, for the time that it took then is not known.
    if (watch_.repeats())
      deadline_.clear();
    else
      deadline_.set(watch_, settings_.time_limit_s, options_.stop);
    return judges(q_start_, plan.u_start, plan.commands, &deadline_);
  }

  /// What the judges say of the first plan, if there is one.
  void judge_first(Judges& judges) {
    if (!result_.plan.success) return;
    result_.plan.verdicts = judge(judges, result_.plan);
    result_.tally.add(result_.plan.verdicts);
    if (!result_.plan.holds() && scene_.settings().optimize.stage) optimize_first();
    note_found();
    if (options_.on_plan) options_.on_plan(result_.plan, result_.nodes);
  }

  /// Keeps the first plan as `optimize:` improves it, if that holds; its nodes join the tree.
  void optimize_first() {
    const PlanOptimizerResult better = optimize_plan(scene_, spec_, result_.plan,
                                                     {.seed = options_.seed,
                                                      .threads = options_.threads,
                                                      .time_limit_s = settings_.time_limit_s - watch_.seconds(),
                                                      .stop = options_.stop});
    result_.solves += better.solves;
    if (better.held_before || !better.holds) return;
    const auto added = static_cast<int>(result_.nodes.size()) - 1;
    for (std::size_t k = 1; k < better.nodes.size(); ++k) {
      result_.nodes.push_back(better.nodes[k]);
      result_.nodes.back().parent = k == 1 ? 0 : better.nodes[k].parent + added;
      result_.nodes.back().time_s = watch_.seconds();
    }
    result_.plan = better.plan;
    for (Segment& segment : result_.plan.segments) segment.node += added;
  }

  /// How long find_holding may go on [s]: to the limit of time, once there is a plan for settings.improve_s.
  double holding_until_s() const {
    if (!result_.plan.holds()) return settings_.time_limit_s;
    return settings_.improve_s > 0 ? std::min(settings_.time_limit_s, result_.first_holding_s + settings_.improve_s)
                                   : -1.0;
  }

  SinglePlans single_plans(const scene::Scene& scene, const Manner& manner, int nodes) const {
    scene::Scene single = scene.with([&](scene::SceneSettings& settings) {
      settings.plan.step_norm *= manner.step_share;
      settings.plan.rollout_steps = static_cast<int>(settings.plan.rollout_steps / manner.step_share);
      settings.step.relinearize = manner.relinearize;
    });
    Goal aim(single, scaled_tolerances(spec_, kAim), settings_.wrap_angles);
    Ensemble steady = single_ensemble(single);
    steady.longest_step *= manner.speed_share;
    return {std::move(single), std::move(aim), std::move(steady), nodes};
  }

  /// Grows a tree of find_holding until a plan is kept, it stalls, or a limit is met.
  void grow_until_stall(SearchTree& tree, const Ensemble& ensemble, Judges& judges, const Attempt& attempt,
                        int most_nodes) {
    double least = tree.nodes().front().distance;
    int refusals = 0;
    for (int stalled = 0; stalled < attempt.stall + kPatience * tree.tried() && tree.tried() < most_nodes;) {
      SearchLimits bounds = limits(std::min(kChunk, most_nodes - tree.tried()), holding_until_s());
      bounds.regrasp_weight = attempt.regrasp_weight;
      bounds.tries = kHoldingTries;
      if (result_.plan.holds()) bounds.cost_limit_s = result_.plan.cost_s;
      result_.end = tree.search(bounds);
      if (result_.end == SearchEnd::kTime || result_.end == SearchEnd::kStopped) return;
      const double distance = tree.nodes()[tree.best_node()].distance;
      stalled = distance < kNearer * least ? 0 : stalled + kChunk;
      log::debug(fmt::format("plans that hold: {:.2f} s, {} tries, {} nodes, nearest {:.4f} m", watch_.seconds(),
                             tree.tried(), tree.nodes().size(), distance));
      least = std::min(least, distance);
      if (result_.end != SearchEnd::kFound) continue;
      // Where drawn worlds refuse a second plan, the next tree is grown with them.
      const Trial trial = try_plan(tree, ensemble, judges);
      refusals += trial == Trial::kDrawnRefused;
      if (trial == Trial::kHolds || refusals == kRefusals) return;
    }
  }

  /// What became of a way to the goal in a tree of find_holding.
  enum class Trial { kHolds, kDrawnRefused, kRejected };

  /// Judges such a way. It is the plan now if it holds and costs less, or if there was none at h; where it does not
  /// hold, the tree goes on from where the whole led.
  Trial try_plan(SearchTree& tree, const Ensemble& ensemble, Judges& judges) {
    Checked checked = check(scene_, &ensemble, route_to(tree.nodes(), tree.goal_node()));
    Plan& plan = checked.plan;
    if (plan.success) {
      plan.verdicts = judge(judges, plan);
      result_.tally.add(plan.verdicts);
      log_verdicts(plan.verdicts);
    }
    const bool holds = plan.holds();
    const bool is_better =
        holds ? !result_.plan.holds() || plan.cost_s < result_.plan.cost_s : plan.success && !result_.plan.success;
    if (is_better) take(tree, plan);
    if (holds && is_better) return Trial::kHolds;
    tree.reject_goal();
    tree.correct(plan, checked.at);
    return plan.success && judges.drawn_refused() ? Trial::kDrawnRefused : Trial::kRejected;
  }

  /// The way to the goal of a tree becomes the plan.
  void take(const SearchTree& tree, Plan plan) {
    graft(tree, 0, 0, watch_.seconds(), plan.segments, result_.nodes);
    result_.plan = std::move(plan);
    note_found();
    if (options_.on_plan) options_.on_plan(result_.plan, result_.nodes);
  }

  /// Notes when there was a plan, and one that holds before all judges, which must have been asked.
  void note_found() {
    if (result_.first_solution_s < 0) result_.first_solution_s = watch_.seconds();
    if (result_.plan.holds() && result_.first_holding_s < 0) result_.first_holding_s = watch_.seconds();
  }

  /// A stop waits until all of the journal was repeated.
  bool is_stopped() const { return !watch_.repeats() && options_.stop && options_.stop(); }

  /// Roll-outs of a tree of the improvement: with step halving each costs as many steps more.
  static int improve_nodes(const scene::Scene& scene) {
    const std::vector<int>& substeps = scene.settings().plan.refine;
    return substeps.empty() ? kImproveNodes : kHalvedNodes / std::accumulate(substeps.begin(), substeps.end(), 1);
  }

  /// After the plan's step `step`, with all the step lengths that it was checked with.
  Instant instant_of_plan(int step) const {
    const Plan& plan = result_.plan;
    const auto at = to_size(step);
    Instant instant{plan.q[at], step == 0 ? plan.u_start : plan.commands[at - 1], {}, {}};
    for (const StepHalvingCheck& run : plan.step_halving) {
      instant.q_worlds.push_back(run.q[at]);
      instant.v_worlds.emplace_back();
    }
    return instant;
  }

  /// Cost of the plan's first `steps` steps [s].
  double cost_until(int steps) const {
    double cost_s = steps * result_.plan.h;
    for (const Segment& segment : result_.plan.segments)
      cost_s += segment.transit && segment.last <= steps ? settings_.regrasp_cost_s : 0;
    return cost_s;
  }

  void keep_if_cheaper(const scene::Scene& scene, int from, const SearchTree& tree) {
    const Plan& old = result_.plan;
    const Route tail = route_to(tree.nodes(), tree.goal_node());
    std::vector<Eigen::VectorXd> commands(old.commands.begin(), old.commands.begin() + from);
    commands.insert(commands.end(), tail.commands.begin(), tail.commands.end());
    std::vector<Segment> segments;
    for (const Segment& segment : old.segments) {
      if (segment.last <= from) segments.push_back(segment);
    }
    const std::size_t kept = segments.size();
    for (const Segment& segment : tail.segments)
      segments.push_back({segment.first + from, segment.last + from, segment.transit, segment.node});
    Plan plan = check_plan(scene, goal_, q_start_, std::move(commands), std::move(segments), options_.u_start);
    if (!plan.holds() || plan.cost_s >= old.cost_s) return;
    graft(tree, kept == 0 ? 0 : old.segments[kept - 1].node, cost_until(from), watch_.seconds(),
          std::span(plan.segments).subspan(kept), result_.nodes);
    result_.plan = std::move(plan);
    if (options_.on_plan) options_.on_plan(result_.plan, result_.nodes);
  }

  // Shares of the goal's tolerances that the worlds of a search meet, and plans of one world.
  static constexpr double kMet = 0.9, kAim = 0.25;
  static constexpr int kImproveNodes = 80, kHalvedNodes = 200;
  static constexpr int kFirstTries = 1000;  // of the search for the first plan, before one that holds is looked for
  // Of find_holding: tries between two looks at a tree, the share of the distance that is nearer, of its tries that
  // may come no nearer.
  static constexpr int kChunk = 8;
  static constexpr int kRefusals = 2;
  static constexpr double kHoldingTries = 0.5;  // of plan.tries_weight
  static constexpr double kNearer = 0.95, kPatience = 0.25;
  static constexpr std::uint64_t kHoldingTrees = std::uint64_t{1} << 33;  // their numbers begin above all others
  static constexpr std::uint64_t kHalvedTrees = std::uint64_t{1} << 32;   // their numbers begin above those at h

  scene::Scene scene_, halved_scene_;  // the first without settings.refine
  scene::PlanSettings settings_;
  Goal goal_;
  scene::GoalSpec spec_;
  std::string goal_name_;
  const PlannerOptions& options_;
  Eigen::VectorXd q_start_;
  RunClock watch_;
  Deadline deadline_;  // of judges
  PlannerResult result_;
  std::unique_ptr<SearchTree> first_;  // in one world
  int halving_begins_ = 0;             // roll-outs before it
};

}  // namespace

Plan check_plan(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q,
                std::vector<Eigen::VectorXd> commands, std::vector<Segment> segments, const Eigen::VectorXd& u_start) {
  return check_route(scene, goal, nullptr, q, {std::move(commands), std::move(segments)}, u_start).plan;
}

PlannerResult make_plan(const scene::Scene& scene, const scene::GoalSpec& goal, const PlannerOptions& options) {
  return Run(scene, goal, options)();
}

}  // namespace deft::planning
