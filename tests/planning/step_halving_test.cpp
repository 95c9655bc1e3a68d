// Plans that pass the step-halving check: they hold under shorter steps too.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/planner.hpp"
#include "deft/planning/search/rollout_tree.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace step_halving_test {

using Eigen::Vector2d;
using Eigen::VectorXd;

const char* const kStepHalving = "plan.refine=[2, 5]";

TEST(PlanningSteps, AdvanceWithEveryStepAsASceneWithThatStepWould) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing", {kStepHalving}));
  PlanningSteps steps(scene);
  ASSERT_TRUE(steps.has_worlds());
  const VectorXd q = scene.initial_configuration();
  const Instant start = start_instant(halved_ensemble(scene), q, joint_positions(scene, q));
  ASSERT_EQ(start.q_worlds.size(), 2u);
  const VectorXd u = start.u + Vector2d(0.05, 0.3);  // into the box
  Instant end;
  ASSERT_TRUE(steps.advance(start, u, end));
  EXPECT_TRUE(end.u == u);

  for (const std::size_t i : {0u, 1u, 2u}) {
    const int substeps = std::array{1, 2, 5}[i];
    const scene::Scene fine =
        planning_scene(test::load_planning("planar_pushing", {"step.h=" + std::to_string(0.1 / substeps)}));
    PlanningSteps alone(fine);
    EXPECT_FALSE(alone.has_worlds());
    VectorXd at = q, next;
    for (int k = 1; k <= substeps; ++k) {
      ASSERT_TRUE(alone.step(at, start.u + (u - start.u) * k / substeps, next));
      at = next;
    }
    const VectorXd& other = i == 0 ? end.q : end.q_worlds[i - 1];
    EXPECT_LT((other - at).norm(), 1e-9) << "h / " << substeps;
    EXPECT_GT((other - q).norm(), 0.01);
  }
}

/// Where the box is after one push, per step length.
std::vector<VectorXd> after_a_push(bool rests) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing", {kStepHalving}));
  PlanningSteps steps(scene);
  const VectorXd q = scene.initial_configuration();
  Motion motion{start_instant(halved_ensemble(scene), q, joint_positions(scene, q)), {}};
  for (int k = 1; k <= 6; ++k) {
    Instant next;
    EXPECT_TRUE(steps.advance(motion, motion.u + Vector2d(0.01, 0.08), next));
    static_cast<Instant&>(motion) = next;
    if (rests) {
      EXPECT_TRUE(steps.rest(motion));
    }
  }
  return {motion.q, motion.q_worlds[0], motion.q_worlds[1]};
}

TEST(PlanningSteps, PushesThatEndAtRestEndAtTheSamePlaceWhateverTheStep) {
  const scene::Scene scene = test::load_planning("planar_pushing");
  const std::vector<VectorXd> moving = after_a_push(false), resting = after_a_push(true);
  for (const std::size_t i : {1u, 2u}) {
    // The damper M/h of an object in motion is its step's.
    EXPECT_GT(object_motion(scene, moving[0], moving[i]), 0.05);
    EXPECT_LT(object_motion(scene, resting[0], resting[i]), 0.005);
  }
}

TEST(CheckPlan, SimulatesWithShorterStepsToo) {
  const scene::Scene scene = test::load_planning("planar_pushing", {kStepHalving}),
                     coarse = planning_scene(test::load_planning("planar_pushing"));
  const Goal goal(coarse, coarse.spec().goals.front(), true);
  const Plan found = make_plan(coarse, coarse.spec().goals.front(), {.seed = 4}).plan;
  ASSERT_TRUE(found.success && found.step_halving.empty() && found.holds());
  const Plan checked =
      check_plan(planning_scene(scene), goal, coarse.initial_configuration(), found.commands, found.segments);
  EXPECT_TRUE(checked.success);
  EXPECT_FALSE(checked.holds());  // a plan found at h alone
  ASSERT_EQ(checked.step_halving.size(), 2u);
  for (const StepHalvingCheck& run : checked.step_halving) {
    EXPECT_EQ(run.q.size(), found.commands.size() + 1);
    EXPECT_FALSE(run.success);
    EXPECT_GT(run.error.position_m + run.error.rotation_rad, 0.01);
  }
}

TEST(RolloutTree, RetracesAPlanByItsGrasps) {
  const scene::Scene coarse = planning_scene(test::load_planning("planar_pushing")),
                     scene = planning_scene(test::load_planning("planar_pushing", {kStepHalving}));
  const Goal goal(scene, scene.spec().goals.front(), true);
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  const Plan plan = make_plan(coarse, coarse.spec().goals.front(), {.seed = 4}).plan;
  ASSERT_TRUE(plan.success);
  RolloutTree tree(scene, goal, q, u, 4);
  tree.retrace(plan, 0, {});
  const std::vector<Node>& nodes = tree.nodes();
  ASSERT_GE(nodes.size(), 5u);
  PlanningSteps steps(scene);
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const Node& parent = nodes[nodes[i].parent];
    Instant at{parent.q, parent.u, parent.q_worlds, parent.v_worlds}, next;
    for (const VectorXd& command : nodes[i].commands) {
      ASSERT_TRUE(steps.advance(at, command, next));
      at = next;
    }
    EXPECT_LT((at.q - nodes[i].q).norm(), 1e-6);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_LT((at.q_worlds[k] - nodes[i].q_worlds[k]).norm(), 1e-6);
  }
  // Every grasp is one of the plan's.
  int grasps = 0;
  for (const Node& node : nodes) {
    if (node.kind != NodeKind::kTransit) continue;
    ++grasps;
    EXPECT_TRUE(std::any_of(plan.segments.begin(), plan.segments.end(), [&](const Segment& segment) {
      const VectorXd& planned = plan.q[segment.last];
      const VectorXd missing = joint_positions(scene, node.q) - joint_positions(scene, planned);
      return segment.transit && missing.cwiseAbs().maxCoeff() <= 0.02;
    }));
  }
  EXPECT_GE(grasps, 2);
}

