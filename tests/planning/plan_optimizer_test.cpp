// Plans improved segment by segment.

#include "deft/planning/plan_optimizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/planning/ensemble.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/joint_limits.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/planner.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace plan_optimizer_test {

using Eigen::VectorXd;

scene::Scene pushing_a_little(const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings{"plan.judges=[h, h/2]",      "goals.down.box.z=0.3", "plan.first=true",
                                    "optimize.time_limit_s=1e6", "optimize.corners=0",   "optimize.iterations=3"};
  settings.insert(settings.end(), more.begin(), more.end());
  return test::load_planning("planar_pushing", settings);
}

Plan first_plan_of(const scene::Scene& scene) {
  return make_plan(scene, scene.spec().goals.front(), {.seed = 1, .threads = 1}).plan;
}

/// Until some segments were optimised, for a test ends by what was done and not by the clock.
PlanOptimizerResult optimize_segments(const scene::Scene& scene, const Plan& given, int segments, int threads) {
  int done = 0;
  PlanOptimizerOptions options{.seed = 1, .threads = threads};
  options.stop = [&done, segments] { return done >= segments; };
  options.on_segment = [&done](int, int, double, double) { ++done; };
  return optimize_plan(scene, scene.spec().goals.front(), given, options);
}

TEST(PlanOptimizer, NeverMakesAPlanWorseAndSaysWhatItFound) {
  const scene::Scene scene = pushing_a_little();
  const scene::GoalSpec& goal = scene.spec().goals.front();
  const Plan given = first_plan_of(scene);
  ASSERT_TRUE(given.success);
  const PlanOptimizerResult result = optimize_segments(scene, given, 3, 1);
  EXPECT_FALSE(result.held_before);
  EXPECT_FALSE(result.before.empty());
  EXPECT_FALSE(result.passes.empty());
  EXPECT_TRUE(result.holds || result.cost <= result.cost_before);
  EXPECT_TRUE(result.plan.success);
  EXPECT_EQ(result.holds, result.plan.holds());
  for (const OptimizerPass& pass : result.passes) EXPECT_GE(pass.cost, 0);
  // Segments and nodes cover it.
  int at = 0;
  for (const Segment& segment : result.plan.segments) {
    EXPECT_EQ(segment.first, at);
    at = segment.last;
    ASSERT_GT(segment.node, 0);
    EXPECT_TRUE(result.nodes.at(to_size(segment.node)).q == result.plan.q[to_size(at)]);
  }
  EXPECT_EQ(at, static_cast<int>(result.plan.commands.size()));
  // Judges that see it for the first time agree.
  const scene::Scene exact = planning_scene(scene);
  const Goal measure(exact, goal, exact.settings().plan.wrap_angles);
  Judges judges(exact, measure, 1, 1);
  const std::vector<Verdict> verdicts = judges(result.plan.q.front(), result.plan.u_start, result.plan.commands);
  ASSERT_EQ(verdicts.size(), result.plan.verdicts.size());
  for (std::size_t k = 0; k < verdicts.size(); ++k) {
    if (result.plan.verdicts[k].judged) {
      EXPECT_EQ(verdicts[k].success, result.plan.verdicts[k].success);
    }
  }
  // The same for any number of threads.
  EXPECT_TRUE(result.plan.commands == optimize_segments(scene, given, 3, 2).plan.commands);
}

TEST(PlanOptimizer, MakesAPlanThatKeepsToTheLimitsOfSpeed) {
  // A goal that a short push reaches: the plan that holds is another one, with slow commands.
  const scene::Scene scene = pushing_a_little({"goals.down.box.z=0.55", "goals.down.tolerance.position=0.02"});
  const Plan given = first_plan_of(scene);
  ASSERT_TRUE(given.success);
  const PlanOptimizerResult result = optimize_segments(scene, given, 20, 1);
  ASSERT_FALSE(result.held_before);  // or there is nothing to make
  ASSERT_TRUE(result.holds);
  const VectorXd longest = result.plan.h * joint_speeds(scene).free;
  const VectorXd* before = &result.plan.u_start;
  for (const VectorXd& u : result.plan.commands) {
    EXPECT_TRUE(((u - *before).cwiseAbs().array() <= longest.array() + 1e-9).all());
    before = &u;
  }
}

