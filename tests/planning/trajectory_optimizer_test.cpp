// Trajectory optimisation: against closed forms, finite differences, an independent simulation, and what limits
// promise.

#include "deft/planning/trajectory/trajectory_optimizer.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/trajectory/trajectory_program.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace trajectory_optimizer_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The object of the scene goes by `move` from the start.
TrajectoryProblem problem_of(const scene::Scene& scene, const VectorXd& move, int steps) {
  TrajectoryProblem problem;
  problem.q_start = scene.initial_configuration();
  problem.u_before = joint_positions(scene, problem.q_start);
  problem.steps = steps;
  const scene::Object& object = scene.objects().front();
  VectorXd delta = VectorXd::Zero(scene.nv()), goal;
  delta.segment(object.first_v, object.nv) = move;
  scene.model().integrate(problem.q_start, delta, goal);
  problem.q_desired = {goal};
  problem.state_weight.setConstant(scene.nv(), 1e-3);
  problem.state_weight.segment(object.first_v, object.nv).setConstant(20);
  problem.final_weight = 100 * problem.state_weight;
  problem.command_weight.setConstant(scene.nu(), 5);
  problem.limits.change.setConstant(scene.nu(), 0.2);
  return problem;
}

/// Pushing upwards from contact.
TrajectoryProblem pushing(const scene::Scene& scene, int steps = 12) {
  TrajectoryProblem problem = problem_of(scene, Eigen::Vector3d(0.1, 0.4, -0.3), steps);
  set_joint_positions(scene, Eigen::Vector2d(0, -0.1), problem.q_start);
  problem.u_before = Eigen::Vector2d(0, -0.1);
  return problem;
}

TEST(TrajectoryOptimizer, WithoutContactIsTheLeastSquaresSolution) {
  // Far from the box the joint is where it is commanded, x_{t+1} = u_t: a program whose solution is a linear system.
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing"));
  TrajectoryProblem problem = problem_of(scene, Eigen::Vector3d::Zero(), 6);
  set_joint_positions(scene, Eigen::Vector2d(0, -3), problem.q_start);
  problem.u_before = Eigen::Vector2d(0, -3);
  problem.q_desired = {problem.q_start};
  set_joint_positions(scene, Eigen::Vector2d(1, -4), problem.q_desired.front());
  for (const int v : scene.actuated()) {
    problem.state_weight(v) = 2;
    problem.final_weight(v) = 30;
  }
  problem.limits.change.resize(0);
  TrajectoryOptimizer optimizer(scene);
  const TrajectoryResult result = optimizer.optimize(problem, {.iterations = 2, .kappa_first = 1e6, .kappa_last = 1e8});

  // min Σ_{t=1}^{5} 2(u_{t−1} − d)² + 30(u_5 − d)² + 5Σ(u_t − u_{t−1})² of one coordinate that goes from 0 by d.
  MatrixXd D = MatrixXd::Identity(6, 6);
  for (int t = 1; t < 6; ++t) D(t, t - 1) = -1;
  VectorXd w = VectorXd::Constant(6, 2);
  w(5) = 30;
  const VectorXd unit = (MatrixXd(w.asDiagonal()) + 5 * D.transpose() * D).ldlt().solve(w);
  for (int t = 0; t < 6; ++t) {
    EXPECT_NEAR(result.u[t](0), unit(t), 1e-5);
    EXPECT_NEAR(result.u[t](1), -3 - unit(t), 1e-5);
  }
}

TEST(TrajectoryOptimizer, BringsTheBoxToItsPlaceAndNeverGetsWorse) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing"));
  const TrajectoryProblem problem = pushing(scene);
  TrajectoryOptimizer optimizer(scene);
  const TrajectoryResult result = optimizer.optimize(problem, {});
  for (std::size_t k = 1; k < result.history.size(); ++k) {
    EXPECT_LE(result.history[k].cost, result.history[k - 1].cost);
    EXPECT_EQ(result.history[k].program, solvers::horizon::HorizonStatus::kSolved);
    EXPECT_GE(result.history[k].kappa, result.history[k - 1].kappa);
  }
  EXPECT_LT(result.cost, 0.2 * result.history.front().cost);
  const VectorXd error = scene.model().difference(result.q.back(), problem.q_desired.front());
  EXPECT_LT(error.segment(scene.objects().front().first_v, 3).norm(), 0.1);
  for (std::size_t t = 0; t < result.u.size(); ++t)
    EXPECT_LE((result.u[t] - (t == 0 ? problem.u_before : result.u[t - 1])).cwiseAbs().maxCoeff(), 0.2 + 1e-12);

  // Another simulation of the same commands ends where the result says.
  const auto model = dynamics::make_step_model(scene);
  dynamics::StepResult step;
  VectorXd q = problem.q_start;
  for (const VectorXd& u : result.u) {
    model->step(q, u, step);
    q = step.q_next;
  }
  EXPECT_LT(scene.model().difference(q, result.q.back()).norm(), 1e-9);
}

