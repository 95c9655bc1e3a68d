#pragma once
// What every search grows its nodes with.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "deft/dynamics/batch/batch.hpp"
#include "deft/planning/grasps/baseline_sampler.hpp"
#include "deft/planning/grasps/contact_sampler.hpp"
#include "deft/planning/grasps/transit.hpp"
#include "deft/planning/search/greedy_rollout.hpp"

namespace deft::planning {

/// Random numbers of the `item`-th choice of a search.
inline RandomStream choice_draw(std::uint64_t seed, std::uint64_t item) { return {seed, 2 * item}; }
/// Random numbers of the growth that follows from the `item`-th choice.
inline RandomStream growth_draw(std::uint64_t seed, std::uint64_t item) { return {seed, 2 * item + 1}; }

/// What the threads of a search share; immutable.
struct SearchContext {
  Hand hand;                 // fingers, surfaces, limits
  ContactSampler sampler;    // grasps from the scene alone
  const Deadline* deadline;  // of the batch that is grown
  const Ensemble* ensemble;  // worlds beside the scene; none: those of settings.refine
  /// @param scene  of planning_scene; must outlive this object, as `its_deadline` and `its_ensemble`. @throws
  /// InputError as Hand.
  SearchContext(const scene::Scene& scene, const Goal& goal, const Deadline& its_deadline,
                const Ensemble* its_ensemble = nullptr)
      : hand(scene, goal), sampler(scene, hand), deadline(&its_deadline), ensemble(its_ensemble) {}
};

/// What each of its threads has for itself.
struct WorkerContext {
  PlanningSteps steps;                      // exact and smoothed
  Proximity proximity;                      // gaps about the hand
  Transit transit;                          // motions between grasps, by `steps` and `proximity`
  GreedyRollout rollout;                    // by `steps`
  const SearchContext* shared;              // what it shares with other threads
  const Goal* goal;                         // of the search
  std::optional<BaselineSampler> baseline;  // if plan.sampler names one

  /// All arguments must outlive this object. @throws InputError as PlanningSteps and BaselineSampler.
  WorkerContext(const scene::Scene& scene, const Goal& its_goal, const SearchContext& its_shared)
      : steps(scene, its_shared.deadline, its_shared.ensemble),
        proximity(scene),
        transit(its_shared.hand, steps, proximity),
        rollout(its_goal, its_shared.hand, steps),
        shared(&its_shared),
        goal(&its_goal) {
    if (scene.settings().plan.sampler != scene::Sampler::kSurface)
      baseline.emplace(scene, its_shared.hand, its_shared.deadline);
  }

  /// The fingers of the next regrasp; all of them with a sampler of the baseline.
  std::vector<int> choose_fingers(RandomStream& draw) const {
    return baseline ? shared->hand.all_fingers() : shared->sampler.choose_fingers(draw);
  }
  /// What a grasp of these fingers may move, once they have let go in q; all of them with a sampler of the baseline.
  std::vector<char> choose_moves(const Eigen::VectorXd& q, const std::vector<int>& fingers, RandomStream& draw) {
    return baseline ? shared->hand.commands_of(fingers) : shared->sampler.choose_moves(q, fingers, draw, proximity);
  }
  /// A grasp of the objects as they lie in q by these fingers, if one is found; `moves` and `pinches` are for
  /// ContactSampler.
  std::optional<Grasp> sample(const Eigen::VectorXd& q, const std::vector<int>& fingers, const std::vector<char>& moves,
                              RandomStream& draw, bool pinches = false) {
    return baseline ? baseline->sample(q, draw, proximity)
                    : shared->sampler.sample(q, fingers, moves, draw, proximity, pinches);
  }
};

/// Adds tools until every thread of a search has some: `threads` as in SearchLimits, but no more than a batch has work
/// for. @returns how many threads there are.
template <typename Tools>
int equip(int threads, const scene::Scene& scene, const Goal& goal, const SearchContext& shared,
          std::vector<std::unique_ptr<Tools>>& workers) {
  const int count = std::min(dynamics::thread_count(threads), scene.settings().plan.batch);
  while (static_cast<int>(workers.size()) < count) workers.push_back(std::make_unique<Tools>(scene, goal, shared));
  return count;
}

}  // namespace deft::planning
