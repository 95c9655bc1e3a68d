// Segments optimised in several worlds at once: against independent simulations of what they return.

#include "deft/planning/trajectory/segment_optimizer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace segment_optimizer_test {

using Eigen::Vector2d;
using Eigen::VectorXd;

/// A finger below a box that it is to push up and turn.
struct Pushing {
  explicit Pushing(std::vector<std::string> settings = {})
      : scene(planning_scene(test::load_planning("planar_pushing", settings))),
        goal(scene, scene.spec().goals.front(), false),
        hand(scene, goal) {
    q = scene.initial_configuration();
    // From where the box lies, 5 cm up and turned by 0.1 rad.
    const scene::Object& box = scene.objects().front();
    VectorXd way = VectorXd::Zero(scene.nv());
    way.segment(box.first_v, 3) = Eigen::Vector3d(0.01, 0.05, 0.05);
    scene.model().integrate(q, way, q_target);
    start_below();
  }

  /// The finger touches the box from below, a little beside its middle.
  void start_below() {
    const scene::Object& box = scene.objects().front();
    joints = Vector2d(q(box.first_q) + 0.02, q(box.first_q + 1) - kBelow);
    set_joint_positions(scene, joints, q);
  }

  SegmentProblem problem(const PlanningSteps& steps) const {
    SegmentProblem made{start_instant(steps.ensemble(), q, joints), q_target, {}};
    for (VectorXd& other : made.start.q_worlds) set_joint_positions(scene, joints, other);
    return made;
  }

  /// Straight up in four knots.
  std::vector<VectorXd> up() const {
    std::vector<VectorXd> knots;
    for (int k = 1; k <= 4; ++k) knots.push_back(joints + Vector2d(0, 0.02 * k));
    return knots;
  }

  static constexpr double kBelow = 0.6;
  scene::Scene scene;
  Goal goal;
  Hand hand;
  VectorXd q, q_target, joints;
};

/// The exact step of length h and one of h/3, at most 2 cm or rad per step.
Ensemble two_worlds(const scene::Scene& scene) {
  Ensemble ensemble;
  ensemble.worlds.push_back(halved_world(scene, 3));
  ensemble.longest_step = VectorXd::Constant(scene.nu(), 0.02);
  ensemble.longest_rest = 20;
  return ensemble;
}

TEST(SegmentOptimizer, CostsNeverRiseAndTheBoxComesNearer) {
  const Pushing pushing;
  const Ensemble ensemble = two_worlds(pushing.scene);
  PlanningSteps steps(pushing.scene, nullptr, &ensemble);
  SegmentOptimizer optimizer(pushing.goal, pushing.hand, steps, 1);
  const SegmentProblem problem = pushing.problem(steps);
  const SegmentResult result = optimizer.optimize(problem, {pushing.up()});
  ASSERT_TRUE(result.ok);
  ASSERT_GT(result.history.size(), 1u);
  for (std::size_t k = 1; k < result.history.size(); ++k) EXPECT_LE(result.history[k].cost, result.history[k - 1].cost);
  EXPECT_LT(result.best.cost, 0.5 * result.history.front().cost);
  EXPECT_LT(result.best.distance, result.history.front().distance);
  EXPECT_EQ(result.history.back().cost, result.best.cost);
}

/// Commands carried out by a step model of their own, and what becomes of the forces between finger and box.
struct Simulated {
  VectorXd q;            // the end
  double beyond = 0;     // mean over the steps of Σ [‖f_t‖ − s μ f_n]₊ [N]
  double largest = 0;    // f_n [N]
  double stretched = 0;  // largest |u − q_a| at the ends of steps [m]
};
Simulated simulate(const Pushing& pushing, std::span<const VectorXd> commands, double cone_share) {
  const auto model = dynamics::make_step_model(pushing.scene);
  dynamics::StepResult step;
  Simulated found{.q = pushing.q};
  for (const VectorXd& u : commands) {
    model->step(found.q, u, step);
    found.q = step.q_next;
    found.stretched = std::max(found.stretched, (u - joint_positions(pushing.scene, found.q)).cwiseAbs().maxCoeff());
    for (std::size_t i = 0; i < step.problem.contacts.size(); ++i) {
      const auto& force = step.solution.force[i];
      const double mu = step.problem.contacts[i].mu;
      found.largest = std::max(found.largest, force[0]);
      found.beyond += std::max(0.0, std::hypot(force[1], force[2]) - cone_share * mu * force[0]) /
                      static_cast<double>(commands.size());
    }
  }
  return found;
}

/// The commands of a motion without those of the rest after its last knot.
std::span<const VectorXd> without_rest(const SegmentMotion& motion) {
  std::size_t count = motion.motion.commands.size();
  while (count > 1 && motion.motion.commands[count - 2] == motion.knots.back()) --count;
  return std::span(motion.motion.commands).first(count);
}