TEST(RolloutTree, LeavesOutNeedlessGraspsOfAPlanThatItRetraces) {
  // The plan with each of its legs twice, as if the first had been in vain: from where the second begins, it is tried
  // too.
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing"));
  const Goal goal(scene, scene.spec().goals.front(), true);
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  const Plan plan = make_plan(scene, scene.spec().goals.front(), {.seed = 4}).plan;
  ASSERT_TRUE(plan.success);
  Plan twice = plan;
  twice.segments.clear();
  twice.commands.clear();
  twice.q.assign(1, plan.q.front());
  for (std::size_t s = 0; s < plan.segments.size();) {
    // A leg: the transit, and all up to the next one.
    std::size_t end = s + 1;
    while (end < plan.segments.size() && !plan.segments[end].transit) ++end;
    for (const bool in_vain : {true, false}) {
      for (std::size_t k = s; k < end; ++k) {
        const Segment& old = plan.segments[k];
        const auto first = static_cast<int>(twice.commands.size());
        for (int step = old.first; step < old.last; ++step) {
          twice.commands.push_back(plan.commands[step]);
          twice.q.push_back(plan.q[in_vain ? plan.segments[s].first : step + 1]);
        }
        twice.segments.push_back({first, first + old.last - old.first, old.transit});
      }
    }
    s = end;
  }
  RolloutTree tree(scene, goal, q, u, 4);
  tree.retrace(twice, 0, {.regrasp_weight = 0.03});
  int most = 0;
  for (const Node& node : tree.nodes()) most = std::max(most, node.regrasps);
  EXPECT_LE(most, plan.regrasps + 1);
  EXPECT_GE(most, 1);
}

TEST(Planner, ImprovesPlansUnderEveryStepLength) {
  const scene::Scene scene = test::load_planning(
      "planar_pushing", {kStepHalving, "plan.improve_s=1e6", "plan.nodes=300", "goals.down.box.z=0.3"});
  std::vector<Plan> plans;
  PlannerOptions options{.seed = 2, .threads = 1};
  options.on_plan = [&](const Plan& plan, const auto&) {
    if (!plan.step_halving.empty()) plans.push_back(plan);
  };
  const PlannerResult result = make_plan(scene, scene.spec().goals.front(), options);
  ASSERT_GE(plans.size(), 2u);
  for (std::size_t k = 0; k < plans.size(); ++k) {
    EXPECT_TRUE(plans[k].holds());
    if (k > 0) {
      EXPECT_LT(plans[k].cost_s, plans[k - 1].cost_s);
    }
  }
  EXPECT_EQ(result.plan.commands, plans.back().commands);
  EXPECT_LE(result.plan.regrasps, plans.front().regrasps);
  // Its check can be repeated, and its segments are nodes of the tree.
  const Goal goal(scene, scene.spec().goals.front(), true);
  EXPECT_TRUE(check_plan(planning_scene(scene), goal, scene.initial_configuration(), result.plan.commands, {}).holds());
  for (const Segment& segment : result.plan.segments) {
    const Node& node = result.nodes.at(segment.node);
    EXPECT_LT((node.q - result.plan.q[segment.last]).norm(), 1e-6);
    ASSERT_EQ(node.q_worlds.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_LT((node.q_worlds[i] - result.plan.step_halving[i].q[segment.last]).norm(), 1e-6);
  }
}

struct NearGoal {
  const char* scene;
  std::vector<std::string> settings;
};
class StepHalving : public testing::TestWithParam<NearGoal> {};

TEST_P(StepHalving, PlansHoldUnderEveryStepLength) {
  std::vector<std::string> settings = GetParam().settings;
  settings.emplace_back(kStepHalving);
  const scene::Scene scene = test::load_planning(GetParam().scene, settings);
  const PlannerResult result = make_plan(scene, scene.spec().goals.front(), {.seed = 1, .threads = 1});
  ASSERT_TRUE(result.plan.success && result.plan.holds());
  ASSERT_EQ(result.plan.step_halving.size(), 2u);
  const scene::GoalSpec& asked = scene.spec().goals.front();
  for (const StepHalvingCheck& run : result.plan.step_halving) {
    EXPECT_LE(run.error.position_m, asked.tolerance_position_m);
    EXPECT_LE(run.error.rotation_rad, asked.tolerance_rotation_rad);
  }
  // Its segments cover it, and lead through the tree.
  int at = 0;
  for (const Segment& segment : result.plan.segments) {
    EXPECT_EQ(segment.first, at);
    at = segment.last;
    ASSERT_TRUE(segment.node > 0 && segment.node < static_cast<int>(result.nodes.size()));
    const VectorXd& q = result.nodes[segment.node].q;
    EXPECT_LT((q - result.plan.q[at]).norm(), 1e-6);
  }
  EXPECT_EQ(at, static_cast<int>(result.plan.commands.size()));
  // The same with two threads.
  EXPECT_TRUE(result.plan.commands ==
              make_plan(scene, scene.spec().goals.front(), {.seed = 1, .threads = 2}).plan.commands);
}

INSTANTIATE_TEST_SUITE_P(Planning, StepHalving,
                         testing::Values(NearGoal{"planar_pushing",
                                                  {"goals.down.box.z=0.7", "goals.down.box.theta=-0.2"}},
                                         NearGoal{"planar_hand", {"goals.half_turn.ball.theta=0.4"}}),
                         [](const auto& param) { return std::string(param.param.scene); });

}  // namespace step_halving_test
}  // namespace deft::planning
