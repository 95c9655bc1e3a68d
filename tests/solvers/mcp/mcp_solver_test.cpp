#include "deft/solvers/mcp/mcp_solver.hpp"
#include "deft/core/index.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "support/allocation_counter.hpp"
#include "support/mcp_problems.hpp"

namespace deft::solvers::mcp {
namespace mcp_solver_test {

using deft::testing::josephy;
using deft::testing::kojima_shindo;
using deft::testing::LambdaMcp;
using deft::testing::linear_mcp;
using deft::testing::mcp_error;
using deft::testing::monotone;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using In = std::span<const double>;
using Out = std::span<double>;

TEST(McpNewton, SolvesKojimaAndShindoFromManyStarts) {
  McpSolver solver;
  for (const double a : {0.0, 1.0, 10.0, 100.0}) {
    for (const double b : {0.0, 1.0, 7.0}) {
      for (const double c : {0.0, 1.0, 10.0}) {
        LambdaMcp problem = kojima_shindo();
        const McpResult& result = solver.solve(problem, std::vector<double>{a, b, c, b});
        ASSERT_EQ(result.status, Status::kSolved) << a << b << c;
        EXPECT_LT(mcp_error(problem, result.z), 1e-12);
        const bool first = std::abs(result.z[3] - 0.5) < 1e-6;
        const VectorXd exact =
            first ? VectorXd(Eigen::Vector4d(std::sqrt(6.0) / 2, 0, 0, 0.5)) : VectorXd(Eigen::Vector4d(1, 0, 3, 0));
        for (int i = 0; i < 4; ++i) EXPECT_NEAR(result.z[i], exact[i], 1e-9);
        EXPECT_EQ(result.z[1], 0.0);
      }
    }
  }
}

TEST(McpNewton, SolvesJosephyFromManyStarts) {
  McpSolver solver;
  for (const double a : {0.0, 1.0, 10.0, 100.0}) {
    for (const double b : {0.0, 2.0, 50.0}) {
      LambdaMcp problem = josephy();
      const McpResult& result = solver.solve(problem, std::vector<double>{a, b, b, a});
      ASSERT_EQ(result.status, Status::kSolved) << a << " " << b;
      EXPECT_NEAR(result.z[0], std::sqrt(6.0) / 2, 1e-12);
      EXPECT_EQ(result.z[1], 0.0);
      EXPECT_EQ(result.z[2], 0.0);
      EXPECT_NEAR(result.z[3], 0.5, 1e-12);
      EXPECT_EQ(result.residual, mcp_error(problem, result.z));
    }
  }
}

TEST(McpNewton, FindsTheSolutionOfMonotoneProblems) {
  McpSolver solver;
  for (const int n : {1, 2, 5, 20, 50, 149, 160}) {
    for (unsigned seed = 0; seed < (n > 100 ? 2u : 10u); ++seed) {
      std::vector<double> exact;
      LambdaMcp problem = monotone(n, n / 3, seed, exact);
      const McpResult& result = solver.solve(problem, std::vector<double>(n, 5.0));
      ASSERT_EQ(result.status, Status::kSolved) << n << " " << seed;
      EXPECT_STREQ(result.method, "newton");
      for (std::size_t i = 0; i < exact.size(); ++i) {
        EXPECT_NEAR(result.z[i], exact[i], 1e-12 * n);  // eigenvalues of the symmetric part ≥ 0.1
        if (!problem.is_free()[i] && exact[i] == 0) {
          EXPECT_EQ(result.z[i], 0.0);
        }
      }
    }
  }
}

TEST(McpNewton, FreeRowsAloneAreEquations) {
  // Broyden's tridiagonal equations.
  const int n = 30;
  std::vector<int> free(n);
  for (int i = 0; i < n; ++i) free[i] = i;
  LambdaMcp problem(
      n,
      [](In z, Out F, McpJacobian* J) {
        for (std::size_t i = 0; i < z.size(); ++i) {
          F[i] = (3 - 2 * z[i]) * z[i] - (i > 0 ? z[i - 1] : 0) - 2 * (i + 1 < z.size() ? z[i + 1] : 0) + 1;
          if (J == nullptr) continue;
          const int k = static_cast<int>(i);
          J->add(k, k, 3 - 4 * z[i]);
          if (i > 0) J->add(k, k - 1, -1);
          if (i + 1 < z.size()) J->add(k, k + 1, -2);
        }
        return true;
      },
      free);
  const McpResult result = McpSolver().solve(problem, std::vector<double>(n, -1.0));
  ASSERT_EQ(result.status, Status::kSolved);
  EXPECT_LE(result.iterations, 7);
  EXPECT_LT(mcp_error(problem, result.z), 1e-14);
}

// Two multipliers that do the same: all (l, 1 − l) are solutions, the Jacobian is singular at each.
TEST(McpNewton, RedundantMultipliersCostNoSpeed) {
  LambdaMcp problem(3,
                    [](In z, Out F, McpJacobian* J) {
                      F[0] = z[0] + z[0] * z[0] * z[0] + 1 - z[1] - z[2];
                      F[1] = F[2] = std::sinh(z[0]);
                      if (J == nullptr) return true;
                      J->add(0, 0, 1 + 3 * z[0] * z[0]);
                      J->add(0, 1, -1);
                      J->add(0, 2, -1);
                      J->add(1, 0, std::cosh(z[0]));
                      J->add(2, 0, std::cosh(z[0]));
                      return true;
                    },
                    {0});
  for (const double start : {0.0, 0.3, 1.0, 3.0, 20.0}) {
    const std::vector<double> from{start, 0.2 * start, start};
    const McpResult result = McpSolver().solve(problem, from);
    ASSERT_EQ(result.status, Status::kSolved) << start;
    EXPECT_STREQ(result.method, "newton");
    EXPECT_LE(result.iterations, 15) << start;
    EXPECT_LT(mcp_error(problem, result.z), 1e-14);
    EXPECT_NEAR(result.z[1] + result.z[2], 1, 1e-14);
    // Quadratic near the end: the residual after one more iteration, of terms around 1.
    constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
    double before = 1;
    for (int k = 0; k < 20 && before > 1e-9; ++k) {
      const double residual =
          McpSolver({.tolerance = 1e-15, .max_newton = k, .fallbacks = false}).solve(problem, from).residual;
      if (before < 0.03) {
        EXPECT_LT(residual, std::max(5 * before * before, kRounding)) << start << " " << k;
      }
      before = residual;
    }
    EXPECT_LT(before, 1e-9);
  }
}

// A pressed point somewhere on a face: 0 ≤ p ⟂ gap ≥ 0 with nothing that says where on it.
TEST(McpNewton, WhatNothingDeterminesStaysNearTheStart) {
  const Eigen::Matrix3d pair = (Eigen::Matrix3d() << 1, 1, 0, 1, 1, 0, 0, 0, 1).finished();
  LambdaMcp problem(4,
                    [pair](In z, Out F, McpJacobian* J) {
                      const double sum = z[0] + z[1] - 2;
                      F[0] = F[1] = sum + 0.1 * sum * sum * sum;
                      F[2] = 3 * z[2] - std::cos(sum) - z[3];
                      F[3] = z[2] - 1;
                      if (J == nullptr) return true;
                      for (int i = 0; i < 2; ++i)
                        for (int j = 0; j < 2; ++j) {
                          J->add(i, j, 1 + 0.3 * sum * sum);
                          if (i == 0) J->add(2, j, std::sin(sum));
                        }
                      J->add(2, 2, 3);
                      J->add(2, 3, -1);
                      J->add(3, 2, 1);
                      return true;
                    },
                    {0, 1, 2});
  const McpResult result = McpSolver().solve(problem, std::vector<double>{5, -4, 0, 0});
  ASSERT_EQ(result.status, Status::kSolved);
  EXPECT_LE(result.iterations, 12);
  EXPECT_LT(mcp_error(problem, result.z), 1e-14);
  EXPECT_NEAR(result.z[0] - result.z[1], 9, 1e-9);
  EXPECT_NEAR(result.z[3], 2, 1e-13);
  // From a solution nothing moves, to the last bit.
  const McpResult again = McpSolver().solve(problem, result.z);
  EXPECT_EQ(again.z, result.z);
}

TEST(McpNewton, UnitsDoNotMatter) {
  std::vector<double> exact;
  for (unsigned seed = 0; seed < 5; ++seed) {
    LambdaMcp plain = monotone(20, 6, seed, exact);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> exponent(-6, 6);
    std::vector<double> variables(20), rows(20);
    for (std::size_t i = 0; i < 20; ++i) {
      variables[i] = std::pow(10.0, exponent(random));
      rows[i] = std::pow(10.0, exponent(random));
    }
    LambdaMcp scaled(20,
                     [&](In z, Out F, McpJacobian* J) {
                       std::vector<double> y(20), f(20), data(400);
                       for (std::size_t i = 0; i < 20; ++i) y[i] = z[i] / variables[i];
                       McpJacobian inner(data.data(), 20, nullptr);
                       plain.evaluate(y, f, &inner);
                       for (std::size_t i = 0; i < 20; ++i) {
                         F[i] = f[i] * rows[i];
                         if (J != nullptr)
                           for (std::size_t j = 0; j < 20; ++j)
                             J->add(static_cast<int>(i), static_cast<int>(j),
                                    data[i * 20 + j] * rows[i] / variables[j]);
                       }
                       return true;
                     },
                     {0, 1, 2, 3, 4, 5});
    scaled.variables = variables;
    scaled.rows = rows;
    const McpResult result = McpSolver().solve(scaled, std::vector<double>(20, 0.0));
    ASSERT_EQ(result.status, Status::kSolved) << seed;
    for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(result.z[i] / variables[i], exact[i], 1e-11);
  }
}

TEST(McpNewton, StaysWhereTheFunctionIsDefined) {
  // ln z_0 + z_1 = 0 for z_0 > 0 only, 0 ≤ z_1 ⟂ 0.5 − √(z_0 − 0.1) ≥ 0: z_0 = 0.35, z_1 = −ln 0.35.
  LambdaMcp problem(2,
                    [](In z, Out F, McpJacobian* J) {
                      if (!(z[0] > 0.1)) return false;
                      F[0] = std::log(z[0]) + z[1];
                      F[1] = 0.5 - std::sqrt(z[0] - 0.1);
                      if (J == nullptr) return true;
                      J->add(0, 0, 1 / z[0]);
                      J->add(0, 1, 1);
                      J->add(1, 0, -0.5 / std::sqrt(z[0] - 0.1));
                      return true;
                    },
                    {0});
  for (const double start : {0.11, 1.0, 5.0, 100.0}) {
    const McpResult result = McpSolver().solve(problem, std::vector<double>{start, 0});
    ASSERT_EQ(result.status, Status::kSolved) << start;
    EXPECT_NEAR(result.z[0], 0.35, 1e-14);
    EXPECT_NEAR(result.z[1], -std::log(0.35), 1e-14);
  }
  const McpResult nowhere = McpSolver().solve(problem, std::vector<double>{-1, 0});
  EXPECT_NE(nowhere.status, Status::kTimeLimit);
  EXPECT_EQ(nowhere.z.size(), 2u);
}

// −u'' + u³ = load where u ≥ obstacle; unknown z = u − obstacle, 0 ≤ z ⟂ residual ≥ 0, on a grid of 20 × 20 points.
// Oracle: projected Gauss–Seidel with a scalar Newton method, which forms no matrix.
TEST(McpNewton, SolvesAnObstacleProblemOfManyUnknowns) {
  const int side = 20, n = side * side;
  const double h2 = 1.0 / ((side + 1.0) * (side + 1.0));
  std::vector<double> obstacle(n);
  for (int i = 0; i < n; ++i) {
    const double x = (i % side + 1.0) / (side + 1) - 0.5, y = (i / side + 1.0) / (side + 1) - 0.4;
    obstacle[i] = 0.3 - 3 * (x * x + y * y);
  }
  const auto neighbours = [&](int i, auto visit) {
    if (i % side > 0) visit(i - 1);
    if (i % side + 1 < side) visit(i + 1);
    if (i >= side) visit(i - side);
    if (i + side < n) visit(i + side);
  };
  LambdaMcp problem(n, [&](In z, Out F, McpJacobian* J) {
    for (int i = 0; i < n; ++i) {
      const double u = z[i] + obstacle[i];
      double value = 4 * u;
      neighbours(i, [&](int k) {
        value -= z[k] + obstacle[k];
        if (J != nullptr) J->add(i, k, -1);
      });
      F[i] = value + h2 * (u * u * u + 4);
      if (J != nullptr) J->add(i, i, 4 + h2 * 3 * u * u);
    }
    return true;
  });
  std::vector<double> u = obstacle;
  for (int sweep = 0; sweep < 3000; ++sweep) {
    for (int i = 0; i < n; ++i) {
      const auto k = to_size(i);
      double sum = 0;
      neighbours(i, [&](int j) { sum += u[j]; });
      double x = u[k];
      for (int newton = 0; newton < 4; ++newton) x -= (4 * x - sum + h2 * (x * x * x + 4)) / (4 + 3 * h2 * x * x);
      u[k] = std::max(obstacle[k], x);
    }
  }
  const McpResult result = McpSolver().solve(problem, std::vector<double>(n, 0.5));
  ASSERT_EQ(result.status, Status::kSolved);
  EXPECT_STREQ(result.method, "newton");
  EXPECT_LE(result.iterations, 25);
  int touching = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    EXPECT_NEAR(result.z[i] + obstacle[i], u[i], 1e-11);
    touching += result.z[i] == 0;
  }
  EXPECT_GT(touching, 10);
  EXPECT_LT(touching, n / 2);
}

TEST(McpNewton, WhatHasNoSolutionEndsWithAStatus) {
  // −1 − z² ≥ 0, and two equations that contradict each other.
  LambdaMcp negative(1, [](In z, Out F, McpJacobian* J) {
    F[0] = -1 - z[0] * z[0];
    if (J != nullptr) J->add(0, 0, -2 * z[0]);
    return true;
  });
  LambdaMcp contradiction = linear_mcp(MatrixXd::Ones(2, 2), Eigen::Vector2d(0, 1), {0, 1});
  for (LambdaMcp* problem : {&negative, &contradiction}) {
    const McpResult result = McpSolver().solve(*problem, std::vector<double>(problem->size(), 1.0));
    EXPECT_TRUE(result.status == Status::kNumericalFailure || result.status == Status::kIterationLimit);
    EXPECT_EQ(result.residual, mcp_error(*problem, result.z));
    EXPECT_GT(result.residual, 0.1);
  }
}

TEST(McpNewton, RefusesWrongInputByName) {
  const auto message = [](auto change) {
    LambdaMcp problem = linear_mcp(MatrixXd::Identity(2, 2), Eigen::Vector2d(-1, 1));
    std::vector<double> start{0, 0};
    McpSettings settings;
    change(problem, start, settings);
    try {
      McpSolver(settings).solve(problem, start);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  const double nan = std::nan("");
  EXPECT_EQ(message([](auto&, auto& start, auto&) { start.push_back(1); }), "start: has 3 entries, expected 2");
  EXPECT_EQ(message([&](auto&, auto& start, auto&) { start[1] = nan; }), "start[1] = nan: must be finite");
  EXPECT_EQ(message([](auto& p, auto&, auto&) { p.rows[0] = 0; }), "row_scale[0] = 0: must be positive and finite");
  EXPECT_EQ(message([](auto& p, auto&, auto&) { p.variables[1] = -2; }),
            "variable_scale[1] = -2: must be positive and finite");
  EXPECT_EQ(message([](auto& p, auto&, auto&) { p.variables.pop_back(); }),
            "variable_scale: has 1 entries, expected 2");
  EXPECT_EQ(message([](auto&, auto&, auto& s) { s.tolerance = 0; }), "tolerance = 0: must be positive");
  EXPECT_EQ(message([](auto&, auto&, auto& s) { s.max_newton = -1; }), "max_newton = -1: must not be negative");
}

TEST(McpNewton, AnEmptyProblemIsSolved) {
  LambdaMcp problem = linear_mcp(MatrixXd(0, 0), VectorXd(0));
  EXPECT_EQ(McpSolver().solve(problem, {}).status, Status::kSolved);
}

TEST(McpNewton, ARepeatedSizeDoesNotAllocate) {
  if (!kCountsAllocations) GTEST_SKIP() << "a sanitizer owns malloc";
  // z_i² + coupling: steps of every kind, polishing and the refusals included.
  const int n = 24;
  deft::testing::LambdaMcp problem(n, [](std::span<const double> z, std::span<double> F, McpJacobian* J) {
    for (int i = 0; i < n; ++i) {
      const auto k = to_size(i);
      F[k] =
          z[k] * z[k] * z[k] - 2 + (i % 3) * 2 + 0.3 * (z[(k + 1) % n] - z[(k + 5) % n]) + (i < 2 ? -5.0 : 0.0) * z[2];
      if (J == nullptr) continue;
      J->add(i, i, 3 * z[k] * z[k]);
      J->add(i, (i + 1) % n, 0.3);
      J->add(i, (i + 5) % n, -0.3);
      if (i < 2) J->add(i, 2, -5.0);
    }
    return true;
  });
  McpSolver solver;
  const std::vector<double> cold(n, 0.0), far(n, 7.0);
  const auto run = [&] {
    const bool first = solver.solve(problem, cold).status == Status::kSolved;
    return solver.solve(problem, far).status == Status::kSolved && first;
  };
  ASSERT_TRUE(run());
  bool solved = false;
  EXPECT_EQ(testing_support::allocations_during([&] { solved = run(); }), 0);
  EXPECT_TRUE(solved);
}

}  // namespace mcp_solver_test
}  // namespace deft::solvers::mcp
