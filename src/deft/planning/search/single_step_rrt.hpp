#pragma once
// The baseline search, after Pang, Suh, Yang and Tedrake: a tree whose edges are single steps (README.md).

#include <memory>
#include <vector>

#include "deft/planning/search/pose_box.hpp"
#include "deft/planning/search/reachable_metric.hpp"
#include "deft/planning/search/search_context.hpp"
#include "deft/planning/search/search_tree.hpp"

namespace deft::planning {

/// A rapidly exploring random tree over the linearised steps of its nodes. With c and B of the step smoothed at κ about
/// (q, ū), ū the joints as they stand, an iteration is
///   target ← the goal (settings.goal_bias) or a random pose;  node ← the nearest by the reachable metric;
///   if it is further than settings.metric_limit: another random pose;
///   with settings.grasp_share a regrasp at the node, otherwise one step with u = ū + δu,
///   δu = argmin ‖W (q_target ⊖ c − B δu)‖² + λ‖δu‖²,  ‖δu‖ ≤ ε, joint limits.
/// Steps are exact, or smoothed at κ as in the code beside the paper (settings.extend); what that reaches is not true.
/// Unless settings.gradient is analytic, c is the mean of exact steps of length h under noise and B the mean of their
/// Jacobians, or the fit to their motions (dynamics/batch/bundled_gradient.hpp), whose seed is seed_of(seed, number of
/// the iteration + 1), and seed_of(seed, 0) at the root and a grasp at the start.
///
/// Deviations from Pang, Suh, Yang and Tedrake (IEEE T-RO 2023, algorithm 2): the least squares know the limits instead
/// of being clipped to them; rotations are differences on SO(3); regrasps may be motions; a batch is chosen from the
/// same tree; a node is at the goal by metres and radians.
class SingleStepRrt final : public SearchTree {
 public:
  /// @param scene  of planning_scene; must outlive this object, as `goal`. @param q, u  the root's configuration and
  /// command.
  /// @throws InputError for too few samples of a gradient, if the start has no smoothed step or averaged gradient, or
  /// no contact if settings.start_grasp wants one, or as PlanningSteps, Hand, BaselineSampler, PoseBox and
  /// ReachableMetric.
  SingleStepRrt(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q, const Eigen::VectorXd& u,
                std::uint64_t seed);
  ~SingleStepRrt() override;

  SearchEnd search(const SearchLimits& limits) override;

  /// How far the nearest node is from a pose, by the metric.
  double distance(const Eigen::VectorXd& q_target) const { return metric_.nearest(q_target).distance; }
  /// Where random poses are drawn from.
  const PoseBox& box() const { return box_; }

 private:
  long solves_here() const override;
  struct Worker;
  struct Task;
  struct Growth;
  Task draw_task(std::uint64_t item);
  /// The node from which a task grows: the one nearest to its target. Targets beyond settings.metric_limit are replaced
  /// by other random poses. @returns −1 if none is near enough, or the deadline is due.
  int nearest_node(Task& task) const;
  /// A step towards the task's target, or a regrasp, from its node. Random numbers of a regrasp are those of `item`.
  void grow(Task& task, std::uint64_t item, Worker& worker, Growth& growth) const;
  void append(const Task& task, Growth& growth, double time_s);
  void grasp_at_start();
  void drop_rejected();
  void keep_linearization(const Eigen::VectorXd& q, const Growth& growth);

  const scene::Scene* scene_;
  const Goal* goal_;
  std::uint64_t seed_;
  PoseBox box_;
  ReachableMetric metric_;
  SearchContext shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<double> linearizations_;     // per node: c, then the goal's rows of B by columns
  std::vector<char> extended_to_goal_;     // per node: was extended to the goal
  std::vector<int> dropped_;               // rejected nodes, from which nothing grows any more
  ReachableMetric::Nearest goal_nearest_;  // among the first goal_seen_ nodes
  int goal_seen_ = 0;
};

}  // namespace deft::planning
