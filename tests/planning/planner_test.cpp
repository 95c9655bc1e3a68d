// Whole plans: they hold when somebody else simulates them, and they do not depend on the number of threads.

#include "deft/planning/planner.hpp"
#include "deft/core/index.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/search/rollout_tree.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace planner_test {

using Eigen::VectorXd;

class Plans : public testing::TestWithParam<const char*> {};

TEST_P(Plans, HoldInASimulationOfTheirCommandsAlone) {
  const scene::Scene scene = test::load_planning(GetParam());
  const PlannerResult result = make_plan(scene, scene.spec().goals.front(), {.seed = 3});
  ASSERT_TRUE(result.plan.success);
  // The scene's own model, with least-norm forces and its own warm starts.
  const auto model = dynamics::make_step_model(scene);
  const dynamics::State start = dynamics::initial_state(*model);
  dynamics::Trajectory motion = dynamics::start_trajectory(*model, start);
  const auto end = dynamics::rollout(*model, start,
                                     {static_cast<int>(result.plan.commands.size()), {}, result.plan.commands}, motion);
  ASSERT_TRUE(end.completed);
  const VectorXd q = Eigen::Map<const VectorXd>(motion.q.back().data(), scene.nq());
  EXPECT_TRUE(Goal(scene, scene.spec().goals.front(), scene.settings().plan.wrap_angles).reached(q));
  // Segments cover the plan.
  int at = 0;
  for (const Segment& segment : result.plan.segments) {
    EXPECT_EQ(segment.first, at);
    at = segment.last;
  }
  EXPECT_EQ(at, static_cast<int>(result.plan.commands.size()));
}

INSTANTIATE_TEST_SUITE_P(Scenes, Plans,
                         testing::Values("planar_pushing", "planar_hand", "ball_grazing", "allegro_ball",
                                         "planar_bimanual"),
                         [](const auto& param) { return std::string(param.param); });

/// How far the commands of a roll-out lead the joints at most.
double largest_lead(const scene::Scene& scene, const Plan& plan) {
  double lead = 0;
  for (const Segment& segment : plan.segments)
    for (int k = segment.first; k < segment.last; ++k)
      if (!segment.transit) {
        const auto step = to_size(k);
        const VectorXd joints = joint_positions(scene, plan.q[step]);
        // What a step before has stretched may stay.
        const VectorXd before = k == 0 ? plan.u_start : plan.commands[step - 1];
        const Eigen::ArrayXd beyond = (plan.commands[step] - joints).array().abs();
        const Eigen::ArrayXd was = (before - joints).array().abs();
        for (Eigen::Index i = 0; i < beyond.size(); ++i)
          if (beyond(i) > was(i) + 1e-12) lead = std::max(lead, beyond(i));
      }
  return lead;
}

TEST(RolloutCommands, LeadTheJointsNoFurtherThanAllowed) {
  for (const char* name : {"allegro_ball", "planar_hand"}) {
    const scene::Scene free = test::load_planning(name);
    const Plan pressing = make_plan(free, free.spec().goals.back(), {.seed = 2}).plan;
    ASSERT_TRUE(pressing.success);
    EXPECT_GT(largest_lead(free, pressing), 0.05) << name;
    const scene::Scene scene = test::load_planning(name, {"plan.max_target_offset=0.02", "plan.rollout_steps=200"});
    const Plan plan = make_plan(scene, scene.spec().goals.back(), {.seed = 2}).plan;
    ASSERT_TRUE(plan.success) << name;
    EXPECT_LE(largest_lead(scene, plan), 0.02 + 1e-12) << name;
  }
}

/// Everything of a tree but wall times.
bool same_tree(const std::vector<Node>& a, const std::vector<Node>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Node& x, const Node& y) {
    return x.parent == y.parent && x.kind == y.kind && x.q == y.q && x.u == y.u && x.commands == y.commands &&
           x.tries == y.tries && x.distance == y.distance && x.cost_s == y.cost_s;
  });
}

TEST(RolloutTree, IsTheSameForAnyNumberOfThreads) {
  for (const char* name : {"planar_pushing", "planar_hand", "allegro_ball"}) {
    const scene::Scene scene = planning_scene(test::load_planning(name));
    const Goal goal(scene, scene.spec().goals.front(), false);
    const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
    std::vector<Node> first;
    for (const int threads : {1, 2, 5}) {
      RolloutTree tree(scene, goal, q, u, 11);
      tree.search({.nodes = 48, .threads = threads});
      EXPECT_GT(tree.nodes().size(), 5u);
      if (threads == 1) first = tree.nodes();
      EXPECT_TRUE(same_tree(first, tree.nodes())) << name << ", " << threads << " threads";
    }
  }
}