TEST(SegmentOptimizer, ReturnsWhatOtherSimulationsFind) {
  const Pushing pushing;
  const Ensemble ensemble = two_worlds(pushing.scene);
  PlanningSteps steps(pushing.scene, nullptr, &ensemble);
  const SegmentProblem problem = pushing.problem(steps);
  SegmentOptimizer optimizer(pushing.goal, pushing.hand, steps, 1);
  SegmentMotion start;
  ASSERT_TRUE(optimizer.roll_out(problem, pushing.up(), start));
  const SegmentResult result = optimizer.optimize(problem, {pushing.up()});
  ASSERT_TRUE(result.ok);
  const Motion& motion = result.best.motion;
  // h: a step model; h/3: three steps per command, which goes linearly.
  const VectorXd q = simulate(pushing, motion.commands, 1).q;
  const scene::Scene fine = pushing.scene.with([](scene::SceneSettings& settings) { *settings.step.h /= 3; });
  const auto third = dynamics::make_step_model(fine);
  dynamics::StepResult step;
  VectorXd q_third = pushing.q, before = pushing.joints;
  for (const VectorXd& u : motion.commands) {
    for (int k = 1; k <= 3; ++k) {
      third->step(q_third, VectorXd(before + (u - before) * (k / 3.0)), step);
      q_third = step.q_next;
    }
    before = u;
  }
  EXPECT_LT((q - motion.q).norm(), 1e-8);
  EXPECT_LT((q_third - motion.q_worlds.front()).norm(), 1e-8);
  // The limits of the task: commands within those of the joints, and no faster than the ensemble says.
  before = pushing.joints;
  for (const VectorXd& u : motion.commands) {
    EXPECT_LE((u - before).cwiseAbs().maxCoeff(), 0.02 + 1e-12);
    EXPECT_TRUE((u.array() <= pushing.hand.upper.array()).all() && (u.array() >= pushing.hand.lower.array()).all());
    before = u;
  }
  // Forces beyond s μ f_n, in shares of the largest force of the first commands.
  const double share = problem.settings.cone_share;
  const double scale_N = std::max(0.1, simulate(pushing, without_rest(start), share).largest);
  EXPECT_NEAR(result.best.excess, simulate(pushing, without_rest(result.best), share).beyond / scale_N, 1e-8);
  // ‖ē‖² + w² mean ‖e_i − ē‖² by hand.
  VectorXd e1, e2;
  pushing.goal.residual(q, pushing.q_target, e1);
  pushing.goal.residual(q_third, pushing.q_target, e2);
  const VectorXd mean = 0.5 * (e1 + e2);
  const double w = problem.settings.spread_weight;
  const double expected = mean.squaredNorm() + w * w * 0.5 * ((e1 - mean).squaredNorm() + (e2 - mean).squaredNorm());
  EXPECT_NEAR(result.best.distance, std::sqrt(expected), 1e-8);
}

TEST(SegmentOptimizer, KeepsForcesWithinTheirCones) {
  const Pushing pushing;
  const Ensemble ensemble = two_worlds(pushing.scene);
  PlanningSteps steps(pushing.scene, nullptr, &ensemble);
  SegmentProblem problem = pushing.problem(steps);
  SegmentOptimizer optimizer(pushing.goal, pushing.hand, steps, 1);
  problem.settings.iterations = 10;
  problem.settings.force_weight = 0;
  const SegmentResult free = optimizer.optimize(problem, {pushing.up()});
  problem.settings.force_weight = 1000;
  const SegmentResult kept = optimizer.optimize(problem, {pushing.up()});
  ASSERT_TRUE(free.ok && kept.ok);
  EXPECT_LE(kept.best.excess, free.best.excess + 1e-12);
  EXPECT_LT(kept.best.excess, 0.02);
}

TEST(SegmentOptimizer, LimitsNormalForces) {
  const Pushing pushing;
  const Ensemble ensemble = two_worlds(pushing.scene);
  PlanningSteps steps(pushing.scene, nullptr, &ensemble);
  SegmentProblem problem = pushing.problem(steps);
  SegmentOptimizer optimizer(pushing.goal, pushing.hand, steps, 1);
  const auto largest = [&](const SegmentMotion& motion) { return simulate(pushing, without_rest(motion), 1).largest; };
  SegmentMotion first;
  ASSERT_TRUE(optimizer.roll_out(problem, pushing.up(), first));
  const double before = largest(first);
  ASSERT_GT(before, 0.1);
  problem.settings.normal_force = 0.7 * before;
  problem.settings.iterations = 10;
  const SegmentResult result = optimizer.optimize(problem, {pushing.up()});
  ASSERT_TRUE(result.ok);
  const double after = largest(result.best);
  EXPECT_LT(after, before);
  // What is left of the excess is what it says.
  EXPECT_NEAR(std::max(0.0, after / problem.settings.normal_force - 1), result.best.violation, 1e-6);
}

