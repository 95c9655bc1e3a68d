#include "run_page.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "deft/core/log.hpp"
#include "json.hpp"

namespace deft::cli {
namespace {

/// What the page draws of a search, of whose commands `steps` were carried out: all, unless a step failed.
viewer::SearchTree search_tree(const io::StoredPlan& plan, int steps) {
  viewer::SearchTree tree{.goal = plan.header.goal, .success = plan.success, .X_WB = plan.X_WB};
  for (const planning::Node& node : plan.nodes) {
    tree.nodes.push_back({.parent = node.parent,
                          .kind = static_cast<std::uint8_t>(node.kind),
                          .regrasps = node.regrasps,
                          .distance_m = node.distance,
                          .cost_s = node.cost_s,
                          .time_s = node.time_s});
  }
  for (const planning::Segment& segment : plan.segments) {
    if (segment.first < steps)
      tree.segments.push_back({segment.first, std::min(segment.last, steps), segment.transit, segment.node});
  }
  const planning::ReachableSets& sets = plan.reachable;
  tree.reachable = {.radius = sets.radius, .kappa = sets.kappa, .bodies = sets.bodies, .ellipsoids = sets.ellipsoids};
  for (const auto& [frame, node] : sets.places) tree.reachable.places.push_back({frame, node});
  return tree;
}

/// explain.json of the folder, if there is one. What cannot be read is said, and left out.
std::optional<viewer::Explanation> read_explanation(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder) / "explain.json";
  std::ifstream file(path);
  if (!file) return std::nullopt;
  try {
    const Json kept = Json::parse(file);
    viewer::Explanation explanation{
        .status = kept.at("status").get<std::string>(), .reasons = {}, .tries = {}, .X_WB = {}};
    for (const Json& row : kept.at("reasons"))
      explanation.reasons.push_back({row.at("reason").get<std::string>(), row.at("count").get<int>(),
                                     row.at("weight").get<double>(), row.at("detail").get<std::string>(),
                                     row.at("setting").get<std::string>()});
    for (const Json& row : kept.value("failed", Json::array())) {
      explanation.tries.push_back(row.at("reason").get<std::string>());
      for (const Json& pose : row.at("X_WB"))
        for (const Json& x : pose) explanation.X_WB.push_back(x.get<float>());
    }
    return explanation;
  } catch (const Json::exception& error) {
    log::warning(fmt::format("{}: is not shown: {}", path.string(), error.what()));
    return std::nullopt;
  }
}

}  // namespace

std::string page_of(const std::string& folder, const io::RunHeader& header, const dynamics::Trajectory& trajectory,
                    const std::optional<io::StoredPlan>& plan, const std::optional<viewer::Beside>& beside) {
  viewer::PageContent content;
  content.title = header.name;
  content.scene_json = header.scene_json;
  content.trajectory = &trajectory;
  if (plan) content.tree = search_tree(*plan, static_cast<int>(trajectory.steps.size()));
  content.beside = beside;
  if (!folder.empty()) content.explanation = read_explanation(folder);
  return viewer::make_page(content);
}

void write_page(const std::string& path, const io::RunHeader& header, const dynamics::Trajectory& trajectory,
                const std::optional<io::StoredPlan>& plan, const std::optional<viewer::Beside>& beside) {
  io::publish_text(path, page_of(std::filesystem::path(path).parent_path().string(), header, trajectory, plan, beside));
}

}  // namespace deft::cli