TEST(RolloutTree, IsTheSameWhenTheSearchGoesOnInPieces) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing"));
  const Goal goal(scene, scene.spec().goals.front(), false);
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  RolloutTree whole(scene, goal, q, u, 5), pieces(scene, goal, q, u, 5);
  whole.search({.nodes = 40, .threads = 1});
  for (int k = 0; k < 10; ++k) pieces.search({.nodes = 4, .threads = 2});
  EXPECT_TRUE(same_tree(whole.nodes(), pieces.nodes()));
}

/// What a growth of a tree went out from, and what it could have gone out from.
struct Choice {
  Node chosen;
  std::vector<Node> nodes;
};

/// The choices of a tree that always takes the most promising node.
std::vector<Choice> choices_with(const std::string& tries_weight) {
  const scene::Scene scene = planning_scene(
      test::load_planning("planar_pushing", {"plan.tries_weight=" + tries_weight, "plan.greed=1", "plan.batch=1",
                                             "goals.down.tolerance={position: 0.00001, rotation: 0.00005}"}));
  const Goal goal(scene, scene.spec().goals.front(), true);
  const VectorXd q = scene.initial_configuration();
  RolloutTree tree(scene, goal, q, joint_positions(scene, q), 1);
  std::vector<Choice> choices;
  for (int k = 0; k < 24; ++k) {
    const std::vector<Node> before = tree.nodes();
    tree.search({.nodes = 1, .threads = 1, .past_goal = true});
    Choice choice;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].kind != NodeKind::kTransit) choice.nodes.push_back(before[i]);
      if (tree.nodes()[i].tries != before[i].tries) choice.chosen = before[i];
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

bool any_untried(const std::vector<Node>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.tries == 0; });
}

TEST(RolloutTree, TriesCountAgainstANodeByTheirWeight) {
  for (const char* weight : {"0", "0.5"}) {
    const double per_try = std::stod(weight);
    for (const Choice& choice : choices_with(weight)) {
      // The distance times 1 + weight · tries, and 1 % of that at the start per regrasp: README.md of the search.
      const auto score = [&](const Node& node) {
        const double distance = std::max({node.distance, node.released, 0.00001});
        return distance * (1 + per_try * node.tries) + 0.01 * choice.nodes.front().distance * node.regrasps;
      };
      for (const Node& node : choice.nodes) EXPECT_LE(score(choice.chosen), score(node) + 1e-12) << weight;
    }
  }
}

TEST(RolloutTree, WithoutAWeightOfTriesTheMostPromisingNodeIsTriedAgainAndAgain) {
  int most = 0, passed_over = 0;
  for (const Choice& choice : choices_with("0")) {
    most = std::max(most, choice.chosen.tries);
    passed_over += choice.chosen.tries > 0 && any_untried(choice.nodes);
  }
  EXPECT_GE(most, 5);
  EXPECT_GE(passed_over, 5);
}

TEST(RolloutTree, WithAHugeWeightOfTriesNoNodeIsTriedAgainBeforeAllOthers) {
  int fresh = 0;
  for (const Choice& choice : choices_with("1e9")) {
    EXPECT_EQ(choice.chosen.tries > 0, !any_untried(choice.nodes));
    fresh += choice.chosen.tries == 0;
  }
  EXPECT_GE(fresh, 10);
}

TEST(Plans, BeginWithTheCommandInForce) {
  const scene::Scene scene = test::load_planning("planar_hand", {"plan.step_norm=0.05"});
  const VectorXd q = scene.initial_configuration();
  const VectorXd u = joint_positions(scene, q) + VectorXd::Constant(scene.nu(), 0.1);
  const Plan plan = make_plan(scene, scene.spec().goals.front(), {.seed = 1, .u_start = u}).plan;
  ASSERT_TRUE(plan.success);
  EXPECT_EQ(plan.u_start, u);
  ASSERT_FALSE(plan.segments.front().transit);
  EXPECT_LE((plan.commands.front() - u).norm(), 0.05 + 1e-9);
  // The check repeats it from there.
  const Goal goal(scene, scene.spec().goals.front(), false);
  EXPECT_EQ(check_plan(planning_scene(scene), goal, q, plan.commands, plan.segments, u).q.back(), plan.q.back());
  EXPECT_THROW(make_plan(scene, scene.spec().goals.front(), {.u_start = VectorXd::Zero(1)}), std::invalid_argument);
}

