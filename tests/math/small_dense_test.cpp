#include "deft/math/small_dense.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "deft/math/dense.hpp"

namespace deft {
namespace small_dense_test {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A matrix of fixed numbers without structure, entries in (−1, 1).
MatrixXd sample(int rows, int cols, double seed) {
  MatrixXd A(rows, cols);
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < cols; ++k) A(i, k) = std::sin(seed + 12.9898 * i + 78.233 * k * k + 3.7 * i * k);
  return A;
}
VectorXd vector(int size, double seed) { return sample(size, 1, seed); }

TEST(SmallDense, RotationBetweenTurnsOneDirectionIntoTheOther) {
  for (int k = 0; k < 20; ++k) {
    const Vector3d a = 3 * vector(3, k), b = 0.2 * vector(3, k + 0.5);
    const Matrix3d R = rotation_between(a, b);
    EXPECT_LE((R * a.normalized() - b.normalized()).norm(), 1e-14);
    EXPECT_LE((R.transpose() * R - Matrix3d::Identity()).norm(), 1e-14);
    EXPECT_NEAR(R.determinant(), 1, 1e-14);
    const Matrix3d half_turn = rotation_between(a, -a);
    EXPECT_LE((half_turn * a + a).norm(), 1e-14 * a.norm());
    EXPECT_NEAR(half_turn.trace(), -1, 1e-14);
    EXPECT_NEAR(half_turn.determinant(), 1, 1e-14);
    const Matrix3d nearly = rotation_between(a, -a + 1e-7 * a.norm() * Vector3d::UnitX());
    EXPECT_LE((nearly * a + a).norm(), 1e-6 * a.norm());
  }
  EXPECT_EQ(rotation_between(Vector3d::UnitZ(), -Vector3d::UnitZ()), Matrix3d(Vector3d(1, -1, -1).asDiagonal()));
  EXPECT_EQ(rotation_between(Vector3d::UnitZ(), Vector3d::UnitZ()), Matrix3d::Identity());
}

TEST(SmallDense, SolvesSystemsOfThreeAndFour) {
  for (int k = 0; k < 20; ++k) {
    const Matrix3d G = sample(3, 3, k), A = G + G.transpose();  // indefinite
    const Vector3d b = vector(3, k + 0.3);
    EXPECT_LE((A * ldlt_solve(A, b) - b).norm(), 1e-11);
    EXPECT_LE((A * ldlt_solve(A, G) - G).norm(), 1e-11);
    const Matrix4d B = sample(4, 4, k) + 2 * Matrix4d::Identity();
    const Eigen::Vector4d c = vector(4, k);
    EXPECT_LE((B * lu_solve(B, c) - c).norm(), 1e-12);
  }
}

TEST(SmallDense, RankCountsIndependentDirections) {
  const Vector3d a(1, 2, 3), b(-1, 0, 1), c(0.3, -2, 5);
  EXPECT_EQ(rank(Matrix3d::Zero(), 1e-9), 0);
  EXPECT_EQ(rank(a * a.transpose(), 1e-9), 1);
  EXPECT_EQ(rank(a * a.transpose() + b * b.transpose(), 1e-9), 2);
  EXPECT_EQ(rank(a * a.transpose() + b * b.transpose() + 1e-3 * c * c.transpose(), 1e-9), 3);
  EXPECT_EQ(rank(a * a.transpose() + b * b.transpose() + 1e-12 * c * c.transpose(), 1e-9), 2);
}

TEST(SmallDense, LeastNormIsTheShortestOfTheBest) {
  Columns3 A(3, 2);
  A << 1, 1, 2, 2, 0, 0;  // the same column twice
  const UpTo3 x = least_norm_solve(A, Vector3d(1, 2, 7));
  EXPECT_NEAR(x(0), 0.5, 1e-14);
  EXPECT_NEAR(x(1), 0.5, 1e-14);

  const MatrixXd J = sample(3, 5, 0.7);
  const Vector3d b(0.1, -0.2, 0.3);
  const VectorXd y = least_norm_solve(J, b);
  EXPECT_LE((J * y - b).norm(), 1e-13);
  EXPECT_LE((y - J.transpose() * (J * J.transpose()).inverse() * b).norm(), 1e-12);
}

TEST(Dense, SolvesByCholeskyAndByQr) {
  const MatrixXd G = sample(6, 6, 0.1), A = G * G.transpose() + 0.1 * MatrixXd::Identity(6, 6);
  const VectorXd b = vector(6, 0.2);
  EXPECT_LE((A * llt_solve(A, b) - b).norm(), 1e-12);
  MatrixXd factor = A;
  VectorXd x = b;
  llt_solve_in_place(factor, x);
  EXPECT_EQ(x, llt_solve(A, b));

  const MatrixXd tall = sample(7, 3, 0.4);
  const VectorXd c = vector(7, 0.6), y = qr_solve(tall, c);
  EXPECT_LE((tall.transpose() * (tall * y - c)).norm(), 1e-13);
}

}  // namespace small_dense_test
}  // namespace deft
