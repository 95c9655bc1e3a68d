#include "deft/planning/reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "deft/core/index.hpp"
#include "deft/planning/feasibility/fingers.hpp"

namespace deft::planning {
namespace {

/// "0.012 m", "0.3 rad" of what a goal error has.
std::string text_of(const GoalError& error) {
  std::string text;
  const auto add = [&text](double value, const char* unit) {
    if (value > 0) text += fmt::format("{}{:.3g}{}", text.empty() ? "" : ", ", value, unit);
  };
  add(error.position_m, " m");
  add(error.rotation_rad, " rad");
  add(error.joint, " of a joint");
  return text.empty() ? "at the goal" : text + " off";
}

/// The smallest gap between what fingers can touch with and the objects of the goal, at the start [m].
double distance_at_start(const scene::Scene& scene, const Goal& goal) {
  const Hand hand(scene, goal);
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  double least = std::numeric_limits<double>::infinity();
  for (const Finger& finger : hand.fingers)
    for (const int link : finger.geometries)
      for (const int surface : hand.surfaces)
        least = std::min(least, scene.collision_world().signed_distance(link, surface, state.X_WB()).gap);
  return least;
}

/// The coordinate of the goal that is furthest from its target at q, as the goal weighs it, and joints at their limits.
std::string furthest_coordinate(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q) {
  Eigen::VectorXd e;
  goal.residual(q, goal.q(), e);
  Eigen::Index worst = 0;
  e.cwiseAbs().maxCoeff(&worst);
  const int row = goal.rows()[to_size(static_cast<int>(worst))];
  std::string text =
      fmt::format("nearest {}; furthest {}: {:.3g} {}", text_of(goal.error(q)), scene.names_v()[to_size(row)],
                  e(worst) / goal.weights()(worst), scene.model().velocities()[row].unit);
  constexpr double kAtLimit = 1e-3;  // [rad, m]
  const Hand hand(scene, goal);
  const Eigen::VectorXd joints = joint_positions(scene, q);
  for (Eigen::Index u = 0; u < joints.size(); ++u) {
    if (joints(u) > hand.lower(u) + kAtLimit && joints(u) < hand.upper(u) - kAtLimit) continue;
    text += fmt::format("; {} at its limit", scene.names_u()[to_size(static_cast<int>(u))]);
  }
  return text;
}

}  // namespace

void Tally::add(const SearchTree& tree) {
  for (std::size_t k = 0; k < ends.size(); ++k) ends[k] += tree.ends()[k];
  for (const FailedTry& tried : tree.failed()) {
    const auto known =
        std::count_if(failed.begin(), failed.end(), [&](const FailedTry& other) { return other.end == tried.end; });
    if (known < SearchTree::kFailedTries) failed.push_back(tried);
  }
}

void Tally::add(const std::vector<Verdict>& verdicts) {
  judged += std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) { return verdict.judged; });
  for (const Verdict& verdict : verdicts) refused[verdict.judge] += verdict.judged && !verdict.success;
}

std::vector<Reason> reasons_of(const scene::Scene& scene, const Goal& goal, const Plan& plan, const Tally& tally,
                               SearchEnd end) {
  std::vector<Reason> reasons;
  if (plan.holds()) return reasons;
  const int tries = std::accumulate(tally.ends.begin(), tally.ends.end(), 0);
  const auto count = [&tally](GrowthEnd kind) { return tally.ends[to_size(static_cast<int>(kind))]; };
  const auto add = [&](GrowthEnd kind, const char* reason, std::string detail, const char* setting) {
    if (count(kind) > 0)
      reasons.push_back({reason, count(kind), static_cast<double>(count(kind)) / tries, std::move(detail), setting});
  };
  if (count(GrowthEnd::kNoGrasp) > 0)
    add(GrowthEnd::kNoGrasp, "no grasp",
        fmt::format("no joints were found that touch the object without collision; at the start it is {:.3g} m away",
                    distance_at_start(scene, goal)),
        "plan.attempts, the robot's limits, the start");
  add(GrowthEnd::kBlocked, "blocked", "no way to the grasp is free of collision", "plan.clearance_m, plan.standoff_m");
  add(GrowthEnd::kDrifted, "drift",
      fmt::format("objects moved by more than {} m while fingers went to a grasp", scene.settings().plan.drift_m),
      "plan.drift_m");
  add(GrowthEnd::kNotReleased, "not released", "a step failed while fingers let go", "step.h");
  add(GrowthEnd::kNotPressed, "not pressed", "fingers that closed found nothing to press on", "plan.standoff_m");
  const Eigen::VectorXd& q = plan.q.back();
  add(GrowthEnd::kStalled, "stall", furthest_coordinate(scene, goal, q), "plan.kappa, plan.step_norm, the tolerance");
  if (plan.effort_share > 1)
    reasons.push_back({"effort", 1, 1, fmt::format("a joint uses {:.3g} of its effort limit", plan.effort_share),
                       "robots: [{effort_limit: …, stiffness: …}]"});
  if (plan.velocity_share > 1)
    reasons.push_back({"velocity", 1, 1,
                       fmt::format("a joint goes at {:.3g} of its velocity limit", plan.velocity_share),
                       "robots: [{velocity_limit: …}]"});
  for (const Verdict& verdict : plan.verdicts) {
    if (verdict.success) continue;
    if (!verdict.judged) {
      reasons.push_back({"time", 1, 1, verdict.judge + ": the time was over before it had judged",
                         "plan.time_limit_s (--time-limit)"});
      continue;
    }
    const int refused = tally.refused.contains(verdict.judge) ? tally.refused.at(verdict.judge) : 1;
    reasons.push_back({"judge", refused, static_cast<double>(refused) / std::max(1, tally.judged),
                       fmt::format("{}: {}", verdict.judge, text_of(verdict.error)), "plan.judges, plan.time_limit_s"});
  }
  const bool time = end == SearchEnd::kTime;
  if (time || end == SearchEnd::kNodes)
    reasons.push_back({time ? "time" : "nodes", std::max(1, tries),
                       tries > 0 ? static_cast<double>(count(GrowthEnd::kGrew)) / tries : 1.0,
                       time ? fmt::format("{} s are over", scene.settings().plan.time_limit_s)
                            : fmt::format("{} roll-outs are used up", scene.settings().plan.nodes),
                       time ? "plan.time_limit_s (--time-limit)" : "plan.nodes (--nodes)"});
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.weight > b.weight; });
  return reasons;
}

std::string_view status_word(const Plan& plan, SearchEnd end) {
  if (plan.success) return plan.holds() ? "Solved" : "NotHolding";
  switch (end) {
    case SearchEnd::kStopped:
      return "Interrupted";
    case SearchEnd::kTime:
      return "TimeLimit";
    case SearchEnd::kImpossible:
      return "Impossible";
    default:
      return "NodeLimit";
  }
}

}  // namespace deft::planning
