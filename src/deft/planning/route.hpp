#pragma once
// The way to a node of a tree as commands, and what becomes of them from the start.

#include <span>
#include <vector>

#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/plan.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/search/search_tree.hpp"

namespace deft::planning {

/// Commands and segments from the root to a node.
struct Route {
  std::vector<Eigen::VectorXd> commands;  // one per step of length h, size nu [rad, m]
  std::vector<Segment> segments;          // all of them in order
};
/// The route to a node; nodes without commands have no segment.
Route route_to(const std::vector<Node>& nodes, int node);

/// Adds the way to the goal in a tree to other nodes, of which `at` after `cost_s` is the tree's root.
/// @param time_s  of the nodes. @param tail  the segments of the way, whose nodes become the new ones.
void graft(const SearchTree& tree, int at, double cost_s, double time_s, std::span<Segment> tail,
           std::vector<Node>& nodes);

/// A plan and where it leads, step by step, in all worlds.
struct Checked {
  Plan plan;                ///< with its status, errors and verdicts
  std::vector<Instant> at;  // the start first; it ends where a step fails
};

/// The joint targets at the start: `u_start`, or the joints of q if it is empty. @throws std::invalid_argument for
/// another size.
Eigen::VectorXd command_at_start(const scene::Scene& scene, const Eigen::VectorXd& q, const Eigen::VectorXd& u_start);
/// check_plan with other worlds (none: those of settings.refine), in which the points are kept.
Checked check_route(const scene::Scene& scene, const Goal& goal, const Ensemble* ensemble, const Eigen::VectorXd& q,
                    Route route, const Eigen::VectorXd& u_start);

}  // namespace deft::planning
