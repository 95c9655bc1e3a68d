// Why there is no plan: what the search counted, heaviest cause first.

#include "deft/planning/reasons.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "deft/planning/planner.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace reasons_test {

PlannerResult plan(const std::string& name, const std::vector<std::string>& settings) {
  const scene::Scene scene = test::load_planning(name, settings);
  return make_plan(scene, scene.spec().goals.front(), {.seed = 1, .threads = 1});
}

bool names(const std::vector<Reason>& reasons, const std::string& word) {
  return std::any_of(reasons.begin(), reasons.end(), [&](const Reason& reason) { return reason.reason == word; });
}

TEST(Reasons, ThereAreNoneForAPlan) { EXPECT_TRUE(plan("planar_pushing", {}).reasons.empty()); }

TEST(Reasons, AnObjectBeyondReachHasNoGrasp) {
  const PlannerResult result =
      plan("planar_hand", {"configurations.start.ball={y: 0, z: 0.85, theta: 0}", "plan.nodes=40",
                           "goals.half_turn.ball={y: 0, z: 0.85, theta: 3.14}"});
  ASSERT_FALSE(result.plan.success);
  ASSERT_FALSE(result.reasons.empty());
  EXPECT_EQ(result.reasons.front().reason, "no grasp");
  EXPECT_GT(result.reasons.front().weight, 0.5);
  // Too far for the fingers, and too near to be proven so.
  EXPECT_NE(result.reasons.front().detail.find(" m away"), std::string::npos);
  EXPECT_TRUE(names(result.reasons, "nodes"));
}

TEST(Reasons, AnObjectFarBeyondReachIsImpossible) {
  const PlannerResult result = plan("planar_hand", {"configurations.start.ball={y: 0, z: 3, theta: 0}",
                                                    "goals.half_turn.ball={y: 0, z: 3, theta: 3.14}"});
  EXPECT_EQ(result.end, SearchEnd::kImpossible);
  ASSERT_EQ(result.reasons.size(), 1u);
  EXPECT_EQ(result.reasons.front().reason, "impossible");
}

TEST(Reasons, AToleranceThatNothingMeetsStalls) {
  const PlannerResult result =
      plan("planar_pushing", {"goals.down.tolerance={position: 1e-12, rotation: 1e-12}", "plan.nodes=100"});
  ASSERT_FALSE(result.plan.success);
  const auto stall = std::find_if(result.reasons.begin(), result.reasons.end(),
                                  [](const Reason& reason) { return reason.reason == "stall"; });
  ASSERT_NE(stall, result.reasons.end());
  EXPECT_NE(stall->detail.find("box/"), std::string::npos);
  // Every try is counted once, and weights fall.
  EXPECT_EQ(std::accumulate(result.tally.ends.begin(), result.tally.ends.end(), 0), result.tried);
  for (std::size_t k = 1; k < result.reasons.size(); ++k)
    EXPECT_LE(result.reasons[k].weight, result.reasons[k - 1].weight);
}

TEST(Reasons, TimeThatIsOverBeforeAnythingWasTriedIsOne) {
  for (const char* search : {"plan.search=rollout", "plan.search=single-step"}) {
    const PlannerResult result = plan("planar_pushing", {search, "plan.first=true", "plan.time_limit_s=1e-9"});
    ASSERT_FALSE(result.plan.success);
    EXPECT_TRUE(names(result.reasons, "time")) << search;
  }
}

TEST(Reasons, JudgesThatRefuseSayWhereAndByHowMuch) {
  // Tolerances that few roll-outs meet in more than one world.
  const char* const kTight =
      "goals.down={box: {y: 0, z: -0.5, theta: 0}, tolerance: {position: 0.001, rotation: 0.003}}";
  const PlannerResult result = plan("planar_pushing", {"plan.judges=[h, h/5, second-order]", "plan.nodes=44", kTight});
  ASSERT_TRUE(result.plan.success);
  ASSERT_FALSE(result.plan.holds());
  EXPECT_EQ(result.reasons.front().reason, "judge");
  EXPECT_EQ(result.reasons.front().detail.substr(0, 5), "h/5: ");
  EXPECT_GE(result.tally.judged, 1);
}

}  // namespace reasons_test
}  // namespace deft::planning
