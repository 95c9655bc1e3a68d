#pragma once
// Why a run of the planner has no plan, or none that holds, from what its searches count anyway.

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/plan.hpp"
#include "deft/planning/search/search_tree.hpp"

namespace deft::planning {

/// What the searches of one run met.
struct Tally {
  std::array<int, kGrowthEnds> ends{};  // how often tries ended so, by GrowthEnd
  std::map<std::string, int> refused;   // plans at h, by each judge that refused them
  int judged = 0;                       // plans at h that were judged to the end
  std::vector<FailedTry> failed;        // the first tries that came to nothing, SearchTree::kFailedTries of each end
  /// Adds the tries of a tree.
  void add(const SearchTree& tree);
  /// Adds what the judges said of a plan.
  void add(const std::vector<Verdict>& verdicts);
};

/// What became of a run of the planner, in one word: Solved; NotHolding: a plan that some judge refuses; else there is
/// none: Interrupted, TimeLimit, Impossible or NodeLimit. @param end  of the search for the first plan.
std::string_view status_word(const Plan& plan, SearchEnd end);

/// The causes in order of weight, heaviest first; none for a plan that holds. Tries that ended in the same way are one
/// cause, whose weight is their share of all tries; a judge's is the share of judged plans that it refused.
/// @param scene  of planning_scene. @param plan  the result: the nearest way, or a plan that some judge refuses.
/// @param end  of the last search.
std::vector<Reason> reasons_of(const scene::Scene& scene, const Goal& goal, const Plan& plan, const Tally& tally,
                               SearchEnd end);

}  // namespace deft::planning
