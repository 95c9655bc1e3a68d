#pragma once
// A plan improved segment by segment, until it holds before all judges.

#include <functional>
#include <vector>

#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/plan.hpp"
#include "deft/scene/scene.hpp"

namespace deft::planning {

/// What a run of the optimiser may use.
struct PlanOptimizerOptions {
  std::uint64_t seed = 0;  // of the drawn worlds and of motions between grasps
  int threads = 0;         // 0: one per core
  /// Of the whole run [s], judging included; passes end after settings.optimize.time_limit_s.
  double time_limit_s = kInfinity;
  std::function<bool()> stop{};  // whether to end; asked before every step. What was found so far is the result
  /// After each segment: pass and segment from 1, the least cost so far, the pass' distance in all worlds [m].
  std::function<void(int pass, int segment, double cost, double distance)> on_segment{};
};

/// One pass over a plan.
struct OptimizerPass {
  double cost = 0;        // of its plan; infinity: it could not be carried out to the end
  bool holds = false;     // its plan held before all judges
  double cone_share = 0;  // s of the friction cones
  int segments = 0;       // that were optimised, with repeated ones
  double time_s = 0;      // since the start of the run, at its end
};

/// What became of a plan.
struct PlanOptimizerResult {
  Plan plan;                         // the best, with verdicts
  std::vector<Node> nodes;           // a chain: its start, and the end of each of its segments
  std::vector<Verdict> before;       // of the plan that was given
  bool held_before = false;          // whether that held before all judges
  bool holds = false;                // whether the best does
  double cost_before = 0, cost = 0;  // (distance in all worlds / tolerance)², of the given plan and of the best, in the
                                     // worlds of the last pass
  std::vector<OptimizerPass> passes;  // in order; none if the given plan holds
  double time_s = 0;                  // wall time [s]
  long solves = 0;                    // steps taken
};

/// Improves a plan: pass after pass over its segments, in several worlds at once (optimize: corners). In a pass each
/// roll-out is optimised (SegmentOptimizer) from where the one before it ended, towards the goal; between them the
/// plan's grasps are reached again, and others of them where these come no nearer. A plan whose worlds all meet the
/// goal goes before the judges; the first that holds is the result, or else the plan of least cost, which is never
/// above that of the plan that was given, unless that did not reach the goal at h and it does. What the time does not
/// suffice to judge does not hold (Verdict::judged).
/// @param scene  any. @param plan  commands, segments and start; checked by the caller. @param options  as above.
/// @throws InputError as make_plan.
PlanOptimizerResult optimize_plan(const scene::Scene& scene, const scene::GoalSpec& goal, const Plan& plan,
                                  const PlanOptimizerOptions& options);

}  // namespace deft::planning
