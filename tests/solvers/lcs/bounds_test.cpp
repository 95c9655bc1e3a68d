#include "deft/solvers/lcs/bounds.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "deft/solvers/lcs/box_linear_program.hpp"

namespace deft::solvers::lcs {
namespace bounds_test {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;
constexpr double kInf = std::numeric_limits<double>::infinity();

MatrixXd draw(std::mt19937& generator, Eigen::Index rows, Eigen::Index cols) {
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, cols, [&] { return normal(generator); });
}

/// The best vertex of {lower ≤ (z, R z) ≤ upper}, by trying all: an oracle for programs of few unknowns with a box.
double best_vertex(const MatrixXd& R, const VectorXd& lower, const VectorXd& upper, const VectorXd& c) {
  const int n = static_cast<int>(R.cols()), total = static_cast<int>(lower.size());
  MatrixXd all(total, n);
  all << MatrixXd::Identity(n, n), R;
  double best = -kInf;
  for (int set = 0; set < 1 << total; ++set) {
    if (__builtin_popcount(static_cast<unsigned>(set)) != n) continue;
    std::vector<int> rows;
    for (int i = 0; i < total; ++i) {
      if (set >> i & 1) rows.push_back(i);
    }
    const MatrixXd active = all(rows, Eigen::all);
    const Eigen::FullPivLU<MatrixXd> lu(active);
    if (!lu.isInvertible()) continue;
    for (int sides = 0; sides < 1 << n; ++sides) {
      VectorXd rhs(n);
      for (int j = 0; j < n; ++j) rhs[j] = (sides >> j & 1 ? upper : lower)[rows[j]];
      if (!rhs.allFinite()) continue;
      const VectorXd point = all * lu.solve(rhs);
      if (((point - lower).array() >= -1e-9).all() && ((upper - point).array() >= -1e-9).all())
        best = std::max(best, c.dot(point));
    }
  }
  return best;
}

TEST(BoxLinearProgram, FindsTheBestVertexOrProvesThatThereIsNone) {
  std::mt19937 generator(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  int empty = 0, open = 0;
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + round % 3, m = round / 3 % 4;
    const MatrixXd R = draw(generator, m, n);
    VectorXd lower = draw(generator, n + m, 1), upper = lower + 2 * draw(generator, n + m, 1).cwiseAbs();
    for (int i = 0; i < m; ++i) {
      if (uniform(generator) < 0.3) lower[n + i] = -kInf;
      if (uniform(generator) < 0.3) upper[n + i] = kInf;
    }
    BoxLinearProgram program(R, lower, upper);
    for (int k = 0; k < 4; ++k) {
      const VectorXd c = draw(generator, n + m, 1);
      const double best = best_vertex(R, lower, upper, c), found = program.upper_bound(c);
      if (best == -kInf) {
        EXPECT_EQ(found, -kInf);
        EXPECT_TRUE(program.empty());
        ++empty;
      } else {
        EXPECT_GE(found, best - 1e-9 * (1 + std::abs(best)));
        EXPECT_NEAR(found, best, 1e-8 * (1 + std::abs(best)));
      }
    }
    // With a box that is open on one side the bound may be infinite, but never below what a point reaches.
    upper[0] = kInf;
    BoxLinearProgram wider(R, lower, upper);
    const VectorXd c = draw(generator, n + m, 1);
    const double reached = best_vertex(R, lower, upper, c), found = wider.upper_bound(c);
    EXPECT_GE(found, reached - 1e-9 * (1 + std::abs(reached)));
    open += found == kInf;
  }
  EXPECT_GT(empty, 50);
  EXPECT_GT(open, 20);
}

/// A point of mass 1 above a floor with friction, step 0.1 s: state (x, y, vx, vy), pairs c, β₊, β₋, λ.
LcsMpcProgram floor_program(int N) {
  const double h = 0.1, mu = 0.8;
  LcsMpcProgram p;
  auto& s = p.system;
  s.A = MatrixXd::Identity(4, 4);
  s.A(0, 2) = s.A(1, 3) = h;
  s.B = MatrixXd::Zero(4, 2);
  s.B(0, 0) = s.B(1, 1) = h * h;
  s.B(2, 0) = s.B(3, 1) = h;
  s.C = MatrixXd::Zero(4, 4);
  s.C.row(0) << 0, h, -h, 0;
  s.C.row(1) << h, 0, 0, 0;
  s.C.row(2) << 0, 1, -1, 0;
  s.C.row(3) << 1, 0, 0, 0;
  s.F = VectorXd::Zero(4);
  s.D0 = s.D = MatrixXd::Zero(4, 4);
  s.D(0, 1) = 1;
  s.D(1, 2) = 1;
  s.D(2, 2) = -1;
  s.E = MatrixXd::Zero(4, 4);
  s.E(1, 3) = s.E(2, 3) = 1;
  s.E(3, 0) = mu;
  s.E(3, 1) = s.E(3, 2) = -1;
  s.H = MatrixXd::Zero(4, 2);
  s.alpha = VectorXd::Zero(4);
  p.N = N;
  p.Q = p.Qf = MatrixXd::Identity(4, 4);
  p.R = MatrixXd::Identity(2, 2);
  p.x0 = Eigen::Vector4d(0, 1, 0, 0);
  p.x_goal = MatrixXd::Zero(4, N + 1);
  p.x_min = Eigen::Vector4d(-5, -5, -1, -1);
  p.x_max = -p.x_min;
  p.u_min = MatrixXd::Constant(2, N, -1);
  p.u_max = -p.u_min;
  return p;
}

TEST(LcsBounds, NoForceWhereTheFloorCannotBeReached) {
  // From a height of 1 at most 0.01, 0.03, 0.06 … is fallen in 1, 2, 3 … steps.
  const LcsBounds bounds = find_lcs_bounds(floor_program(8));
  ASSERT_FALSE(bounds.infeasible);
  EXPECT_EQ(bounds.gamma_upper.topRows(3), MatrixXd::Zero(3, 8));
  for (int k = 1; k <= 8; ++k) {
    EXPECT_NEAR(bounds.x_lower(1, k), 1 - 0.005 * k * (k + 1), 1e-6);
    EXPECT_LE(bounds.x_lower(1, k), 1 - 0.005 * k * (k + 1));
    EXPECT_NEAR(bounds.x_upper(2, k), 0.1 * k, 1e-6);
    EXPECT_NEAR(bounds.gamma_upper(3, k - 1), 0.1 * k, 1e-6);  // λ is at most the speed along the floor
  }
}

TEST(LcsBounds, ImpulsesAreBoundedByTheVelocitiesTheyStop) {
  LcsMpcProgram p = floor_program(5);
  p.x0 << 0, 0.02, 0.5, -0.9;
  const LcsBounds bounds = find_lcs_bounds(p);
  // In the first step the floor takes 0.9 + 0.1 at most, less the fall that is left, 0.2.
  EXPECT_NEAR(bounds.gamma_upper(0, 0), 0.8, 1e-6);
  EXPECT_GE(bounds.gamma_upper(0, 0), 0.8);
  EXPECT_LE(bounds.gamma_upper(1, 0), 0.64 + 1e-6);  // friction
  for (int k = 0; k < 5; ++k) EXPECT_LE(bounds.gamma_upper(3, k), 1 + 1e-6) << "λ is at most the sliding speed";
  EXPECT_TRUE(bounds.idle[3]);
  EXPECT_FALSE(bounds.idle[0] || bounds.idle[1]);
}

TEST(LcsBounds, WithoutLoweringAnIdleMultiplierHasNoBound) {
  LcsMpcProgram p = floor_program(5);
  p.x0 << 0, 0, 0, 0;
  const LcsBounds all = find_lcs_bounds(p, {.lower_idle = false});
  EXPECT_EQ(all.gamma_upper(3, 0), kInf);  // at rest without load any λ will do
  EXPECT_LE(find_lcs_bounds(p).gamma_upper(3, 0), 1 + 1e-6);
}

TEST(LcsBounds, NoLossMeansThatALoweredMultiplierIsWithinItsBound) {
  // E with several rows per idle multiplier and idle ones that share a row.
  std::mt19937 generator(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  int lowered = 0, close = 0;
  for (int round = 0; round < 200; ++round) {
    LcsMpcProgram p = floor_program(1);
    auto& s = p.system;
    const int ng = 4;
    s.C = MatrixXd::Zero(4, ng);
    s.D = draw(generator, ng, 4);
    s.D.bottomRows(2).setZero();  // with α = 0 there: pairs 2 and 3 may carry anything
    s.E = MatrixXd::Zero(ng, ng);
    for (const auto& [j, i] : {std::pair(0, 2), std::pair(1, 2), std::pair(1, 3), std::pair(0, 3)})
      s.E(j, i) = uniform(generator) < 0.7 ? uniform(generator) : 0;
    s.alpha = draw(generator, ng, 1);
    s.alpha.tail(2).setZero();
    const LcsBounds bounds = find_lcs_bounds(p);
    ASSERT_TRUE(bounds.idle[2] && bounds.idle[3]);
    for (int trial = 0; trial < 20; ++trial) {
      const Vector2d u = Vector2d::Random();
      const VectorXd next = s.A * p.x0 + s.B * u, rest = s.D * next + s.alpha;
      VectorXd gamma = VectorXd::Zero(ng);
      gamma[2] = gamma[3] = 100;
      if ((rest + s.E * gamma).minCoeff() < 0) continue;  // nothing raises this slack: no point
      // Lower one after the other until a slack, or they themselves, are zero.
      for (const int i : {2, 3}) {
        double least = 0;
        for (const int j : {0, 1}) {
          if (s.E(j, i) > 0) least = std::max(least, gamma[i] - (rest[j] + s.E.row(j).dot(gamma)) / s.E(j, i));
        }
        gamma[i] = least;
      }
      ASSERT_GE((rest + s.E * gamma).minCoeff(), -1e-9);
      ASSERT_FALSE(bounds.infeasible);
      EXPECT_LE(gamma[2], bounds.gamma_upper(2, 0) + 1e-9);
      EXPECT_LE(gamma[3], bounds.gamma_upper(3, 0) + 1e-9);
      ++lowered;
      close += gamma[2] > 0.5 * bounds.gamma_upper(2, 0) && gamma[2] > 0.1;
    }
  }
  EXPECT_GT(lowered, 1000);
  EXPECT_GT(close, 100);
}

/// A random system of which every step has exactly one solution: DC + E is positive definite.
LcsMpcProgram random_program(std::mt19937& generator) {
  std::uniform_int_distribution<int> size(1, 4);
  const int nx = size(generator), nu = size(generator), ng = size(generator), N = 1 + size(generator);
  LcsMpcProgram p;
  p.N = N;
  auto& s = p.system;
  s.A = 0.4 * draw(generator, nx, nx);
  s.B = draw(generator, nx, nu);
  s.C = draw(generator, nx, ng);
  s.F = 0.3 * draw(generator, nx, 1);
  s.D0 = 0.5 * draw(generator, ng, nx);
  s.D = draw(generator, ng, nx);
  const MatrixXd L = draw(generator, ng, ng), skew = draw(generator, ng, ng);
  s.E = L * L.transpose() + 0.2 * MatrixXd::Identity(ng, ng) + skew - skew.transpose() - s.D * s.C;
  s.H = 0.5 * draw(generator, ng, nu);
  s.alpha = draw(generator, ng, 1);
  p.Q = p.Qf = MatrixXd::Identity(nx, nx);
  p.R = MatrixXd::Identity(nu, nu);
  p.x0 = draw(generator, nx, 1);
  p.x_goal = MatrixXd::Zero(nx, N + 1);
  p.u_min = MatrixXd::Constant(nu, N, -1);
  p.u_max = MatrixXd::Constant(nu, N, 1);
  return p;
}

TEST(LcsBounds, HoldEveryTrajectory) {
  std::mt19937 generator(21);
  std::uniform_real_distribution<double> uniform(-1, 1);
  int finite = 0, fixed = 0, trajectories = 0;
  for (int round = 0; round < 150; ++round) {
    LcsMpcProgram p = random_program(generator);
    const auto& s = p.system;
    if (round % 2 == 0) {
      p.x_min = VectorXd::Constant(s.nx(), -4);
      p.x_max = VectorXd::Constant(s.nx(), 4);
    }
    if (round % 5 == 0) p.gamma_max = VectorXd::Constant(s.pairs(), 2);
    const LcsBounds bounds = find_lcs_bounds(p, {.lower_idle = false});
    finite += (bounds.gamma_upper.array() < kInf).all();
    fixed += (bounds.gamma_upper.array() == 0).any();
    lcp::ComplementaritySolver solver;
    for (int trial = 0; trial < 30; ++trial) {
      LcsTrajectory t{MatrixXd(s.nx(), p.N + 1), MatrixXd(s.nu(), p.N), MatrixXd(s.pairs(), p.N)};
      MatrixXd slack(s.pairs(), p.N);
      t.x.col(0) = p.x0;
      bool inside = true;
      for (int k = 0; k < p.N && inside; ++k) {
        t.u.col(k) = MatrixXd::NullaryExpr(
            s.nu(), 1, [&] { return trial % 3 == 0 ? (uniform(generator) > 0 ? 1.0 : -1.0) : uniform(generator); });
        const VectorXd free = s.A * t.x.col(k) + s.B * t.u.col(k) + s.F;
        const auto& result =
            solver.solve({s.D * s.C + s.E, s.D0 * t.x.col(k) + s.D * free + s.H * t.u.col(k) + s.alpha, {}, {}});
        inside = usable(result.status);
        if (!inside) break;
        t.gamma.col(k) = result.solution.z;
        slack.col(k) = result.solution.w;
        t.x.col(k + 1) = free + s.C * result.solution.z;
        if (p.x_min.size() > 0)
          inside = ((t.x.col(k + 1) - p.x_min).array() >= 0).all() && ((p.x_max - t.x.col(k + 1)).array() >= 0).all();
        if (p.gamma_max.size() > 0) inside = inside && ((p.gamma_max - t.gamma.col(k)).array() >= 0).all();
      }
      if (!inside) continue;
      ++trajectories;
      ASSERT_FALSE(bounds.infeasible);
      const auto within = [](const MatrixXd& value, const MatrixXd& lower, const MatrixXd& upper) {
        return ((value - lower).array() >= -1e-9).all() && ((upper - value).array() >= -1e-9).all();
      };
      EXPECT_TRUE(within(t.x, bounds.x_lower, bounds.x_upper));
      EXPECT_TRUE(within(t.u, bounds.u_lower, bounds.u_upper));
      EXPECT_TRUE(within(t.gamma, bounds.gamma_lower, bounds.gamma_upper));
      EXPECT_TRUE(within(slack, bounds.slack_lower, bounds.slack_upper));
    }
  }
  EXPECT_GT(trajectories, 500);
  EXPECT_EQ(finite, 150);  // M is positive definite
  EXPECT_GT(fixed, 10);
}

TEST(LcsBounds, LinearProgramsAndLongerWindowsOnlyNarrow) {
  std::mt19937 generator(31);
  int narrower = 0;
  for (int round = 0; round < 40; ++round) {
    LcsMpcProgram p = random_program(generator);
    p.x_min = VectorXd::Constant(p.system.nx(), -4);
    p.x_max = VectorXd::Constant(p.system.nx(), 4);
    const LcsBounds plain = find_lcs_bounds(p, {.sweeps = 0}), tight = find_lcs_bounds(p);
    if (plain.infeasible) {
      EXPECT_TRUE(tight.infeasible);
      continue;
    }
    if (tight.infeasible) continue;
    EXPECT_TRUE((tight.gamma_upper.array() <= plain.gamma_upper.array()).all());
    EXPECT_TRUE((tight.x_upper.array() <= plain.x_upper.array()).all());
    narrower += (tight.gamma_upper.array() < 0.9 * plain.gamma_upper.array()).any();
  }
  EXPECT_GT(narrower, 10);
}

TEST(LcsBounds, WhatHasNoPointIsProved) {
  LcsMpcProgram p = floor_program(3);
  p.x_min[1] = 0.999;  // must not sink …
  EXPECT_FALSE(find_lcs_bounds(p).infeasible);
  p.system.F[3] = -0.5;  // … but falls faster than the inputs can stop
  EXPECT_TRUE(find_lcs_bounds(p).infeasible);
  p = floor_program(3);
  p.u_min(0, 2) = 1.5;  // crossed
  EXPECT_TRUE(find_lcs_bounds(p).infeasible);
  p = floor_program(3);
  p.gamma_max = VectorXd::Constant(4, -1);
  EXPECT_TRUE(find_lcs_bounds(p).infeasible);
  p = floor_program(3);
  p.x_min[1] = 2;
  EXPECT_TRUE(find_lcs_bounds(p).infeasible);
  p.x_price = VectorXd::Constant(4, 1);  // soft
  EXPECT_FALSE(find_lcs_bounds(p).infeasible);
  p.x0[0] = NAN;
  EXPECT_THROW(find_lcs_bounds(p), std::invalid_argument);
}

}  // namespace bounds_test
}  // namespace deft::solvers::lcs
