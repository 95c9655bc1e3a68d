// Stops and limits of time end a search within a batch, and leave the tree of the batches before.

#include "deft/planning/feasibility/deadline.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/search/search_tree.hpp"
#include "planning/planning_scenes.hpp"
#include "planning/tree_equality.hpp"

namespace deft::planning {
namespace deadline_test {

using Eigen::VectorXd;

TEST(Deadline, StaysDueUntilItIsSetAgain) {
  RunClock clock;
  Deadline deadline;
  EXPECT_FALSE(deadline.due());
  bool stopped = true;
  const std::function<bool()> stop = [&] { return stopped; }, none;
  deadline.set(clock, 1e9, stop);
  EXPECT_FALSE(deadline.was_due());  // nobody asked
  EXPECT_TRUE(deadline.due());
  stopped = false;
  EXPECT_TRUE(deadline.due() && deadline.was_due());
  deadline.set(clock, 1e9, stop);
  EXPECT_FALSE(deadline.due() || deadline.was_due());
  deadline.set(clock, -1, none);
  EXPECT_TRUE(deadline.due());
  deadline.clear();
  EXPECT_FALSE(deadline.due() || deadline.was_due());
}

TEST(PlanningSteps, TakeNoStepOnceTheyAreOver) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing", {"plan.refine=[2]"}));
  RunClock clock;
  Deadline deadline;
  PlanningSteps steps(scene, &deadline);
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  const Instant start = start_instant(halved_ensemble(scene), q, u);
  Instant next;
  ASSERT_TRUE(steps.advance(start, u, next));
  const long before = steps.solves();
  const std::function<bool()> stop = [] { return true; };
  deadline.set(clock, 1e9, stop);
  VectorXd q_next;
  Eigen::MatrixXd B;
  Motion motion{start, {}};
  EXPECT_TRUE(steps.is_over());
  EXPECT_FALSE(steps.advance(start, u, next) || steps.rest(motion) || steps.step(q, u, q_next) ||
               steps.linearize(q, u, 100, q_next, B));
  EXPECT_EQ(steps.solves(), before);
}

struct Search {
  const char *name, *scene;
  std::vector<std::string> settings;
};
class CutShort : public testing::TestWithParam<Search> {};

TEST_P(CutShort, LeavesTheTreeOfTheBatchesBefore) {
  const scene::Scene scene = planning_scene(test::load_planning(GetParam().scene, GetParam().settings));
  const Goal goal(scene, scene.spec().goals.front(), false);
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  const auto sapling = [&] { return make_search_tree(scene, goal, q, u, 3); };
  int within = 0;  // a batch
  for (const int questions : {0, 1, 60, 500, 1001, 2003}) {
    for (const int threads : {1, 2}) {
      std::atomic<int> asked = 0;
      const auto tree = sapling(), whole = sapling();
      const auto stop = [&] { return ++asked > questions; };
      ASSERT_EQ(tree->search({.nodes = 1000, .threads = threads, .past_goal = true, .stop = stop}),
                SearchEnd::kStopped);
      EXPECT_LE(tree->solves(), questions + threads);  // none without a question, none after the answer
      EXPECT_EQ(tree->tried() % scene.settings().plan.batch, 0);
      whole->search({.nodes = tree->tried(), .threads = 1, .past_goal = true});
      test::expect_equal(tree->nodes(), whole->nodes());
      within += tree->solves() > whole->solves();
      // It goes on as if nothing had been.
      tree->search({.nodes = 40, .threads = threads, .past_goal = true});
      whole->search({.nodes = 40, .threads = 1, .past_goal = true});
      test::expect_equal(tree->nodes(), whole->nodes());
      EXPECT_EQ(tree->goal_node(), whole->goal_node());
    }
  }
  EXPECT_GE(within, 6);
}

TEST_P(CutShort, LeavesTheSameTreeWhenTimeIsUp) {
  const scene::Scene scene = planning_scene(test::load_planning(GetParam().scene, GetParam().settings));
  const Goal goal(scene, scene.spec().goals.front(), false);
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  const auto tree = make_search_tree(scene, goal, q, u, 3), whole = make_search_tree(scene, goal, q, u, 3);
  ASSERT_EQ(tree->search({.nodes = 1'000'000, .time_limit_s = 0.05, .threads = 2, .past_goal = true}),
            SearchEnd::kTime);
  EXPECT_EQ(tree->tried() % scene.settings().plan.batch, 0);
  whole->search({.nodes = tree->tried(), .threads = 1, .past_goal = true});
  test::expect_equal(tree->nodes(), whole->nodes());
}

INSTANTIATE_TEST_SUITE_P(Searches, CutShort,
                         testing::Values(Search{"rollout", "planar_pushing", {}},
                                         Search{"step_halving", "planar_pushing", {"plan.refine=[2]"}},
                                         Search{"under_gravity", "allegro_ball", {}},
                                         Search{
                                             "single_step",
                                             "planar_pushing",
                                             {"plan.search=single-step", "plan.goal_bias=0.3", "plan.goal_once=true"}}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace deadline_test
}  // namespace deft::planning
