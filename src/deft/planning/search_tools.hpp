#pragma once
// What every search grows its nodes with.

#include <cstdint>
#include <optional>
#include <vector>

#include "deft/planning/contact_sampler.hpp"
#include "deft/planning/greedy_rollout.hpp"
#include "deft/planning/published_sampler.hpp"
#include "deft/planning/transfer.hpp"

namespace deft::planning {

/// Random numbers of the `item`-th choice of a search, and those of the growth that follows from it.
inline Draw choice_draw(std::uint64_t seed, std::uint64_t item) { return {seed, 2 * item}; }
inline Draw growth_draw(std::uint64_t seed, std::uint64_t item) { return {seed, 2 * item + 1}; }

/// What the threads of a search share; immutable.
struct SearchGround {
  Hand hand;
  ContactSampler sampler;
  SearchGround(const scene::Scene& scene, const Goal& goal) : hand(scene, goal), sampler(scene, hand) {}
};

/// What each of its threads has for itself.
struct SearchTools {
  PlanningSteps steps;
  Proximity proximity;
  Transfer transfer;
  GreedyRollout rollout;
  const SearchGround* ground;
  const Goal* goal;
  std::optional<PublishedSampler> published;  // if plan.sampler names one

  SearchTools(const scene::Scene& scene, const Goal& its_goal, const SearchGround& its_ground)
      : steps(scene),
        proximity(scene),
        transfer(its_ground.hand, steps, proximity),
        rollout(its_goal, its_ground.hand, steps),
        ground(&its_ground),
        goal(&its_goal) {
    if (scene.spec().plan.sampler != scene::Sampler::kSurface) published.emplace(scene, its_ground.hand);
  }

  /// The fingers of the next regrasp; all of them if the sampler is a published one.
  std::vector<int> choose_fingers(Draw& draw) const {
    return published ? ground->hand.all_fingers() : ground->sampler.choose_fingers(draw);
  }
  /// A grasp of the objects as they lie in q by these fingers, if one is found; `pinches` is for ContactSampler.
  std::optional<Grasp> sample(const Eigen::VectorXd& q, const std::vector<int>& fingers, Draw& draw,
                              bool pinches = false) {
    return published ? published->sample(q, draw, proximity)
                     : ground->sampler.sample(q, fingers, draw, proximity, pinches);
  }
};

}  // namespace deft::planning