TEST(TrajectoryOptimizer, TurnsABallInSpace) {
  const scene::Scene scene = planning_scene(test::load_planning("allegro_ball"));
  VectorXd move = VectorXd::Zero(6);
  move(2) = 0.4;
  TrajectoryProblem problem = problem_of(scene, move, 8);
  problem.limits.change.setConstant(scene.nu(), 0.1);
  problem.command_weight.setConstant(scene.nu(), 0.5);
  const TrajectoryResult result = TrajectoryOptimizer(scene).optimize(problem, {.iterations = 8});
  EXPECT_LT(result.cost, 0.5 * result.history.front().cost);
}

TEST(TrajectoryOptimizer, GivesTheSameForAnyNumberOfThreads) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_hand"));
  const TrajectoryProblem problem = problem_of(scene, Eigen::Vector3d(-0.05, 0, 0.3), 12);
  for (const GradientKind kind : {GradientKind::kAnalytic, GradientKind::kBundledFirst}) {
    TrajectoryOptions options;
    options.iterations = 3;
    options.gradient.kind = kind;
    options.gradient.use_A = kind == GradientKind::kAnalytic;
    options.gradient.samples = 20;
    TrajectoryResult first;
    for (const int threads : {1, 2, 5}) {
      options.threads = threads;
      TrajectoryResult result = TrajectoryOptimizer(scene).optimize(problem, options);
      if (threads == 1) first = result;
      EXPECT_EQ(first.cost, result.cost);
      EXPECT_TRUE(first.u == result.u);
    }
  }
}

TEST(TrajectoryOptimizer, EveryGradientServesAndOnlyTheExactOneNeedsContact) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing"));
  struct Row {
    GradientKind kind;
    bool use_A;
    double sigma_q;
  };
  const auto cost_share = [&](const Row& row, const TrajectoryProblem& problem) {
    TrajectoryOptions options;
    options.iterations = 8;
    options.gradient.kind = row.kind;
    options.gradient.use_A = row.use_A;
    options.gradient.sigma_u = 0.2;
    options.gradient.sigma_q = row.sigma_q;
    const TrajectoryResult result = TrajectoryOptimizer(scene).optimize(problem, options);
    return result.cost / result.history.front().cost;
  };
  const TrajectoryProblem near = pushing(scene);
  for (const Row& row : {Row{GradientKind::kAnalytic, true, 0}, Row{GradientKind::kAnalytic, false, 0},
                         Row{GradientKind::kBundledFirst, false, 0}, Row{GradientKind::kBundledZero, false, 0},
                         Row{GradientKind::kBundledFirst, true, 0.05}, Row{GradientKind::kBundledZero, true, 0.05}})
    EXPECT_LT(cost_share(row, near), 0.5) << static_cast<int>(row.kind) << row.use_A;
  // From afar the exact step says that no command moves the box.
  TrajectoryProblem far = near;
  far.u_before = Eigen::Vector2d(0, -0.4);
  set_joint_positions(scene, far.u_before, far.q_start);
  EXPECT_GT(cost_share({GradientKind::kExact, true, 0}, far), 0.99);
  EXPECT_LT(cost_share({GradientKind::kAnalytic, true, 0}, far), 0.8);
}

TEST(TrajectoryOptimizer, StaysWithinItsLimits) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing"));
  const TrajectoryProblem free = pushing(scene);
  TrajectoryOptimizer optimizer(scene);
  const auto largest_force = [&](const TrajectoryResult& result) {
    const auto model = dynamics::make_step_model(scene);
    dynamics::StepResult step;
    double largest = 0;
    for (std::size_t t = 0; t < result.u.size(); ++t) {
      model->step(result.q[t], result.u[t], step);
      for (const auto& force : step.solution.force) largest = std::max(largest, force[0]);
    }
    return largest;
  };
  const auto largest_stretch = [&](const TrajectoryResult& result) {
    double largest = 0;
    for (std::size_t t = 0; t < result.u.size(); ++t)
      largest = std::max(largest, (result.u[t] - joint_positions(scene, result.q[t + 1])).cwiseAbs().maxCoeff());
    return largest;
  };
  const auto highest = [&](const TrajectoryResult& result) {
    double z = -10;
    for (const VectorXd& q : result.q) z = std::max(z, joint_positions(scene, q)(1));
    return z;
  };
  const TrajectoryResult loose = optimizer.optimize(free, {});

  TrajectoryProblem gentle = free;
  gentle.limits.normal_force = 0.5 * largest_force(loose);
  TrajectoryResult result = optimizer.optimize(gentle, {});
  EXPECT_LT(largest_force(result), 1.001 * gentle.limits.normal_force);
  EXPECT_LT(result.cost, 0.9 * result.history.front().cost);

  TrajectoryProblem weak = free;
  weak.limits.effort.setConstant(2, 0.5 * 100 * largest_stretch(loose));  // the springs' stiffness is 100
  result = optimizer.optimize(weak, {});
  EXPECT_LT(100 * largest_stretch(result), 1.001 * weak.limits.effort(0));
  EXPECT_LT(result.cost, 0.9 * result.history.front().cost);

  TrajectoryProblem low = free;
  low.limits.q_lower = Eigen::Vector2d(-10, -10);
  low.limits.q_upper = Eigen::Vector2d(10, highest(loose) - 0.1);
  result = optimizer.optimize(low, {});
  EXPECT_LT(highest(result), low.limits.q_upper(1) + 1e-4);

  TrajectoryProblem boxed = free;
  boxed.limits.u_lower = Eigen::Vector2d(-0.05, -1);
  boxed.limits.u_upper = Eigen::Vector2d(0.05, 0.1);
  result = optimizer.optimize(boxed, {});
  for (const VectorXd& u : result.u) {
    EXPECT_LE(u(1), 0.1);
    EXPECT_LE(std::abs(u(0)), 0.05);
  }
}