TEST(CheckPlan, WantsTheGoalHeldAndNotPassedThrough) {
  // A ball that starts at its goal in mid-air is not there to stay.
  const scene::Scene scene =
      planning_scene(test::load_planning("allegro_ball", {"configurations.start.ball.position=[-0.081, 0.001, 0.3]",
                                                          "goals.half_turn.ball.position=[-0.081, 0.001, 0.3]",
                                                          "goals.half_turn.ball.rotation=!Identity {}"}));
  const Goal goal(scene, scene.spec().goals.front(), false);
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  EXPECT_TRUE(goal.reached(q));
  EXPECT_FALSE(check_plan(scene, goal, q, {}, {}).success);
  EXPECT_FALSE(check_plan(scene, goal, q, {u, u, u, u}, {{0, 4, false}}).success);
}

/// The points of a simulation at h alone.
std::vector<Instant> points_of(const Plan& plan) {
  std::vector<Instant> points;
  for (const VectorXd& q : plan.q) points.push_back({q, {}, {}, {}});
  return points;
}

/// A tree that has just found the goal of the pushing scene.
struct TreeAtItsGoal : testing::Test {
  void SetUp() override {
    ASSERT_EQ(tree.search({.nodes = 2000, .time_limit_s = 1e9, .threads = 1}), SearchEnd::kFound);
  }

  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing"));
  const Goal goal{scene, scene.spec().goals.front(), true};
  const VectorXd q = scene.initial_configuration();
  RolloutTree tree{scene, goal, q, joint_positions(scene, q), 2};
};

TEST_F(TreeAtItsGoal, GrowsNothingFromItOnceItWasRejected) {
  const int rejected = tree.goal_node();
  tree.reject_goal();
  EXPECT_NE(tree.best_node(), rejected);
  EXPECT_NE(tree.goal_node(), rejected);
  tree.search({.nodes = 40, .threads = 1, .past_goal = true});
  for (const Node& node : tree.nodes()) EXPECT_NE(node.parent, rejected);
}

TEST_F(TreeAtItsGoal, IsCorrectedByTheSimulationOfThePlan) {
  // A simulation in which the object stayed at the start all the way.
  const int node = tree.goal_node();
  Plan checked;
  checked.segments = {{0, 3, false, node}};
  checked.commands.assign(3, joint_positions(scene, q));
  checked.q.assign(4, q);
  tree.reject_goal();
  tree.correct(checked, points_of(checked));
  const Node& corrected = tree.nodes()[node];
  EXPECT_EQ(corrected.q, q);
  EXPECT_DOUBLE_EQ(corrected.distance, goal.distance(q));
  EXPECT_FALSE(corrected.holds_goal || corrected.rejected);
  EXPECT_NE(tree.goal_node(), node);
  EXPECT_NE(tree.best_node(), node);
  // What grows there first goes on with what the fingers hold.
  EXPECT_EQ(corrected.goes_on, corrected.tries);
  // What the simulation did not come to stays.
  checked.segments = {{0, 9, false, 1}};
  const VectorXd before = tree.nodes()[1].q;
  tree.correct(checked, points_of(checked));
  EXPECT_EQ(tree.nodes()[1].q, before);
}

TEST_F(TreeAtItsGoal, GoesOnFromWhereTheSimulationFoundIt) {
  // A simulation in which nothing moved during the last roll-out.
  const int node = tree.goal_node();
  const Node end = tree.nodes()[node];
  const VectorXd begin = tree.nodes()[end.parent].q;
  Plan checked;
  checked.segments = {{0, 1, false, node}};
  checked.commands = {end.u};
  checked.q = {begin, begin};
  ASSERT_FALSE(goal.reached(checked.q.back()));
  tree.reject_goal();
  tree.correct(checked, points_of(checked));
  for (int k = 0; k < 100 && tree.nodes()[node].tries == end.tries; ++k)
    tree.search({.nodes = 4, .threads = 1, .past_goal = true});
  EXPECT_TRUE(std::any_of(tree.nodes().begin() + node, tree.nodes().end(),
                          [&](const Node& n) { return n.parent == node && n.kind == NodeKind::kRollout; }));
}

