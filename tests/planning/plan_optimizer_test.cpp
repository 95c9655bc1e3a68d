// Plans improved segment by segment.

#include "deft/planning/plan_optimizer.hpp"

#include <gtest/gtest.h>

#include "deft/planning/ensemble.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/planner.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace plan_optimizer_test {

using Eigen::VectorXd;

scene::Scene pushing_a_little(const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings{"plan.judges=[h, h/2, h/5, second-order, worlds]", "goals.down.box.z=0.3",
                                    "plan.first=true", "optimize.time_limit_s=1e6"};
  settings.insert(settings.end(), more.begin(), more.end());
  return test::load_planning("planar_pushing", settings);
}

TEST(PlanOptimizer, NeverMakesAPlanWorseAndSaysWhatItFound) {
  const scene::Scene scene = pushing_a_little();
  const scene::GoalSpec& goal = scene.spec().goals.front();
  const Plan given = make_plan(scene, goal, {.seed = 1, .threads = 1}).plan;
  ASSERT_TRUE(given.success);
  int passes = 0;
  PlanOptimizerOptions options{.seed = 1, .threads = 1};
  options.stop = [&passes] { return passes > 3; };
  options.on_segment = [&passes](int pass, int, double, double) { passes = pass; };
  const PlanOptimizerResult result = optimize_plan(scene, goal, given, options);
  EXPECT_LE(result.cost, result.cost_before);
  EXPECT_FALSE(result.held_before);
  EXPECT_FALSE(result.before.empty());
  EXPECT_FALSE(result.passes.empty());
  for (const OptimizerPass& pass : result.passes) EXPECT_GE(pass.cost, 0);
  EXPECT_TRUE(result.plan.holds());
  // Segments and nodes cover it.
  int at = 0;
  for (const Segment& segment : result.plan.segments) {
    EXPECT_EQ(segment.first, at);
    at = segment.last;
    ASSERT_GT(segment.node, 0);
    EXPECT_TRUE(result.nodes.at(static_cast<std::size_t>(segment.node)).q == result.plan.q[static_cast<std::size_t>(at)]);
  }
  EXPECT_EQ(at, static_cast<int>(result.plan.commands.size()));
  // Commands keep to the limits of speed and of the joints.
  const scene::Scene exact = planning_scene(scene);
  const VectorXd longest = longest_steps(exact, result.plan.h, 1);
  const VectorXd* before = &result.plan.u_start;
  for (const VectorXd& u : result.plan.commands) {
    EXPECT_TRUE(((u - *before).cwiseAbs().array() <= longest.array() + 1e-9).all());
    before = &u;
  }
  // Judges that see it for the first time agree.
  const Goal measure(exact, goal, exact.settings().plan.wrap_angles);
  Judges judges(exact, measure, 1, 1);
  for (const Verdict& verdict : judges(result.plan.q.front(), result.plan.u_start, result.plan.commands))
    EXPECT_TRUE(verdict.success) << verdict.judge;
}

TEST(PlanOptimizer, LeavesAPlanThatHoldsAsItIs) {
  // At the goal already: no commands, every judge agrees.
  const scene::Scene scene = pushing_a_little({"goals.down.box.z=0.5", "goals.down.tolerance.position=0.02"});
  const scene::GoalSpec& goal = scene.spec().goals.front();
  const Plan given = make_plan(scene, goal, {.seed = 1, .threads = 1}).plan;
  ASSERT_TRUE(given.success);
  const PlanOptimizerResult result = optimize_plan(scene, goal, given, {.seed = 1, .threads = 1});
  EXPECT_TRUE(result.held_before);
  EXPECT_TRUE(result.passes.empty());
  EXPECT_TRUE(result.plan.commands == given.commands);
}

TEST(PlanOptimizer, StopsWhenItIsTold) {
  const scene::Scene scene = pushing_a_little();
  const scene::GoalSpec& goal = scene.spec().goals.front();
  const Plan given = make_plan(scene, goal, {.seed = 1, .threads = 1}).plan;
  PlanOptimizerOptions options{.seed = 1, .threads = 1};
  options.stop = [] { return true; };
  const PlanOptimizerResult result = optimize_plan(scene, goal, given, options);
  EXPECT_TRUE(result.plan.commands == given.commands);
  EXPECT_EQ(result.cost, result.cost_before);
}

}  // namespace plan_optimizer_test
}  // namespace deft::planning
