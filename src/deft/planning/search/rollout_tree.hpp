#pragma once
// A tree whose edges are greedy roll-outs with regrasps between them (README.md).

#include <memory>
#include <vector>

#include "deft/planning/search/search_context.hpp"
#include "deft/planning/search/search_tree.hpp"

namespace deft::planning {

/// The tree of the search `rollout`. Its growths are independent; choices and additions happen in order.
class RolloutTree final : public SearchTree {
 public:
  /// @param scene  of planning_scene; must outlive this object, as `goal`. @param q, u  the root's configuration and
  /// command. @throws InputError as Hand; `search` and `retrace` as PlanningSteps and BaselineSampler.
  RolloutTree(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q, const Eigen::VectorXd& u,
              std::uint64_t seed);
  /// The same from a point with a configuration for each world of the ensemble, which must outlive this object; none:
  /// the worlds of settings.refine.
  RolloutTree(const scene::Scene& scene, const Goal& goal, const Instant& root, std::uint64_t seed,
              const Ensemble* ensemble = nullptr);
  ~RolloutTree() override;

  /// Every growth from the root takes hold anew; otherwise the first goes on with what the root holds.
  void let_go_at_root() { nodes_.front().goes_on = -1; }
  SearchEnd search(const SearchLimits& limits) override;
  /// Grows from the root what becomes here of the rest of a plan, after its step `from`: the grasps that it takes,
  /// reached again, and after each a roll-out to where its objects were then. From a node settings.batch of them are
  /// tried: the next, and those later ones for which the objects lie best, so that needless ones are left out. The way
  /// goes on from the node with the least distance + limits.regrasp_weight · (grasps after it). To be called once, at
  /// first; then search goes on from all these nodes.
  void retrace(const Plan& plan, int from, const SearchLimits& limits);
  void correct(const Plan& plan, const std::vector<Instant>& at) override;

 private:
  long solves_here() const override;
  struct Worker;
  struct Growth;
  struct Batch;
  int choose(const SearchLimits& limits, std::uint64_t item) const;
  BatchParts parts_of(Batch& batch, std::function<void(int)> choose, std::function<void(int)> grow);
  int append(int parent, Growth& growth, double time_s);

  const scene::Scene* scene_;
  const Goal* goal_;
  std::uint64_t seed_;
  double cost_limit_s_ = 1e300;  // of the search at hand
  SearchContext shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace deft::planning
