// What solves a nonlinear complementarity problem where the plain method does not.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "deft/solvers/mcp/interior_point.hpp"
#include "deft/solvers/mcp/josephy_newton.hpp"
#include "deft/solvers/mcp/mcp_solver.hpp"
#include "support/mcp_problems.hpp"

namespace deft::solvers::mcp {
namespace fallbacks_test {

using deft::testing::josephy;
using deft::testing::kojima_shindo;
using deft::testing::LambdaMcp;
using deft::testing::linear_mcp;
using deft::testing::mcp_error;
using deft::testing::monotone;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

using In = std::span<const double>;
using Out = std::span<double>;

// S. C. Billups: (z − 1)² − 1.01 for each entry. From z = 0 every descent of |Φ| ends in a local minimum. The only
// solution is 1 + √1.01.
LambdaMcp billups(int n) {
  return LambdaMcp(n, [](In z, Out F, McpJacobian* J) {
    for (std::size_t i = 0; i < z.size(); ++i) {
      F[i] = (z[i] - 1) * (z[i] - 1) - 1.01;
      if (J != nullptr) J->add(static_cast<int>(i), static_cast<int>(i), 2 * (z[i] - 1));
    }
    return true;
  });
}

TEST(McpFallbacks, LeaveTheLocalMinimumOfBillups) {
  for (const int n : {1, 2, 4, 160}) {  // the last one is sparse
    LambdaMcp problem = billups(n);
    const std::vector<double> start(n, 0.0);
    const McpResult plain = McpSolver({.fallbacks = false}).solve(problem, start);
    EXPECT_NE(plain.status, Status::kSolved);
    EXPECT_STREQ(plain.method, "newton");
    const McpResult result = McpSolver().solve(problem, start);
    ASSERT_EQ(result.status, Status::kSolved) << n;
    EXPECT_STRNE(result.method, "newton");
    for (const double z : result.z) EXPECT_NEAR(z, 1 + std::sqrt(1.01), 1e-14);
  }
}

// The corner of a turned box that is lowest, from any other: n + Σ l_i n_i = 0, 0 ≤ l_i ⟂ s_i − n_iᵀa ≥ 0, a linear
// program. Some boxes stand on a face or an edge: then a is not unique.
TEST(McpFallbacks, FindTheLowestPointOfABoxFromAnyStart) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  McpSolver solver;
  for (int trial = 0; trial < 300; ++trial) {
    Eigen::Quaterniond q(normal(random), normal(random), normal(random), normal(random));
    if (trial % 5 == 0) q = Eigen::Quaterniond(1, 0, 0, trial % 2 ? 0.3 : 0.0);
    if (trial % 5 == 1) q = Eigen::Quaterniond(Eigen::AngleAxisd(normal(random), Vector3d::UnitX()));
    const Eigen::Matrix3d R = q.normalized().toRotationMatrix();
    const Vector3d half(0.5, 0.1 + std::abs(normal(random)), 0.2);
    MatrixXd M = MatrixXd::Zero(9, 9);
    VectorXd c = VectorXd::Zero(9);
    c[2] = 1;
    for (int i = 0; i < 6; ++i) {
      const Vector3d n = (i < 3 ? 1 : -1) * R.col(i % 3);
      M.block<3, 1>(0, 3 + i) = n;
      M.block<1, 3>(3 + i, 0) = -n.transpose();
      c[3 + i] = half[i % 3];
    }
    LambdaMcp problem = linear_mcp(M, c, {0, 1, 2});
    std::vector<double> start(9);
    for (double& x : start) x = 3 * normal(random);
    const McpResult& result = solver.solve(problem, start);
    ASSERT_EQ(result.status, Status::kSolved) << trial;
    EXPECT_LT(mcp_error(problem, result.z), 1e-12);
    EXPECT_NEAR(result.z[2], -half.dot(R.row(2).transpose().cwiseAbs()), 1e-12) << trial;
  }
}

TEST(McpInteriorPoint, ComesToTheSolutionAlone) {
  McpInteriorPoint path;
  for (const int n : {2, 10, 40, 160}) {
    std::vector<double> exact;
    LambdaMcp problem = monotone(n, n / 3, 7, exact);
    ScaledMcp scaled;
    scaled.bind(problem);
    ASSERT_TRUE(path.start(scaled, std::vector<double>(n, 2.0).data(), 1.0));
    ASSERT_TRUE(path.follow(1e-12, {.iterations = 60})) << n;
    EXPECT_LE(path.iterations(), 40);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(path.y()[i], exact[i], 1e-4);
  }
}

TEST(McpJosephyNewton, ComesToTheSolutionAlone) {
  McpJosephyNewton method;
  for (const int n : {2, 10, 40}) {
    std::vector<double> exact;
    LambdaMcp problem = monotone(n, n / 3, 7, exact);
    ScaledMcp scaled;
    scaled.bind(problem);
    ASSERT_TRUE(method.solve(scaled, std::vector<double>(n, 2.0).data(), 1e-11, {.iterations = 40})) << n;
    EXPECT_LE(method.iterations(), 20);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(method.y()[i], exact[i], 1e-9);
  }
  for (LambdaMcp problem : {kojima_shindo(), josephy()}) {
    ScaledMcp scaled;
    scaled.bind(problem);
    int solved = 0;
    for (const double a : {0.0, 1.0, 3.0, 10.0})
      solved += method.solve(scaled, std::vector<double>{a, a, a, a}.data(), 1e-11, {.iterations = 60});
    EXPECT_GE(solved, 3);
  }
}

TEST(McpJosephyNewton, SolvesALinearProblemInOneStep) {
  const LambdaMcp base =
      linear_mcp((MatrixXd(3, 3) << 2, 1, 0, -1, 3, 1, 0, 1, 2).finished(), Vector3d(-1, 2, -3), {1});
  LambdaMcp problem = base;
  ScaledMcp scaled;
  scaled.bind(problem);
  McpJosephyNewton method;
  EXPECT_TRUE(method.solve(scaled, std::vector<double>{5, 5, 5}.data(), 1e-12, {.iterations = 5}));
  EXPECT_EQ(method.iterations(), 1);
}

TEST(McpFallbacks, TheSameSeedGivesTheSameBits) {
  LambdaMcp problem = billups(5);
  const std::vector<double> start(5, 0.0);
  const McpResult first = McpSolver({.seed = 3}).solve(problem, start);
  McpSolver used({.seed = 3});
  std::vector<double> other;
  LambdaMcp before = monotone(12, 3, 1, other);
  used.solve(before, std::vector<double>(12, 4.0));
  const McpResult second = used.solve(problem, start);
  EXPECT_EQ(first.z, second.z);
  EXPECT_EQ(first.iterations, second.iterations);
  EXPECT_STREQ(first.method, second.method);
  bool different = false;
  for (const std::uint64_t seed : {4, 5, 6, 7, 8}) {
    const McpResult other_seed = McpSolver({.seed = seed}).solve(problem, start);
    EXPECT_EQ(other_seed.status, Status::kSolved);
    different |= other_seed.iterations != first.iterations || other_seed.z != first.z;
  }
  EXPECT_TRUE(different);
}

TEST(McpFallbacks, LimitsHaveTheirStatus) {
  LambdaMcp problem = billups(3);
  const std::vector<double> start{0, 0.2, 0};
  EXPECT_EQ(McpSolver({.max_newton = 1, .fallbacks = false}).solve(problem, start).status, Status::kIterationLimit);
  const McpResult late = McpSolver({.time_limit_s = 0}).solve(problem, start);
  EXPECT_EQ(late.status, Status::kTimeLimit);
  EXPECT_EQ(late.residual, mcp_error(problem, late.z));
  // A solved start needs no time.
  EXPECT_EQ(McpSolver({.time_limit_s = 0}).solve(problem, std::vector<double>(3, 1 + std::sqrt(1.01))).status,
            Status::kSolved);
}

TEST(McpFallbacks, WhatHasNoSolutionEndsSoon) {
  // Families without solution: −1 − z²; contradicting equations; a pair whose rows exclude each other; a function
  // nowhere defined.
  std::vector<LambdaMcp> problems;
  problems.push_back(LambdaMcp(2, [](In z, Out F, McpJacobian* J) {
    for (int i = 0; i < 2; ++i) {
      const double x = z[i];
      F[i] = -1 - x * x;
      if (J != nullptr) J->add(i, i, -2 * x);
    }
    return true;
  }));
  problems.push_back(linear_mcp(MatrixXd::Ones(2, 2), Eigen::Vector2d(0, 1), {0, 1}));
  problems.push_back(linear_mcp((MatrixXd(2, 2) << 0, -1, 0, 1).finished(), Eigen::Vector2d(1, -2)));
  problems.push_back(LambdaMcp(2, [](In, Out, McpJacobian*) { return false; }));
  problems.push_back(LambdaMcp(2, [](In, Out F, McpJacobian*) {
    F[0] = F[1] = std::nan("");
    return true;
  }));
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const McpResult result = McpSolver().solve(problems[k], std::vector<double>{0.5, 0.5});
    EXPECT_TRUE(result.status == Status::kNumericalFailure || result.status == Status::kIterationLimit) << k;
    EXPECT_GT(result.residual, 1e-3) << k;
    EXPECT_LT(problems[k].evaluations, 20000) << k;
    ASSERT_EQ(result.z.size(), 2u);
    EXPECT_GE(*std::min_element(result.z.begin(), result.z.end()), k == 1 ? -1e300 : 0.0) << k;
  }
}

}  // namespace fallbacks_test
}  // namespace deft::solvers::mcp
