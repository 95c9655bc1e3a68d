#include "run_page.hpp"

namespace deft::cli {
namespace {

/// What the page draws of a search.
viewer::SearchTree search_tree(const io::StoredPlan& plan) {
  viewer::SearchTree tree{.goal = plan.header.goal, .success = plan.success, .X_WB = plan.X_WB};
  for (const planning::Node& node : plan.nodes) {
    tree.nodes.push_back({.parent = node.parent,
                          .kind = static_cast<std::uint8_t>(node.kind),
                          .regrasps = node.regrasps,
                          .distance_m = node.distance,
                          .cost_s = node.cost_s,
                          .time_s = node.time_s});
  }
  for (const planning::Segment& segment : plan.segments)
    tree.segments.push_back({segment.first, segment.last, segment.transit, segment.node});
  const planning::ReachableSets& sets = plan.reachable;
  tree.reachable = {.radius = sets.radius, .kappa = sets.kappa, .bodies = sets.bodies, .ellipsoids = sets.ellipsoids};
  for (const auto& [frame, node] : sets.places) tree.reachable.places.push_back({frame, node});
  return tree;
}

}  // namespace

void write_page(const std::string& path, const io::RunHeader& header, const dynamics::Trajectory& trajectory,
                const std::optional<io::StoredPlan>& plan, const std::optional<viewer::Beside>& beside) {
  viewer::PageContent content;
  content.title = header.name;
  content.scene_json = header.scene_json;
  content.trajectory = &trajectory;
  if (plan) content.tree = search_tree(*plan);
  content.beside = beside;
  io::publish_text(path, viewer::make_page(content));
}

}  // namespace deft::cli
