#pragma once
// A tree whose edges are greedy roll-outs with regrasps between them (README.md).

#include <memory>
#include <vector>

#include "deft/planning/search_tools.hpp"
#include "deft/planning/search_tree.hpp"

namespace deft::planning {

/// The rollout tree.
class RolloutTree final : public SearchTree {
 public:
  /// @param scene  of planning_scene. @param q, u  the root's configuration and command.
  RolloutTree(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q, const Eigen::VectorXd& u,
              std::uint64_t seed);
  ~RolloutTree() override;

  SearchEnd search(const SearchLimits& limits) override;
  /// Grows from the root what becomes of a plan that was made with other steps: the grasps that it takes, reached anew,
  /// and after each a roll-out to where its objects were then; until a transfer fails or time is up. To be called once,
  /// at first.
  void retrace(const Plan& plan, const SearchLimits& limits);
  void correct(const Plan& plan) override;

 private:
  long solves_here() const override;
  struct Worker;
  struct Growth;
  int choose(const SearchLimits& limits, std::uint64_t item) const;
  void append(int parent, Growth& growth, double time_s);

  const scene::Scene* scene_;
  const Goal* goal_;
  std::uint64_t seed_;
  SearchGround ground_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace deft::planning
