// Implicit derivatives of nonlinear complementarity problems against solving again.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/solvers/mcp/mcp_solver.hpp"
#include "support/mcp_problems.hpp"

namespace deft::solvers::mcp {
namespace sensitivity_test {

using deft::testing::LambdaMcp;
using deft::testing::linear_mcp;
using deft::testing::monotone;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// F + Dp, D of full columns, in units that are not one.
LambdaMcp with_parameters(LambdaMcp& base, const MatrixXd& D, const VectorXd& p) {
  std::vector<int> free;
  for (int i = 0; i < base.size(); ++i)
    if (base.is_free()[i]) free.push_back(i);
  LambdaMcp problem(
      base.size(),
      [&base, D, p](std::span<const double> z, std::span<double> F, McpJacobian* J) {
        base.evaluate(z, F, J);
        const VectorXd shift = D * p;
        for (std::size_t i = 0; i < F.size(); ++i) F[i] += shift[static_cast<Eigen::Index>(i)];
        return true;
      },
      free);
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    problem.rows[i] = i % 2 ? 3.0 : 0.2;
    problem.variables[i] = i % 3 ? 0.5 : 7.0;
  }
  return problem;
}

TEST(McpSensitivity, AgreesWithSolvingAgain) {
  for (const int n : {5, 20, 160}) {  // the last one is sparse
    std::vector<double> exact;
    LambdaMcp base = monotone(n, n / 3, 11, exact);
    const MatrixXd D =
        MatrixXd::NullaryExpr(n, 3, [](Eigen::Index i, Eigen::Index j) { return std::sin(1.0 + 3 * i + 7 * j); });
    McpSolver solver({.tolerance = 1e-12});
    const auto solution = [&](const VectorXd& p) {
      LambdaMcp problem = with_parameters(base, D, p);
      const McpResult& result = solver.solve(problem, exact);
      EXPECT_EQ(result.status, Status::kSolved);
      return VectorXd(Eigen::Map<const VectorXd>(result.z.data(), n));
    };
    const VectorXd p = Eigen::Vector3d(0.02, -0.01, 0.03);
    const VectorXd z = solution(p);
    LambdaMcp problem = with_parameters(base, D, p);
    MatrixXd dz;
    bool nonsmooth = true;
    ASSERT_TRUE(solver.sensitivity(problem, {z.data(), to_size(n)}, D, dz, &nonsmooth));
    EXPECT_FALSE(nonsmooth);
    for (int k = 0; k < 3; ++k) {
      const double h = 1e-5;
      const VectorXd difference =
          (solution(p + h * VectorXd::Unit(3, k)) - solution(p - h * VectorXd::Unit(3, k))) / (2 * h);
      EXPECT_LT((difference - dz.col(k)).lpNorm<Eigen::Infinity>(), 1e-7 * (1 + difference.lpNorm<Eigen::Infinity>()))
          << n << " " << k;
      EXPECT_GT(difference.norm(), 1e-2);
    }
  }
}

TEST(McpSensitivity, ReportsANonsmoothPointAndASingularSystem) {
  LambdaMcp degenerate = linear_mcp(MatrixXd::Identity(2, 2), Eigen::Vector2d(0, -1));  // z_0 = F_0 = 0
  const std::vector<double> z{0, 1};
  MatrixXd dz;
  bool nonsmooth = false;
  McpSolver solver;
  ASSERT_TRUE(solver.sensitivity(degenerate, z, MatrixXd::Identity(2, 2), dz, &nonsmooth));
  EXPECT_TRUE(nonsmooth);
  EXPECT_EQ(dz, (MatrixXd(2, 2) << 0, 0, 0, -1).finished());
  LambdaMcp redundant =
      linear_mcp((MatrixXd(3, 3) << 1, -1, -1, 1, 0, 0, 1, 0, 0).finished(), Eigen::Vector3d(1, 0, 0), {0});
  EXPECT_FALSE(solver.sensitivity(redundant, std::vector<double>{0, 0.5, 0.5}, MatrixXd::Ones(3, 1), dz));
  std::vector<char> determined;
  EXPECT_FALSE(solver.sensitivity(redundant, std::vector<double>{0, 0.5, 0.5}, Eigen::Vector3d(0, 1, -1), dz, nullptr,
                                  1e-8, &determined))
      << "contradiction";
  EXPECT_THROW(solver.sensitivity(redundant, std::vector<double>{0, 1}, MatrixXd::Ones(3, 1), dz),
               std::invalid_argument);
  EXPECT_THROW(solver.sensitivity(redundant, std::vector<double>{0, 1, 0}, MatrixXd::Ones(2, 1), dz),
               std::invalid_argument);
}

// A mass v pressed by two multipliers that do the same, and a point x on a face that nothing determines: v and the
// force of the multipliers follow the parameters all the same. Sizes above 150 are sparse.
TEST(McpSensitivity, WhatIsDeterminedHasItsDerivativeWhereOthersAreNot) {
  for (const int copies : {1, 40}) {
    const int n = 4 * copies;
    std::vector<int> free;
    for (int k = 0; k < copies; ++k) {
      free.push_back(4 * k);
      free.push_back(4 * k + 3);
    }
    VectorXd p = Eigen::Vector2d(2, 0.3);  // load, height of the ground
    LambdaMcp problem(
        n,
        [&](std::span<const double> z, std::span<double> F, McpJacobian* J) {
          for (int k = 0; k < copies; ++k) {
            const auto at = to_size(4 * k);
            const double v = z[at];
            F[at] = std::sinh(v) + p[0] - 0.3 * z[at + 1] - 0.7 * z[at + 2];
            F[at + 1] = F[at + 2] = v - p[1];
            F[at + 3] = std::sinh(v) - std::sinh(p[1]);
            if (J == nullptr) continue;
            J->add(4 * k, 4 * k, std::cosh(v));
            J->add(4 * k, 4 * k + 1, -0.3);
            J->add(4 * k, 4 * k + 2, -0.7);
            J->add(4 * k + 3, 4 * k, std::cosh(v));
            J->add(4 * k + 1, 4 * k, 1);
            J->add(4 * k + 2, 4 * k, 1);
          }
          return true;
        },
        free);
    McpSolver solver;
    const McpResult result = solver.solve(problem, std::vector<double>(n, 1.0));
    ASSERT_EQ(result.status, Status::kSolved) << copies;
    MatrixXd dF = MatrixXd::Zero(n, 2), dz;
    for (int k = 0; k < copies; ++k) {
      dF(4 * k, 0) = 1;
      dF(4 * k + 1, 1) = dF(4 * k + 2, 1) = -1;
      dF(4 * k + 3, 1) = -std::cosh(p[1]);
    }
    EXPECT_FALSE(solver.sensitivity(problem, result.z, dF, dz));
    std::vector<char> determined;
    ASSERT_TRUE(solver.sensitivity(problem, result.z, dF, dz, nullptr, 1e-8, &determined));
    for (int k = 0; k < copies; ++k) {
      EXPECT_EQ(std::vector<char>(determined.begin() + 4 * k, determined.begin() + 4 * k + 4),
                (std::vector<char>{1, 0, 0, 0}));
      EXPECT_NEAR(dz(4 * k, 0), 0, 1e-12);
      EXPECT_NEAR(dz(4 * k, 1), 1, 1e-12);
      EXPECT_NEAR(0.3 * dz(4 * k + 1, 0) + 0.7 * dz(4 * k + 2, 0), 1, 1e-12);
      EXPECT_NEAR(0.3 * dz(4 * k + 1, 1) + 0.7 * dz(4 * k + 2, 1), std::cosh(0.3), 1e-12);
    }
  }
}

}  // namespace sensitivity_test
}  // namespace deft::solvers::mcp
