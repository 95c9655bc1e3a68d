#pragma once
// A tree whose edges are greedy roll-outs with regrasps between them (README.md).

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "deft/planning/goal.hpp"
#include "deft/planning/plan.hpp"
#include "deft/scene/scene.hpp"

namespace deft::planning {

/// How far a search may go.
struct SearchLimits {
  int nodes = 1000;             // roll-outs tried
  double time_limit_s = 60;     // looked at between batches; a search that it ends is not reproducible
  double cost_limit_s = 1e300;  // paths that cost more are not continued
  double regrasp_weight = 0;    // [m] per regrasp, in the choice of nodes
  int threads = 0;              // 0: one per core
  std::stop_token stop{};
  std::function<void(int tried, double distance)> on_progress{};  // after each batch: roll-outs tried, nearest [m]
};

/// Why a search ended.
enum class SearchEnd { kFound, kNodes, kTime, kStopped };

/// The rollout tree. Batches of nodes are chosen in order and grown in parallel, each with random numbers of its own
/// and steps without memory of others, so that the tree is the same for any number of threads.
class RolloutTree {
 public:
  /// @param scene  of planning_scene. @param q, u  the root's configuration and command.
  RolloutTree(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q, const Eigen::VectorXd& u,
              std::uint64_t seed);
  ~RolloutTree();

  /// Grows until a node holds the goal or a limit is met; may be called again.
  SearchEnd search(const SearchLimits& limits);
  const std::vector<Node>& nodes() const { return nodes_; }
  /// The node that holds the goal, −1 if there is none yet.
  int goal_node() const { return goal_node_; }
  /// Goes on as if the goal's node did not hold it.
  void reject_goal() { goal_node_ = -1; }
  /// The nearest node.
  int best_node() const;
  int tried() const { return tried_; }
  /// Steps taken by all threads, exact and smoothed.
  long solves() const;

 private:
  struct Worker;
  struct Growth;
  int choose(const SearchLimits& limits, std::uint64_t item) const;
  void append(int parent, Growth& growth, double time_s);

  const scene::Scene* scene_;
  const Goal* goal_;
  std::uint64_t seed_;
  struct Shared;
  std::unique_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Node> nodes_;
  int goal_node_ = -1;
  int tried_ = 0;
};

}  // namespace deft::planning
