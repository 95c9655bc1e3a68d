#pragma once
// A tree whose edges are plans made in one world and carried out in all worlds of an ensemble (README.md).

#include <memory>
#include <span>
#include <vector>

#include "deft/planning/search/search_context.hpp"
#include "deft/planning/search/search_tree.hpp"

namespace deft::planning {

/// How the plans of one world are made.
struct SinglePlans {
  scene::Scene scene;  // of planning_scene
  Goal aim;            // the goal with the tolerances that they meet
  Ensemble ensemble;   // without worlds: how fast and how firmly
  int nodes = 60;      // roll-outs that one may take
};

/// A search for plans that hold. A node is the state of all worlds of an ensemble after the same commands. To grow it,
/// one of the worlds is taken for the truth, a RolloutTree with exact steps of length h looks for a plan from there to
/// the goal, and all worlds carry out its commands, resting after each of its roll-outs; each roll-out ends in a node.
/// Making a plan in one world costs a hundredth of making it in all at once; plans for a world that lies apart bring
/// the worlds together. Growths are independent; choices and additions happen in order.
class EnsembleTree final : public SearchTree {
 public:
  /// @param scene  of planning_scene. @param goal  to be met in all worlds. @param root  with a state for each world of
  /// `ensemble`. @param plans  ways to make those of one world, at least one; one is drawn for each growth. All but
  /// `root` must outlive this object.
  /// @throws InputError as RolloutTree.
  EnsembleTree(const scene::Scene& scene, const Goal& goal, const Instant& root, std::uint64_t seed,
               const Ensemble& ensemble, std::span<const SinglePlans> plans);
  ~EnsembleTree() override;

  SearchEnd search(const SearchLimits& limits) override;
  void correct(const Plan& plan, const std::vector<Instant>& at) override;

 private:
  long solves_here() const override;
  struct Worker;
  struct Growth;
  int choose(const SearchLimits& limits, std::uint64_t item) const;
  void append(int parent, Growth& growth, double time_s);
  /// What lies at the start without rest comes to rest before anything else.
  void settle();

  const scene::Scene* scene_;
  const Goal* goal_;
  std::span<const SinglePlans> plans_;
  std::uint64_t seed_;
  double cost_limit_s_ = 1e300;  // of the search at hand
  int first_ = 0;                // node from which everything grows: where the start has come to rest
  SearchContext shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace deft::planning