TEST(SegmentOptimizer, LimitsTheEffortOfSprings) {
  const Pushing free;
  const Ensemble ensemble = two_worlds(free.scene);
  PlanningSteps free_steps(free.scene, nullptr, &ensemble);
  SegmentMotion first;
  ASSERT_TRUE(
      SegmentOptimizer(free.goal, free.hand, free_steps, 1).roll_out(free.problem(free_steps), free.up(), first));
  const double before = simulate(free, without_rest(first), 1).stretched;
  ASSERT_GT(before, 1e-3);
  // Springs of 100 N/m that give 0.7 of it at most.
  const Pushing pushing({fmt::format("robots=[{{name: hand, stiffness: 100, effort_limit: {}}}]", 70 * before)});
  PlanningSteps steps(pushing.scene, nullptr, &ensemble);
  SegmentProblem problem = pushing.problem(steps);
  problem.settings.iterations = 10;
  const SegmentResult result = SegmentOptimizer(pushing.goal, pushing.hand, steps, 1).optimize(problem, {pushing.up()});
  ASSERT_TRUE(result.ok);
  const double after = simulate(pushing, without_rest(result.best), 1).stretched;
  EXPECT_LT(after, 0.8 * before);
  EXPECT_NEAR(std::max(0.0, after - 0.7 * before), result.best.violation, 1e-8);
}

TEST(SegmentOptimizer, AnEffortLimitOfZeroIsNone) {
  const auto cost = [](const char* robot) {
    const Pushing pushing({robot});
    const Ensemble ensemble = two_worlds(pushing.scene);
    PlanningSteps steps(pushing.scene, nullptr, &ensemble);
    SegmentMotion motion;
    EXPECT_TRUE(
        SegmentOptimizer(pushing.goal, pushing.hand, steps, 1).roll_out(pushing.problem(steps), pushing.up(), motion));
    return motion.cost;
  };
  EXPECT_EQ(cost("robots=[{name: hand, stiffness: 100, effort_limit: 0}]"),
            cost("robots=[{name: hand, stiffness: 100}]"));
}

TEST(SegmentOptimizer, BringsSeveralWorldsTogether) {
  const Pushing pushing;
  // The box lies 1 cm to the side in the second world.
  Ensemble ensemble = two_worlds(pushing.scene);
  ensemble.worlds.front() = {.name = "aside", .scene = pushing.scene, .q_start = pushing.q};
  ensemble.worlds.front().q_start(pushing.scene.objects().front().first_q) += 0.01;
  PlanningSteps steps(pushing.scene, nullptr, &ensemble);
  SegmentOptimizer optimizer(pushing.goal, pushing.hand, steps, 1);
  SegmentProblem problem = pushing.problem(steps);
  problem.settings.iterations = 10;
  problem.settings.force_weight = 0;
  const auto worst = [&](const Motion& motion) {
    return std::max(pushing.goal.distance(motion.q, pushing.q_target),
                    pushing.goal.distance(motion.q_worlds.front(), pushing.q_target));
  };
  const SegmentResult both = optimizer.optimize(problem, {pushing.up()});
  // The commands that are best where the box lies in the middle of its place, carried out in both.
  Ensemble alone = ensemble;
  alone.worlds.clear();
  PlanningSteps single(pushing.scene, nullptr, &alone);
  SegmentProblem one{start_instant(alone, pushing.q, pushing.joints), pushing.q_target, problem.settings};
  const SegmentResult first = SegmentOptimizer(pushing.goal, pushing.hand, single, 1).optimize(one, {pushing.up()});
  SegmentMotion carried;
  ASSERT_TRUE(both.ok && first.ok && optimizer.roll_out(problem, first.best.knots, carried));
  EXPECT_LE(worst(both.best.motion), worst(carried.motion) + 1e-6);
}

TEST(SegmentOptimizer, GivesTheSameForAnyNumberOfThreads) {
  const Pushing pushing;
  const Ensemble ensemble = two_worlds(pushing.scene);
  std::vector<VectorXd> first;
  for (const int threads : {1, 2}) {
    PlanningSteps steps(pushing.scene, nullptr, &ensemble);
    const SegmentResult result =
        SegmentOptimizer(pushing.goal, pushing.hand, steps, threads).optimize(pushing.problem(steps), {pushing.up()});
    if (threads == 1)
      first = result.best.knots;
    else
      EXPECT_TRUE(first == result.best.knots);
  }
}

TEST(ChooseKnots, KeepsTheLastCommandAndNoRepeats) {
  const VectorXd zero = VectorXd::Zero(1);
  std::vector<VectorXd> commands;
  for (const double value : {0.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0}) commands.push_back(VectorXd::Constant(1, value));
  const std::vector<VectorXd> two = choose_knots(commands, zero, 2), all = choose_knots(commands, zero, 9);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0](0), 2);
  EXPECT_EQ(two[1](0), 4);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0](0), 1);
  EXPECT_TRUE(choose_knots({zero, zero}, zero, 3).empty());
}

}  // namespace segment_optimizer_test
}  // namespace deft::planning