TEST(RolloutTree, APoseIsWorthWhatIsLeftOfItOnceFingersLetGo) {
  const scene::Scene scene = planning_scene(test::load_planning("allegro_plate"));
  const Goal goal(scene, scene.spec().goals.front(), false);
  const VectorXd q = scene.initial_configuration();
  RolloutTree tree(scene, goal, q, joint_positions(scene, q), 3);
  tree.search({.nodes = 24, .threads = 1});
  const Hand hand(scene, goal);
  PlanningSteps steps(scene);
  Proximity proximity(scene);
  Transit transit(hand, steps, proximity);
  int seen = 0;
  for (const Node& node : tree.nodes()) {
    if (node.kind != NodeKind::kRollout || node.holds_goal) continue;
    Motion away{{node.q, node.u, {}}, {}};
    steps.reset();
    ASSERT_TRUE(transit.release(hand.commands_of(hand.all_fingers()), away));
    // Tries that let go of one finger may have left more.
    const double left = goal.distance(away.q);
    EXPECT_GE(node.released, node.tries > 0 ? 0 : left - 1e-6);
    EXPECT_LE(node.released, left + 1e-6);
    ++seen;
  }
  EXPECT_GT(seen, 3);
}

TEST(PlanningSteps, RefuseWhatPlanningCannotUse) {
  const auto message = [](std::vector<std::string> settings) {
    const scene::Scene scene = planning_scene(test::load_planning("allegro_ball", std::move(settings)));
    try {
      PlanningSteps{scene};
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({"wrenches=[{body: ball, force_W: [0, 0, 1]}]"}), "");
  EXPECT_NE(
      message({"wrenches=[{body: ball, force_W: [0, 0, 1], from: 0, to: 1}]"}).find("wrenches that act all the time"),
      std::string::npos);
  EXPECT_EQ(message({"step.friction_law=coulomb"}), "");
  EXPECT_NE(message({"step.model=convex-second-order"}).find("first order"), std::string::npos);
}

TEST(Hand, NeedsFingersAndSomethingToTouch) {
  const auto message = [](std::vector<std::string> settings) {
    const scene::Scene scene = test::load_planning("book_pivot", std::move(settings));
    try {
      const Goal goal(scene, scene.spec().goals.front(), false);
      Hand(scene, goal);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({}), "");
  EXPECT_NE(message({"robots=[]"}).find("needs a robot whose joints move"), std::string::npos);
  EXPECT_NE(message({"objects=[{name: book, frozen: true}]"}).find("cannot move"), std::string::npos);
}

TEST(Hand, RefusesJointsThatStartOutsideTheirLimits) {
  const auto message = [](const char* setting) {
    const scene::Scene scene = test::load_planning("planar_hand", {setting});
    try {
      Hand(scene, Goal(scene, scene.spec().goals.front(), false));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("configurations.start.left=[0, -2.4]"), "");
  EXPECT_NE(
      message("configurations.start.left=[0.5, -1]")
          .find("configurations.start.left.joint_1: must be within the limits of the joint, -1.5708 to 0 rad, for "
                "planning; got 0.5"),
      std::string::npos)
      << message("configurations.start.left=[0.5, -1]");
  EXPECT_NE(message("configurations.start.left=[0, -2.5]").find("left.joint_2: must be within"), std::string::npos);
}

TEST(Planner, SaysWhatEndedItAndKeepsTheNearestWay) {
  const scene::Scene scene = test::load_planning("planar_hand", {"plan.nodes=4"});
  const PlannerResult result = make_plan(scene, scene.spec().goals.front(), {.seed = 1});
  EXPECT_EQ(result.end, SearchEnd::kNodes);
  EXPECT_FALSE(result.plan.success);
  EXPECT_GT(result.plan.error.rotation_rad, 0.05);
  EXPECT_LT(result.first_solution_s, 0);
  EXPECT_EQ(make_plan(scene, scene.spec().goals.front(), {.seed = 1, .stop = [] { return true; }}).end,
            SearchEnd::kStopped);
}

TEST(Planner, ImprovesItsFirstPlan) {
  const scene::Scene first = test::load_planning("planar_pushing"),
                     more = test::load_planning("planar_pushing",
                                                {"plan.improve_s=1000", "plan.time_limit_s=1000", "plan.nodes=1500"});
  const PlannerResult a = make_plan(first, first.spec().goals.front(), {.seed = 4}),
                      b = make_plan(more, more.spec().goals.front(), {.seed = 4});
  ASSERT_TRUE(a.plan.success && b.plan.success);
  EXPECT_LT(b.plan.cost_s, a.plan.cost_s);
  EXPECT_EQ(check_plan(planning_scene(more), Goal(more, more.spec().goals.front(), true), more.initial_configuration(),
                       b.plan.commands, b.plan.segments)
                .success,
            true);
}

}  // namespace planner_test
}  // namespace deft::planning
