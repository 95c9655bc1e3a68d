// Greedy roll-outs: what they count as progress, and how long their commands are.

#include "deft/planning/search/greedy_rollout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "planning/planning_scenes.hpp"
#include "planning/search_bench.hpp"

namespace deft::planning {
namespace greedy_rollout_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A finger that touches a box from below, a little beside its middle; the goal is 5 cm above, and cannot be met.
struct Bench : test::SearchBench {
  GreedyRollout rollout;

  explicit Bench(const std::vector<std::string>& more)
      : SearchBench(test::load_planning("planar_pushing", settings_with(more)), true), rollout(goal, hand, steps) {}

  static std::vector<std::string> settings_with(const std::vector<std::string>& more) {
    std::vector<std::string> settings{"configurations.start.hand={y: 0.02, z: -0.1}",
                                      "goals.down.box={y: 0.01, z: 0.55, theta: 0.05}",
                                      "goals.down.tolerance={position: 0.0001, rotation: 0.0005}"};
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  }
  Instant start() const {
    const VectorXd q = scene.initial_configuration();
    return {q, joint_positions(scene, q), {}, {}};
  }
};

/// The distances from the goal [m] along a roll-out, the start first, from another simulation of its commands.
std::vector<double> distances_with(const std::string& progress_min) {
  Bench bench({"plan.progress_min=" + progress_min});
  Motion motion{bench.start(), {}};
  const RolloutReport report = bench.rollout.run(bench.goal.q(), motion);
  EXPECT_FALSE(report.holds_goal);
  EXPECT_EQ(report.moved, !motion.commands.empty());
  PlanningSteps steps(bench.scene);
  std::vector<double> distances;
  for (const Instant& at : steps.simulate(bench.start(), motion.commands))
    distances.push_back(bench.goal.distance(at.q));
  EXPECT_EQ(distances.size(), motion.commands.size() + 1);
  EXPECT_NEAR(distances.back(), bench.goal.distance(motion.q), 1e-6);
  return distances;
}

/// The least share of the distance by which one of its steps came nearer.
double least_gain(const std::vector<double>& distances) {
  double least = 1;
  for (std::size_t k = 1; k < distances.size(); ++k) least = std::min(least, 1 - distances[k] / distances[k - 1]);
  return least;
}

TEST(GreedyRollout, TakesNoStepThatIsNoProgress) {
  const std::vector<double> any = distances_with("0"), some = distances_with("0.05"), much = distances_with("0.3"),
                            all = distances_with("1");
  // The first step brings the box most of the way, later ones less and less.
  EXPECT_GE(least_gain(some), 0.05 - 1e-6);
  EXPECT_GE(least_gain(much), 0.3 - 1e-6);
  EXPECT_LT(least_gain(any), 0.05);
  EXPECT_LT(least_gain(some), 0.3);
  EXPECT_GT(much.size(), 1u);
  EXPECT_GT(some.size(), much.size());
  EXPECT_GT(any.size(), some.size());
  EXPECT_LT(any.back(), some.back());
  // No step goes the whole way at once, so that with 1 none is any progress: the roll-out ends where it began.
  EXPECT_EQ(all.size(), 1u);
}

TEST(GreedyRollout, HoldsTheGoalForAsManyStepsAsItIsTold) {
  // Within the tolerance from the start: what is left is to hold it.
  for (const int steps : {2, 5}) {
    Bench bench({"goals.down.tolerance={position: 10, rotation: 10}", "plan.hold_steps=" + std::to_string(steps)});
    Motion motion{bench.start(), {}};
    const RolloutReport report = bench.rollout.run(bench.goal.q(), motion);
    EXPECT_TRUE(report.holds_goal) << steps;
    EXPECT_EQ(motion.commands.size(), static_cast<std::size_t>(steps));
  }
}

TEST(GreedyRollout, FirstStepsAreTheRegularizedLeastSquares) {
  double before = 1e9;
  for (const char* lambda : {"0", "0.0001", "0.001", "0.03", "1"}) {
    Bench bench({std::string("plan.regularization=") + lambda, "plan.step_norm=10"});
    const Instant start = bench.start();
    const double nearest = bench.rollout.first_step(Motion{start, {}}, bench.goal.q());
    // (BᵀB + λI) δu = Bᵀe, B and e weighted, far within all bounds; and an exact step with it.
    PlanningSteps steps(bench.scene);
    MatrixXd B;
    VectorXd c, e, q_next;
    ASSERT_TRUE(steps.linearize(start.q, start.u, bench.scene.settings().plan.kappa, c, B));
    bench.goal.residual(c, bench.goal.q(), e);
    const MatrixXd rows = bench.goal.weights().asDiagonal() * B(bench.goal.rows(), Eigen::all);
    MatrixXd H = rows.transpose() * rows;
    H.diagonal().array() += std::stod(lambda);
    const VectorXd du = H.ldlt().solve(rows.transpose() * e);
    ASSERT_LT(du.norm(), 5);
    ASSERT_TRUE(steps.step(start.q, start.u + du, q_next));
    EXPECT_NEAR(nearest, bench.goal.distance(q_next), 1e-9) << lambda;
    // The heavier the weight, the shorter the command.
    EXPECT_LT(du.norm(), before) << lambda;
    before = du.norm();
  }
}

}  // namespace greedy_rollout_test
}  // namespace deft::planning
