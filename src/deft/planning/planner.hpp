#pragma once
// From a scene and a goal to a checked plan: search, check by exact simulation, improve.

#include <functional>
#include <vector>

#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/plan.hpp"
#include "deft/planning/reasons.hpp"
#include "deft/planning/search/search_tree.hpp"

namespace deft::planning {

/// What one run of the planner may use.
struct PlannerOptions {
  std::uint64_t seed = 0;  // of all random numbers of the run
  int threads = 0;         // 0: one per core
  /// The joint targets that are in force at the start, size nu [rad, m]; empty: where the joints are, springs without
  /// force.
  Eigen::VectorXd u_start{};
  /// Whether to end; asked before every step, by all threads. What was found so far is the result.
  std::function<bool()> stop{};
  /// After each batch: roll-outs tried, nearest distance [m], the cost of the best plan [s] or a negative number.
  std::function<void(int tried, double distance, double cost_s)> on_progress{};
  /// After each batch of the search for the first plan: steps taken so far, the same whatever the threads.
  std::function<void(long solves)> on_solves{};
  /// At the start and after each batch of the first tree: its nodes so far; nodes are only ever added at the end.
  std::function<void(const std::vector<Node>& nodes)> on_tree{};
  /// A plan is there and the search for a cheaper one goes on.
  std::function<void(const Plan& plan, const std::vector<Node>& nodes)> on_plan{};
  /// Where the run is kept. One that holds batches of an earlier run of the same scene, goal and seed is continued:
  /// same trees, same plan; limits of time count its time too, and stops wait until all of it was repeated.
  Journal* journal = nullptr;
};

/// What a run of the planner found.
struct PlannerResult {
  Plan plan;                // the cheapest that passed the check; without success the way to the nearest node
  std::vector<Node> nodes;  // of the tree that found the first plan, or of the only one; then the ends of cheaper plans
  std::vector<Reason> reasons{};      // why there is no plan that holds, heaviest first (reasons.hpp)
  Tally tally{};                      // what the searches met
  SearchEnd end = SearchEnd::kNodes;  // of the search for the first plan, or of the one that the step-halving check
                                      // asked for
  double time_s = 0;                  // wall time of the run [s], that of the runs that it continues included
  double first_solution_s = -1;       // [s] of it, when the first plan passed the check; negative: none
  double first_holding_s = -1;        // [s] of it, when the first plan held before all judges; negative: none
  int tried = 0;                      // roll-outs, in all trees
  long solves = 0;                    // steps taken, exact and smoothed, without those of the checks
};

/// Simulates the commands exactly from q and checks whether the goal is met at the end and for the settings.hold_steps
/// before it; with settings.refine also under each of the shorter steps (the step-halving check). Nothing else decides
/// on success. A step that fails ends the simulation there, without success.
/// @param planning_scene  of planning_scene(). @param q  size nq. @param u_start  as PlannerOptions::u_start.
/// @throws InputError as PlanningSteps, std::invalid_argument for a u_start of another size.
Plan check_plan(const scene::Scene& planning_scene, const Goal& goal, const Eigen::VectorXd& q,
                std::vector<Eigen::VectorXd> commands, std::vector<Segment> segments,
                const Eigen::VectorXd& u_start = {});

/// Plans from the scene's start to the goal by the tree that `plan.search` names. With judges besides h,
/// trees that move several worlds at once follow until one of their plans holds before all of them, and cheaper ones
/// for settings.improve_s more; without, the first plan that passes the check is improved for as long: new trees from
/// the ends of its roll-outs, the cheapest plan is kept, cost = duration + settings.regrasp_cost_s · regrasps. With
/// settings.refine a plan that passes the step-halving check is made of it, and improved likewise, for as long again;
/// each of the two may take settings.nodes roll-outs.
/// @throws InputError for goals and scenes that cannot be planned for, std::invalid_argument for a u_start of another
/// size.
PlannerResult make_plan(const scene::Scene& scene, const scene::GoalSpec& goal, const PlannerOptions& options);

}  // namespace deft::planning
