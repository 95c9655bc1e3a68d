#include "deft/planning/search_tree.hpp"

#include "deft/planning/rollout_tree.hpp"
#include "deft/planning/single_step_rrt.hpp"

namespace deft::planning {

int SearchTree::add(Node node) {
  nodes_.push_back(std::move(node));
  const auto added = static_cast<int>(nodes_.size()) - 1;
  if (nodes_.back().distance < nodes_[static_cast<std::size_t>(best_node_)].distance) best_node_ = added;
  return added;
}

std::unique_ptr<SearchTree> make_search_tree(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q,
                                             const Eigen::VectorXd& u, std::uint64_t seed) {
  if (scene.spec().plan.search == scene::Search::kSingleStep)
    return std::make_unique<SingleStepRrt>(scene, goal, q, u, seed);
  return std::make_unique<RolloutTree>(scene, goal, q, u, seed);
}

}  // namespace deft::planning
