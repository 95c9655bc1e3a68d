// The law of commands against what makes it optimal.

#include "deft/planning/feasibility/command_law.hpp"

#include <gtest/gtest.h>

#include "deft/math/random.hpp"

namespace deft::planning {
namespace command_law_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Problem {
  MatrixXd B;
  VectorXd e;
  CommandBounds bounds;
};

Problem random_problem(std::uint64_t seed, int rows, int columns, double bound) {
  Problem p{MatrixXd(rows, columns),
            VectorXd(rows),
            {VectorXd::Constant(columns, -bound), VectorXd::Constant(columns, bound), 0.3}};
  std::uint32_t at = 0;
  for (double& entry : p.B.reshaped()) entry = random_normal(seed, 0, at++);
  for (double& entry : p.e) entry = random_normal(seed, 0, at++);
  return p;
}

double cost(const Problem& p, double lambda, const VectorXd& du) {
  return (p.e - p.B * du).squaredNorm() + lambda * du.squaredNorm();
}

TEST(NearestCommand, IsTheLeastSquaresSolutionWhenNothingBinds) {
  for (int seed = 0; seed < 50; ++seed) {
    Problem p = random_problem(seed, 3, 5, 1e3);
    p.bounds.norm = 1e3;
    VectorXd du;
    nearest_command(p.B, p.e, 1e-2, p.bounds, du);
    MatrixXd H = p.B.transpose() * p.B;
    H.diagonal().array() += 1e-2;
    EXPECT_LT((H * du - p.B.transpose() * p.e).norm(), 1e-10) << seed;
  }
}

TEST(NearestCommand, WithoutWeightIsTheLeastSquaresSolutionOfTallMatricesToo) {
  for (int seed = 0; seed < 200; ++seed) {
    Problem p = random_problem(seed, 5, 2, 1e3);
    p.bounds.norm = 1e3;
    VectorXd du;
    nearest_command(p.B, p.e, 0, p.bounds, du);
    EXPECT_LT((p.B.transpose() * (p.B * du - p.e)).norm(), 1e-11) << seed;
  }
}

TEST(NearestCommand, StopsAtTheBallWithTheGradientAlongIt) {
  for (int seed = 0; seed < 50; ++seed) {
    Problem p = random_problem(seed, 3, 5, 1e3);
    p.e *= 10;
    VectorXd du;
    nearest_command(p.B, p.e, 1e-4, p.bounds, du);
    EXPECT_NEAR(du.norm(), 0.3, 1e-8) << seed;
    // Optimal on a ball: the descent direction is a positive multiple of δu.
    const VectorXd descent = p.B.transpose() * (p.e - p.B * du) - 1e-4 * du;
    EXPECT_NEAR(descent.dot(du), descent.norm() * du.norm(), 1e-7 * descent.norm()) << seed;
  }
}

TEST(NearestCommand, StaysInTheBoxAndIsBetterThanItsNeighbours) {
  for (int seed = 0; seed < 200; ++seed) {
    const Problem p = random_problem(seed, 3, 6, 0.08);
    VectorXd du;
    nearest_command(p.B, p.e, 1e-4, p.bounds, du);
    EXPECT_LE(du.cwiseAbs().maxCoeff(), 0.08 + 1e-12);
    EXPECT_LE(du.norm(), 0.3 + 1e-8);
    EXPECT_LT(cost(p, 1e-4, du), cost(p, 1e-4, VectorXd::Zero(6)));
    // No small move of one entry that stays feasible is better by more than what a held entry may hide.
    for (int i = 0; i < 6; ++i) {
      if (std::abs(du(i)) > 0.08 - 1e-9) continue;
      for (const double step : {-1e-4, 1e-4}) {
        VectorXd moved = du;
        moved(i) += step;
        if (moved.norm() > 0.3 || std::abs(moved(i)) > 0.08) continue;
        EXPECT_GT(cost(p, 1e-4, moved), cost(p, 1e-4, du) - 1e-6) << seed;
      }
    }
  }
}

TEST(NearestCommand, DoesNothingWhereNothingMoves) {
  VectorXd du;
  nearest_command(MatrixXd::Zero(3, 4), VectorXd::Ones(3), 0,
                  {VectorXd::Constant(4, -1), VectorXd::Constant(4, 1), 0.3}, du);
  EXPECT_EQ(du.norm(), 0);
}

TEST(ClippedCommand, IsTheShortestLeastSquaresSolutionShortened) {
  const MatrixXd B = (MatrixXd(2, 3) << 1, 0, 1, 0, 2, 0).finished();
  const VectorXd e = (VectorXd(2) << 1, 1).finished();
  CommandBounds bounds{VectorXd::Constant(3, -9), VectorXd::Constant(3, 9), 9};
  VectorXd du;
  clipped_command(B, e, bounds, du);
  const VectorXd shortest = (VectorXd(3) << 0.5, 0.5, 0.5).finished();
  EXPECT_LT((du - shortest).norm(), 1e-12);
  bounds.norm = 0.3;
  clipped_command(B, e, bounds, du);
  EXPECT_LT((du - 0.3 * shortest.normalized()).norm(), 1e-12);
  bounds.upper(1) = 0.1;
  clipped_command(B, e, bounds, du);
  EXPECT_EQ(du(1), 0.1);
  clipped_command(MatrixXd::Zero(2, 3), e, bounds, du);
  EXPECT_TRUE(du.isZero());
}

}  // namespace command_law_test
}  // namespace deft::planning