TEST(TrajectoryProgram, GradientIsThatOfTheCostOnRotations) {
  const scene::Scene scene = planning_scene(test::load_planning("allegro_ball"));
  VectorXd move(6);
  move << 0.5, -1.2, 1.4, 0.02, 0.01, -0.03;
  TrajectoryProblem problem = problem_of(scene, move, 1);
  problem.final_weight = VectorXd::LinSpaced(scene.nv(), 1, 3);
  const TrajectoryProgram program(scene, problem);
  CommandedMotion motion;
  motion.u = {problem.u_before};
  motion.q = {problem.q_start, problem.q_start};
  LinearStep step;
  step.A.setIdentity(scene.nv(), scene.nv());
  step.B.setZero(scene.nv(), scene.nu());
  solvers::horizon::HorizonQp qp;
  program.expand(motion, {&step, 1}, qp);
  const double width = 1e-5;
  for (int v = 0; v < scene.nv(); ++v) {
    double cost[2];
    for (const int side : {0, 1}) {
      VectorXd delta = VectorXd::Zero(scene.nv());
      delta(v) = side == 0 ? -width : width;
      CommandedMotion moved = motion;
      scene.model().integrate(motion.q[1], delta, moved.q[1]);
      program.evaluate(moved);
      cost[side] = moved.cost;
    }
    EXPECT_NEAR(qp.stages[1].q(v), (cost[1] - cost[0]) / (2 * width), 1e-7) << v;
  }
}

TEST(HorizonLinearizer, PredictsForcesAndMotions) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_hand"));
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  std::vector<LinearStep> at, moved;
  const LinearizationOptions options{.kappa = 100, .forces = true};
  HorizonLinearizer linearizer(scene);
  linearizer.run({&q, 1}, {&u, 1}, options, at);
  ASSERT_TRUE(at[0].ok);
  ASSERT_GT(at[0].force.maxCoeff(), 1e-3);
  VectorXd delta = VectorXd::Zero(scene.nv()), du = VectorXd::Zero(scene.nu()), q_moved;
  for (int v = 0; v < scene.nv(); ++v) delta(v) = 1e-6 * (v + 1);
  for (int i = 0; i < scene.nu(); ++i) du(i) = 1e-6 * (3 - i);
  scene.model().integrate(q, delta, q_moved);
  const VectorXd u_moved = u + du;
  linearizer.run({&q_moved, 1}, {&u_moved, 1}, options, moved);
  ASSERT_EQ(moved[0].force.size(), at[0].force.size());
  const VectorXd force_change = at[0].force_q * delta + at[0].force_u * du;
  EXPECT_LT((moved[0].force - at[0].force - force_change).norm(), 1e-3 * force_change.norm());
  const VectorXd change = at[0].A * delta + at[0].B * du;
  EXPECT_LT((scene.model().difference(at[0].q_next, moved[0].q_next) - change).norm(), 1e-3 * change.norm());
}

TEST(TrajectoryOptimizer, SaysWhatIsWrongWithAProblem) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing"));
  TrajectoryOptimizer optimizer(scene);
  const auto message = [&](auto&& spoil, TrajectoryOptions options = {}) -> std::string {
    TrajectoryProblem problem = pushing(scene);
    spoil(problem);
    try {
      optimizer.optimize(problem, options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message([](auto& p) { p.command_weight.setZero(); }).find("command_weight must be positive"),
            std::string::npos);
  EXPECT_NE(message([](auto& p) { p.state_weight.resize(2); }).find("state_weight has size 2, needs 5"),
            std::string::npos);
  EXPECT_NE(message([](auto& p) { p.limits.u_lower = Eigen::Vector2d(1, 1); }).find("command 0 begins at 0"),
            std::string::npos);
  TrajectoryOptions bundle;
  bundle.gradient.kind = GradientKind::kBundledZero;
  EXPECT_NE(message([](auto&) {}, bundle).find("sigma_q > 0"), std::string::npos);
}

}  // namespace trajectory_optimizer_test
}  // namespace deft::planning
