// Plans made for one world and carried out in all: the tree, its commands and its distances.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "deft/core/index.hpp"
#include "deft/planning/ensemble.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/joint_limits.hpp"
#include "deft/planning/search/ensemble_tree.hpp"
#include "deft/planning/search/rollout_tree.hpp"
#include "planning/planning_scenes.hpp"
#include "planning/tree_equality.hpp"

namespace deft::planning {
namespace ensemble_tree_test {

using Eigen::VectorXd;

const char* const kAll = "plan.judges=[h, h/2, h/5, second-order, worlds]";

/// What a search needs.
struct Ground {
  scene::Scene scene;
  Goal goal;
  Ensemble ensemble;
  SinglePlans plans;

  explicit Ground(const std::string& name, const char* setting = kAll)
      : scene(planning_scene(test::load_planning(name, {kAll, setting}))),
        goal(scene, scene.spec().goals.front(), scene.settings().plan.wrap_angles),
        ensemble(search_ensemble(scene, 3)),
        plans{scene, goal, single_ensemble(scene), 60} {}

  Instant root() const {
    const VectorXd q = scene.initial_configuration();
    return start_instant(ensemble, q, joint_positions(scene, q));
  }
  EnsembleTree tree(std::uint64_t seed) const { return {scene, goal, root(), seed, ensemble, {&plans, 1}}; }
};

TEST(EnsembleTree, IsTheSameForAnyNumberOfThreads) {
  const Ground ground("planar_hand");
  EnsembleTree one = ground.tree(5), two = ground.tree(5);
  one.search({.nodes = 4, .threads = 1});
  two.search({.nodes = 4, .threads = 2});
  EXPECT_GT(one.nodes().size(), 2u);
  test::expect_equal(one.nodes(), two.nodes());
}

TEST(EnsembleTree, NodesAreWhereTheirCommandsLeadInEveryWorld) {
  const Ground ground("planar_hand");
  EnsembleTree tree = ground.tree(5);
  tree.search({.nodes = 4, .threads = 2});
  PlanningSteps steps(ground.scene, nullptr, &ground.ensemble);
  int checked = 0;
  for (const Node& node : tree.nodes()) {
    if (node.parent != 0) continue;
    // From the root nothing was before, so that warm starts are the same.
    const std::vector<Instant> way = steps.simulate(ground.root(), node.commands);
    ASSERT_EQ(way.size(), node.commands.size() + 1);
    EXPECT_LT((way.back().q - node.q).norm(), 1e-6);
    for (std::size_t i = 0; i < node.q_worlds.size(); ++i)
      EXPECT_LT((way.back().q_worlds[i] - node.q_worlds[i]).norm(), 1e-6) << ground.ensemble.worlds[i].name;
    ++checked;
    steps.reset();
  }
  EXPECT_GT(checked, 0);
  // Nodes come nearer than the node that they grew from, as far as all worlds count.
  for (std::size_t i = 1; i < tree.nodes().size(); ++i) EXPECT_TRUE(std::isfinite(tree.nodes()[i].distance));
}

TEST(EnsembleTree, LetsTheStartComeToRestFirst) {
  // A ball falls 35 mm into the fingers; that of planar_hand has no weight.
  const Ground ground("planar_hand_weight", "configurations.start.ball={y: 0, z: 0.35, theta: 0}");
  EnsembleTree tree = ground.tree(5);
  tree.search({.nodes = 4, .threads = 2});
  const Node& rested = tree.nodes()[1];
  ASSERT_EQ(rested.parent, 0);
  const Instant root = ground.root();
  for (const VectorXd& u : rested.commands) EXPECT_EQ(u, root.u);
  const scene::Object& ball = ground.scene.objects().front();
  int second_order = 0;
  for (std::size_t i = 0; i < rested.q_worlds.size(); ++i) {
    // Disturbed worlds start where their objects have settled.
    if (ground.ensemble.worlds[i].q_start.size() == 0) {
      EXPECT_GT((rested.q_worlds[i] - root.q_worlds[i]).norm(), 0.02) << ground.ensemble.worlds[i].name;
    }
    if (rested.v_worlds[i].size() == 0) continue;
    EXPECT_LT(rested.v_worlds[i].segment(ball.first_v, ball.nv).norm(), 1e-3) << ground.ensemble.worlds[i].name;
    ++second_order;
  }
  EXPECT_GE(second_order, 4);
  for (std::size_t i = 2; i < tree.nodes().size(); ++i) EXPECT_NE(tree.nodes()[i].parent, 0);

  const Ground weightless("planar_hand");
  EnsembleTree other = weightless.tree(5);
  other.search({.nodes = 4, .threads = 2});
  ASSERT_GT(other.nodes().size(), 1u);
  EXPECT_NE(other.nodes()[1].commands.back(), weightless.root().u);
}

TEST(EnsembleTree, CommandsKeepToTheirPace) {
  const Ground ground("planar_hand");
  EnsembleTree tree = ground.tree(7);
  tree.search({.nodes = 12, .threads = 2});
  const VectorXd reach = *ground.scene.settings().step.h * joint_speeds(ground.scene).free;
  int steps = 0;
  for (const Node& node : tree.nodes()) {
    if (node.parent < 0) continue;
    VectorXd before = tree.nodes()[to_size(node.parent)].u;
    for (const VectorXd& u : node.commands) {
      EXPECT_LE((u - before).cwiseAbs().cwiseQuotient(reach).maxCoeff(), 1 + 1e-9);
      before = u;
      ++steps;
    }
    EXPECT_EQ(before, node.u);
  }
  EXPECT_GT(steps, 100);
}

TEST(EnsembleTree, FindsTheGoalInAllWorlds) {
  const Ground ground("planar_hand");
  EnsembleTree tree = ground.tree(2);
  ASSERT_EQ(tree.search({.nodes = 200, .time_limit_s = 1e9, .threads = 2}), SearchEnd::kFound);
  const Node& node = tree.nodes()[to_size(tree.goal_node())];
  EXPECT_TRUE(ground.goal.reached(node.q));
  // All that decided and all that followed.
  for (std::size_t i = 0; i < node.q_worlds.size(); ++i)
    EXPECT_TRUE(ground.goal.reached(node.q_worlds[i])) << ground.ensemble.worlds[i].name;
}

TEST(GreedyRollout, WorldsHalfATurnAwayLieTogether) {
  // Of two boxes a hair before and a hair beyond half a turn from the goal one seems a full turn from the other, if the
  // errors to the goal are compared.
  const Ground ground("bimanual_box");
  const Deadline never;
  const SearchContext context(ground.scene, ground.goal, never, &ground.ensemble);
  PlanningSteps steps(ground.scene, nullptr, &ground.ensemble);
  GreedyRollout rollout(ground.goal, context.hand, steps);
  Instant at = ground.root();
  const scene::Object& box = ground.scene.objects().front();
  const auto turned = [&](double angle) {
    VectorXd q = ground.scene.initial_configuration(), delta = VectorXd::Zero(ground.scene.nv()), out;
    delta(box.first_v + 2) = angle;
    ground.scene.model().integrate(q, delta, out);
    return out;
  };
  at.q = turned(-0.01);
  for (VectorXd& q : at.q_worlds) q = turned(0.01);
  // The error is half a turn, 0.1 m/rad; the spread of 0.02 rad adds little.
  const double half_turn = 0.1 * std::numbers::pi;
  EXPECT_NEAR(rollout.distance(at, ground.goal.q()), half_turn, 0.03);
  EXPECT_GT(rollout.distance(at, ground.goal.q()), 0.9 * half_turn);
}

TEST(GreedyRollout, ForcesOfFingersStayWithinTheShareOfTheirCones) {
  // The second half of the ball's way: two fingers hold it and turn it, once with and once without the share.
  Ground ground("planar_hand");
  const auto worst_ratio = [&](double share) {
    Ensemble ensemble = ground.plans.ensemble;
    ensemble.cone_share = share;
    double sum = 0;
    int count = 0;
    const VectorXd q = ground.scene.initial_configuration(), u = joint_positions(ground.scene, q);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      RolloutTree tree(ground.scene, ground.goal, Instant{q, u, {}, {}}, seed, &ensemble);
      tree.search({.nodes = 40, .threads = 1});
      // Contacts of the roll-outs that slide, of all that bear a force.
      PlanningSteps steps(ground.scene, nullptr, &ensemble);
      for (const Node& node : tree.nodes()) {
        if (node.parent < 0 || node.kind == NodeKind::kTransit) continue;
        Instant at = instant_of(tree.nodes()[to_size(node.parent)]), next;
        for (const VectorXd& command : node.commands) {
          if (!steps.advance(at, command, next)) break;
          std::swap(at, next);
          const dynamics::StepResult& result = steps.result();
          for (std::size_t c = 0; c < result.solution.force.size(); ++c) {
            const auto& force = result.solution.force[c];
            if (force[0] < 0.05) continue;
            sum += std::abs(force[1]) > 0.99 * result.problem.contacts[c].mu * force[0];
            ++count;
          }
        }
      }
    }
    return sum / std::max(count, 1);
  };
  const double with = worst_ratio(0.5), without = worst_ratio(0);
  EXPECT_GT(without, 0.2);         // a greedy roll-out slides
  EXPECT_LT(with, 0.6 * without);  // seldom, where it keeps within the cones
}

}  // namespace ensemble_tree_test
}  // namespace deft::planning