/// The longest change of a command [m] by which the optimiser moves the box on, 30 cm up, from a plan that all but
/// rests below it.
double longest_change_with(const std::string& speed_share) {
  const scene::Scene scene = pushing_a_little(
      {"goals.down.box.z=0.8", "configurations.start.hand={y: 0.02, z: -0.1}", "plan.slide_speed=0.4", speed_share});
  const scene::Scene exact = planning_scene(scene);
  const Goal goal(exact, scene.spec().goals.front(), exact.settings().plan.wrap_angles);
  const VectorXd q = exact.initial_configuration(), u = joint_positions(exact, q);
  const Plan given = check_plan(exact, goal, q, {u + Eigen::Vector2d(0, 0.001)}, {{0, 1, false}});
  EXPECT_FALSE(given.success);
  // After a segment it is told to stop, or after far more steps than that takes.
  int done = 0, asked = 0;
  PlanOptimizerOptions options{.seed = 1, .threads = 1};
  options.stop = [&done, &asked] { return done > 0 || ++asked > 50000; };
  options.on_segment = [&done](int, int, double, double) { ++done; };
  const PlanOptimizerResult result = optimize_plan(scene, scene.spec().goals.front(), given, options);
  EXPECT_GT(done, 0);
  EXPECT_LT(result.cost, 0.5 * result.cost_before);
  const Plan& plan = result.plan;
  EXPECT_EQ(plan.q.size(), plan.commands.size() + 1);
  double longest = 0;
  const VectorXd* before = &plan.u_start;
  for (std::size_t k = 0; k < plan.commands.size(); ++k) {
    const bool moves = object_motion(exact, plan.q[k], plan.q[k + 1]) > 1e-5;
    if (moves) longest = std::max(longest, (plan.commands[k] - *before).cwiseAbs().maxCoeff());
    before = &plan.commands[k];
  }
  return longest;
}

TEST(PlanOptimizer, MovesObjectsAtItsShareOfTheSpeed) {
  // share · 0.4 m/s · 0.1 s; ways that are longer are cut into as few steps as that allows, of more than half of it.
  const double slow = longest_change_with("optimize.speed_share=0.2"),
               fast = longest_change_with("optimize.speed_share=0.8");
  EXPECT_LE(slow, 0.2 * 0.4 * 0.1 + 1e-9);
  EXPECT_GT(slow, 0.5 * 0.2 * 0.4 * 0.1);
  EXPECT_LE(fast, 0.8 * 0.4 * 0.1 + 1e-9);
  EXPECT_GT(fast, 0.5 * 0.8 * 0.4 * 0.1);
}

TEST(PlanOptimizer, LeavesAPlanThatHoldsAsItIs) {
  // At the goal already: no commands, every judge agrees.
  const scene::Scene scene = pushing_a_little({"goals.down.box.z=0.5", "goals.down.tolerance.position=0.02"});
  const scene::GoalSpec& goal = scene.spec().goals.front();
  const Plan given = first_plan_of(scene);
  ASSERT_TRUE(given.success);
  const PlanOptimizerResult result = optimize_plan(scene, goal, given, {.seed = 1, .threads = 1});
  EXPECT_TRUE(result.held_before);
  EXPECT_TRUE(result.passes.empty());
  EXPECT_TRUE(result.plan.commands == given.commands);
}

TEST(PlanOptimizer, StopsWhenItIsTold) {
  const scene::Scene scene = pushing_a_little();
  const scene::GoalSpec& goal = scene.spec().goals.front();
  const Plan given = first_plan_of(scene);
  PlanOptimizerOptions options{.seed = 1, .threads = 1};
  options.stop = [] { return true; };
  const PlanOptimizerResult result = optimize_plan(scene, goal, given, options);
  EXPECT_TRUE(result.plan.commands == given.commands);
  EXPECT_EQ(result.cost, result.cost_before);
}

}  // namespace plan_optimizer_test
}  // namespace deft::planning
