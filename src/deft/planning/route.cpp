#include "deft/planning/route.hpp"

#include <algorithm>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/joint_limits.hpp"

namespace deft::planning {
namespace {

constexpr double kMostShare = 1 + 1e-3;  // of joint limits: targets keep to them where a step starts

}  // namespace

void graft(const SearchTree& tree, int at, double cost_s, double time_s, std::span<Segment> tail,
           std::vector<Node>& nodes) {
  const int regrasps = nodes[to_size(at)].regrasps;
  auto segment = tail.begin();  // in the order of the chain; a node without commands has none
  for (const int link : chain_to(tree.nodes(), tree.goal_node())) {
    Node node = tree.nodes()[to_size(link)];
    node.parent = at;
    node.cost_s += cost_s;
    node.regrasps += regrasps;
    node.time_s = time_s;
    at = static_cast<int>(nodes.size());
    nodes.push_back(std::move(node));
    if (segment != tail.end() && segment->node == link) (segment++)->node = at;
  }
}

Eigen::VectorXd command_at_start(const scene::Scene& scene, const Eigen::VectorXd& q, const Eigen::VectorXd& u_start) {
  if (u_start.size() != 0 && u_start.size() != scene.nu())
    throw std::invalid_argument("planner: the joint targets at the start have not one entry per actuated joint");
  return u_start.size() == 0 ? joint_positions(scene, q) : u_start;
}

Route route_to(const std::vector<Node>& nodes, int node) {
  Route route;
  for (const int link : chain_to(nodes, node)) {
    const Node& at = nodes[link];
    const auto first = static_cast<int>(route.commands.size());
    route.commands.insert(route.commands.end(), at.commands.begin(), at.commands.end());
    if (!at.commands.empty())
      route.segments.push_back({first, static_cast<int>(route.commands.size()), at.kind == NodeKind::kTransit, link});
  }
  return route;
}

Checked check_route(const scene::Scene& scene, const Goal& goal, const Ensemble* ensemble, const Eigen::VectorXd& q,
                    Route route, const Eigen::VectorXd& u_start) {
  PlanningSteps steps(scene, nullptr, ensemble);
  Checked checked;
  Plan& plan = checked.plan;
  plan.h = steps.h();
  plan.u_start = command_at_start(scene, q, u_start);
  checked.at = steps.simulate(start_instant(steps.ensemble(), q, plan.u_start), route.commands);
  for (const Instant& at : checked.at) plan.q.push_back(at.q);
  const bool usable = checked.at.size() == route.commands.size() + 1;
  plan.commands = std::move(route.commands);
  plan.segments = std::move(route.segments);
  for (const Segment& segment : plan.segments) plan.regrasps += segment.transit;
  plan.cost_s =
      static_cast<double>(plan.commands.size()) * plan.h + scene.settings().plan.regrasp_cost_s * plan.regrasps;
  // At the goal, and for the last steps.
  const int hold = scene.settings().plan.hold_steps;
  const auto holds = [&](const std::vector<Eigen::VectorXd>& way) {
    return usable && static_cast<int>(way.size()) > hold &&
           std::all_of(way.end() - 1 - hold, way.end(), [&](const auto& pose) { return goal.reached(pose); });
  };
  const JointSpeeds speeds = joint_speeds(scene);
  for (std::size_t k = 1; k < plan.q.size(); ++k) {
    const Eigen::VectorXd &before = plan.q[k - 1], &after = plan.q[k];
    plan.effort_share =
        std::max(plan.effort_share, steps.drive_limits().share(before, after, plan.commands[k - 1], plan.h));
    plan.velocity_share = std::max(plan.velocity_share, speeds.share(scene, before, after, plan.h));
  }
  plan.error = goal.error(plan.q.back());
  plan.success = holds(plan.q) && std::max(plan.effort_share, plan.velocity_share) <= kMostShare;
  if (ensemble != nullptr) return checked;
  const std::vector<int>& divisors = scene.settings().plan.refine;
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    StepHalvingCheck run{.substeps = divisors[i]};
    for (const Instant& at : checked.at) run.q.push_back(at.q_worlds[i]);
    run.error = goal.error(run.q.back());
    run.success = holds(run.q);
    plan.step_halving.push_back(std::move(run));
  }
  return checked;
}

}  // namespace deft::planning
