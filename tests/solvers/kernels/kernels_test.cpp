#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::kernels {

extern const DenseKernels kDenseKernelsBaseline;
extern const DenseKernels kDenseKernelsAvx2;
extern const DenseKernels kDenseKernelsAvx512;
extern const EllipsoidKernels kEllipsoidKernelsBaseline;
extern const EllipsoidKernels kEllipsoidKernelsAvx2;
extern const EllipsoidKernels kEllipsoidKernelsAvx512;

namespace kernels_test {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<std::pair<std::string, const DenseKernels*>> available_kernels() {
  std::vector<std::pair<std::string, const DenseKernels*>> all{{"baseline", &kDenseKernelsBaseline}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.emplace_back("avx2", &kDenseKernelsAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    all.emplace_back("avx512", &kDenseKernelsAvx512);
  return all;
}

RowMatrix random_matrix(int rows, int cols, int ld, std::mt19937_64& rng) {
  std::normal_distribution<double> normal;
  RowMatrix A = RowMatrix::Zero(rows, ld);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) A(r, c) = normal(rng);
  }
  return A;
}

TEST(Kernels, ManyRightHandSidesAgreeWithEigenAtEverySize) {
  std::mt19937_64 rng(4);
  for (const auto& [name, kernels] : available_kernels()) {
    for (const int n : {1, 3, 8, 13, 22}) {
      for (const int k : {1, 7, 8, 31, 32, 33, 78}) {
        const int ld = padded(k);
        const RowMatrix A = random_matrix(n + 2, n, n, rng), X = random_matrix(n, k, ld, rng),
                        start = random_matrix(n + 2, k, ld, rng);
        RowMatrix Y = start;
        kernels->multiply_many(n + 2, n, -0.5, A.data(), n, 1, X.data(), ld, Y.data(), ld, k);
        EXPECT_LT((Y - (start - 0.5 * A * X)).norm(), 1e-13 * Y.norm()) << name << n << k;
        Y = start;
        const RowMatrix At = A.transpose();
        kernels->multiply_many(n + 2, n, 2, At.data(), 1, n + 2, X.data(), ld, Y.data(), ld, k);
        EXPECT_LT((Y - (start + 2 * A * X)).norm(), 1e-13 * Y.norm()) << name << n << k;

        RowMatrix T = random_matrix(n, n, n, rng);
        T.diagonal().array() += 2.0 * n;
        const RowMatrix lower = T.triangularView<Eigen::Lower>(), upper = T.triangularView<Eigen::Upper>();
        T.diagonal() = T.diagonal().cwiseInverse().eval();
        RowMatrix x = X;
        kernels->substitute_many(n, T.data(), n, 1, false, x.data(), ld, k);
        EXPECT_LT((lower * x - X).norm(), 1e-13 * X.norm()) << name << n << k;
        x = X;
        kernels->substitute_many(n, T.data(), n, 1, true, x.data(), ld, k);
        EXPECT_LT((upper * x - X).norm(), 1e-13 * X.norm()) << name << n << k;
        x = X;
        kernels->substitute_many(n, T.data(), 1, n, true, x.data(), ld, k);
        EXPECT_LT((lower.transpose() * x - X).norm(), 1e-13 * X.norm()) << name << n << k;
      }
    }
  }
}

TEST(Kernels, FactorAndSolveAgreeWithEigenAtEverySize) {
  std::mt19937_64 rng(1);
  for (const auto& [name, kernels] : available_kernels()) {
    for (int n : {1, 2, 5, 6, 7, 8, 9, 13, 16, 17, 22, 31, 33, 69, 120}) {
      const int ld = padded(n);
      const RowMatrix A = random_matrix(n, n, n, rng);
      const Eigen::MatrixXd H = A * A.transpose() + Eigen::MatrixXd::Identity(n, n);
      RowMatrix U = RowMatrix::Zero(n, ld);
      U.leftCols(n) = H;
      const std::vector<double> floor(n, 0.0);
      EXPECT_EQ(kernels->factor(n, ld, U.data(), floor.data()), 0) << name << n;
      Eigen::MatrixXd upper = U.leftCols(n).triangularView<Eigen::Upper>();
      upper.diagonal() = upper.diagonal().cwiseInverse().eval();
      EXPECT_LT((upper.transpose() * upper - H).norm(), 1e-13 * n * H.norm()) << name << n;
      Eigen::VectorXd x = random_matrix(n, 1, 1, rng), half = x;
      const Eigen::VectorXd expected = H.llt().solve(x);
      kernels->solve(n, ld, U.data(), x.data());
      EXPECT_LT((x - expected).norm(), 1e-10 * expected.norm()) << name << n;
      const double squared = half.dot(expected);
      kernels->forward(n, ld, U.data(), half.data());
      EXPECT_NEAR(half.squaredNorm() / squared, 1.0, 1e-9) << name << n;
    }
  }
}

TEST(Kernels, LeadingPivotsLeaveTheSchurComplementAtEverySize) {
  std::mt19937_64 rng(5);
  for (const auto& [name, kernels] : available_kernels()) {
    for (const int n : {1, 2, 7, 8, 9, 17, 38, 54}) {
      for (const int pivots : {1, 2, 8, 9, 16, n}) {
        if (pivots > n) continue;
        const int ld = padded(n);
        const RowMatrix A = random_matrix(n + 3, n, n, rng);
        const RowMatrix H = A.transpose() * A;
        RowMatrix U = RowMatrix::Zero(n, ld);
        U.leftCols(n) = H;
        const std::vector<double> floor(n, 1e-14);
        EXPECT_EQ(kernels->factor_leading(pivots, n, ld, U.data(), floor.data()), 0) << name << n;
        RowMatrix top = U.topLeftCorner(pivots, n);
        for (int k = 0; k < pivots; ++k) top(k, k) = 1 / top(k, k);
        for (int k = 0; k < pivots; ++k) top.row(k).head(k).setZero();
        RowMatrix rest = H - top.transpose() * top;
        EXPECT_LT(rest.topRows(pivots).norm(), 1e-12 * H.norm()) << name << n << pivots;
        rest -= U.leftCols(n);
        for (int i = pivots; i < n; ++i)
          for (int j = i; j < n; ++j) EXPECT_NEAR(rest(i, j), 0, 1e-12 * H.norm()) << name << n << pivots;
      }
    }
    // A pivot of zero is raised to its floor.
    RowMatrix U = RowMatrix::Zero(2, kLane);
    U(0, 1) = 3;
    U(1, 1) = 5;
    const double floor[] = {4, 0};
    EXPECT_EQ(kernels->factor_leading(1, 2, kLane, U.data(), floor), 1);
    EXPECT_EQ(U(0, 0), 0.5);
    EXPECT_EQ(U(0, 1), 1.5);
    EXPECT_EQ(U(1, 1), 5 - 1.5 * 1.5);
  }
}

TEST(Kernels, DirectionsWithoutCurvatureAreCountedAndLeftAlone) {
  for (const auto& [name, kernels] : available_kernels()) {
    const int n = 11;
    RowMatrix U = RowMatrix::Zero(n, padded(n));
    for (int i = 0; i < n; ++i) U(i, i) = i == 4 ? 0.0 : 2.0;
    const std::vector<double> floor(n, 1e-12);
    EXPECT_EQ(kernels->factor(n, padded(n), U.data(), floor.data()), 1) << name;
    Eigen::VectorXd x = Eigen::VectorXd::Ones(n);
    kernels->solve(n, padded(n), U.data(), x.data());
    for (int i = 0; i < n; ++i) EXPECT_NEAR(x[i], i == 4 ? 0.0 : 0.5, 1e-15) << name;
  }
}

TEST(Kernels, ProductsAgreeWithEigen) {
  std::mt19937_64 rng(2);
  for (const auto& [name, kernels] : available_kernels()) {
    for (int n : {1, 3, 6, 8, 9, 12, 16, 21}) {
      for (int rows : {1, 3, 4, 12}) {
        const int ld = padded(n);
        const RowMatrix J = random_matrix(rows, n, ld, rng), T = random_matrix(rows, n, ld, rng);
        const Eigen::VectorXd v = random_matrix(1, n, ld, rng).transpose(), y = random_matrix(rows, 1, 1, rng);
        Eigen::VectorXd z(rows), out = Eigen::VectorXd::Ones(ld);
        kernels->multiply(rows, ld, J.data(), v.data(), z.data());
        EXPECT_LT((z - J * v).norm(), 1e-13) << name;
        kernels->multiply_transposed(rows, ld, J.data(), y.data(), out.data());
        EXPECT_LT((out - Eigen::VectorXd::Ones(ld) - J.transpose() * y).norm(), 1e-13) << name;
        for (bool contiguous : {true, false}) {
          const int size = 2 * n + 3, ld_H = padded(size);
          std::vector<int> cols(n);
          for (int k = 0; k < n; ++k) cols[k] = contiguous ? 2 + k : 1 + 2 * k;
          std::vector<double> H(size * ld_H + kLane, 0.5);
          kernels->add_product(rows, n, ld, J.data(), T.data(), cols.data(), contiguous, H.data(), ld_H);
          const Eigen::MatrixXd expected = J.transpose() * T;
          for (int a = 0; a < n; ++a) {
            for (int b = a; b < n; ++b) EXPECT_NEAR(H[cols[a] * ld_H + cols[b]], 0.5 + expected(a, b), 1e-13) << name;
          }
        }
      }
    }
  }
}

TEST(Kernels, TheWorstRayIsThatOfAPlainSearch) {
  std::mt19937_64 rng(7);
  for (const auto& [name, kernels] : available_kernels()) {
    for (const int count : {8, 16, 40}) {
      for (const int rays : {1, 2, 4}) {
        const RowMatrix rows = random_matrix(3, count, count, rng);
        const RowMatrix a = random_matrix(rays, count, count, rng), b = random_matrix(rays, count, count, rng);
        RowMatrix weight = random_matrix(rays, count, count, rng).cwiseAbs();
        weight(rays - 1, count - 1) = 0;  // of an active ray
        RowMatrix score = RowMatrix::Zero(rays, count);
        for (int k = 0; k < rays; ++k) {
          for (int i = 0; i < count; ++i) {
            const double s = rows(0, i) + a(k, i) * rows(1, i) + b(k, i) * rows(2, i);
            if (s < 0) score(k, i) = weight(k, i) * s * s;
          }
        }
        const auto worst = [&](double least) {
          return kernels->most_violated(rays, count, rows.row(0).data(), rows.row(1).data(), rows.row(2).data(),
                                        a.data(), b.data(), weight.data(), least);
        };
        int k = 0, i = 0;
        const double most = score.maxCoeff(&k, &i);
        EXPECT_EQ(worst(0.0), k * count + i) << name;
        EXPECT_EQ(worst(1.001 * most), -1) << name;
      }
    }
  }
}

TEST(Kernels, TheActiveSetIsOneOfTheAvailableOnes) {
  bool found = false;
  for (const auto& [name, kernels] : available_kernels())
    found = found || (name == active_isa() && kernels == &dense_kernels());
  EXPECT_TRUE(found) << active_isa();
}

TEST(Kernels, DistancesFromEllipsoidsAgreeWithEigenForEveryInstructionSet) {
  std::vector<const EllipsoidKernels*> all{&kEllipsoidKernelsBaseline};
  if (available_kernels().size() > 1) all.push_back(&kEllipsoidKernelsAvx2);
  if (available_kernels().size() > 2) all.push_back(&kEllipsoidKernelsAvx512);
  std::mt19937_64 rng(9);
  std::normal_distribution<double> normal;
  const EllipsoidShape shape{.quaternions = 1, .angles = 2, .numbers = 3};
  const int n = shape.errors(), blocks = 3;
  std::vector<double> data(blocks * shape.stride() * kLane), d(blocks * kLane);
  for (double& value : data) value = 3 * normal(rng);
  const auto entry = [&](int node, int i) -> double& {
    return data[((node / kLane) * shape.stride() + i) * kLane + node % kLane];
  };
  Eigen::VectorXd x = Eigen::VectorXd::Random(shape.entries()) * 4;
  x.head<4>().normalize();
  std::vector<double> expected;
  for (int node = 0; node < blocks * kLane; ++node) {
    Eigen::Vector4d c(entry(node, 0), entry(node, 1), entry(node, 2), entry(node, 3));
    c.normalize();
    for (int i = 0; i < 4; ++i) entry(node, i) = c(i);
    const Eigen::AngleAxisd turn(Eigen::Quaterniond(x(0), x(1), x(2), x(3)) *
                                 Eigen::Quaterniond(c(0), c(1), c(2), c(3)).conjugate());
    const double angle = std::remainder(turn.angle(), 2 * 3.141592653589793);
    Eigen::VectorXd e(n);
    e.head<3>() = angle * turn.axis();
    for (int i = 3; i < n; ++i) e(i) = x(i + 1) - entry(node, i + 1);
    for (int i = 3; i < 5; ++i) e(i) = std::remainder(e(i), 2 * 3.141592653589793);
    Eigen::MatrixXd F = Eigen::MatrixXd::Zero(n, n);
    for (int i = 0, at = shape.entries(); i < n; ++i) {
      for (int j = 0; j <= i; ++j) F(i, j) = entry(node, at++);
    }
    expected.push_back((F * e).squaredNorm());
  }
  entry(5, shape.entries()) = std::numeric_limits<double>::quiet_NaN();
  expected[5] = std::numeric_limits<double>::infinity();
  for (const EllipsoidKernels* kernels : all) {
    const double least = kernels->distances(shape, blocks, data.data(), x.data(), d.data());
    EXPECT_TRUE(std::isnan(d[5]));
    d[5] = expected[5];
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (i == 5) continue;
      EXPECT_NEAR(d[i], expected[i], 1e-12 * expected[i]) << i;
    }
    EXPECT_EQ(least, *std::min_element(d.begin(), d.end()));
  }
}

}  // namespace kernels_test
}  // namespace deft::solvers::kernels
