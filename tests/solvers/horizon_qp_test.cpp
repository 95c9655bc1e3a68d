// The program over the horizon against dense optimality conditions, written down once more from the raw problem.

#include "deft/solvers/horizon_qp.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>

#include "deft/math/random.hpp"

namespace deft::solvers {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Random numbers of one problem.
struct Source {
  std::uint64_t seed;
  std::uint32_t next = 0;
  double normal() { return random_normal(seed, 0, next++); }
  MatrixXd matrix(int rows, int columns, double scale = 1) {
    MatrixXd m(rows, columns);
    for (double& entry : m.reshaped()) entry = scale * normal();
    return m;
  }
};

/// Unstable dynamics, costs on some states only, `rows` general rows per stage of which the odd ones are soft.
HorizonQp random_program(std::uint64_t seed, int steps, int nx, int nu, int rows, double bound) {
  Source draw{seed};
  HorizonQp qp{draw.matrix(nx, 1), draw.matrix(nu, 1, 0.1 * std::min(bound, 1.0)), {}};
  for (int t = 0; t <= steps; ++t) {
    HorizonStage s;
    const MatrixXd root = draw.matrix(nx / 2 + 1, nx);
    s.Q = root.transpose() * root;
    s.q = draw.matrix(nx, 1);
    s.A = MatrixXd::Identity(nx, nx) + draw.matrix(nx, nx, 0.1);
    s.B = draw.matrix(nx, nu, 0.5);
    s.c = draw.matrix(nx, 1, 0.05);
    s.R = VectorXd::Constant(nu, 0.1) + draw.matrix(nu, 1).cwiseAbs();
    s.lower = VectorXd::Constant(nu, -bound);
    s.upper = VectorXd::Constant(nu, bound);
    s.change = VectorXd::Constant(nu, 0.7 * bound);
    if (nu > 1) s.upper(1) = kInfinity;
    s.X = draw.matrix(rows, nx);
    s.P = draw.matrix(rows, nu, 0.3);
    s.U = draw.matrix(rows, nu, 0.3);
    s.d = VectorXd::Constant(rows, 1.0) + draw.matrix(rows, 1, 0.3);
    s.rho.setConstant(rows, kInfinity);
    for (int i = 0; i < rows; ++i) s.rho(i) = i % 2 == 0 ? 3.0 : 0.5;
    qp.stages.push_back(s);
  }
  return qp;
}

/// The same program in the inputs alone:  min ½vᵀHv + fᵀv,  G v ≤ d (+ e).
struct Dense {
  MatrixXd H, G;
  VectorXd f, d, rho, v, multiplier;
};

Dense condense(const HorizonQp& qp, const HorizonSolution& solution) {
  const int steps = static_cast<int>(qp.stages.size()) - 1, nx = static_cast<int>(qp.x_start.size()),
            nu = static_cast<int>(qp.u_before.size()), n = steps * nu;
  Dense dense{MatrixXd::Zero(n, n), MatrixXd(0, n), VectorXd::Zero(n), VectorXd(0), VectorXd(0), VectorXd(n), {}};
  const auto select = [&](int t) {  // u_t = S v
    MatrixXd S = MatrixXd::Zero(nu, n);
    if (t >= 0) S.middleCols(t * nu, nu).setIdentity();
    return S;
  };
  const auto add_row = [&](const VectorXd& g, double d, double rho, double multiplier) {
    if (d == kInfinity) {
      EXPECT_EQ(multiplier, 0);
      return;
    }
    const auto k = dense.d.size();
    dense.G.conservativeResize(k + 1, n);
    dense.G.row(k) = g.transpose();
    for (VectorXd* column : {&dense.d, &dense.rho, &dense.multiplier}) column->conservativeResize(k + 1);
    dense.d(k) = d;
    dense.rho(k) = rho;
    dense.multiplier(k) = multiplier;
  };
  MatrixXd F = MatrixXd::Zero(nx, n);  // x_t = F v + g
  VectorXd g = qp.x_start;
  for (int t = 0; t <= steps; ++t) {
    const HorizonStage& s = qp.stages[static_cast<std::size_t>(t)];
    const VectorXd& l = solution.multiplier[static_cast<std::size_t>(t)];
    const MatrixXd S = select(t < steps ? t : -1), before = select(t - 1);
    const VectorXd u0 = t == 0 ? qp.u_before : VectorXd::Zero(nu);
    dense.H += F.transpose() * s.Q * F;
    dense.f += F.transpose() * (s.Q * g + s.q);
    const int offset = t < steps ? 4 * nu : 0;
    for (int i = 0; i < s.d.size(); ++i) {
      VectorXd row = (s.X.row(i) * F + s.P.row(i) * before).transpose();
      if (t < steps) row += (s.U.row(i) * S).transpose();
      add_row(row, s.d(i) - s.X.row(i).dot(g) - s.P.row(i).dot(u0), s.rho(i), l(offset + i));
    }
    if (t == steps) break;
    const MatrixXd change = S - before;
    dense.H += change.transpose() * s.R.asDiagonal() * change;
    dense.f -= change.transpose() * s.R.asDiagonal() * u0;
    for (int i = 0; i < nu; ++i) {
      add_row(S.row(i).transpose(), s.upper(i), kInfinity, l(i));
      add_row(-S.row(i).transpose(), -s.lower(i), kInfinity, l(nu + i));
      add_row(change.row(i).transpose(), s.change(i) + u0(i), kInfinity, l(2 * nu + i));
      add_row(-change.row(i).transpose(), s.change(i) - u0(i), kInfinity, l(3 * nu + i));
    }
    F = s.A * F + s.B * S;
    g = s.A * g + s.c;
    dense.v.segment(t * nu, nu) = solution.u[static_cast<std::size_t>(t)];
  }
  return dense;
}

TEST(HorizonQp, WithoutBoundsIsTheDenseMinimum) {
  for (int seed = 0; seed < 20; ++seed) {
    HorizonQp qp = random_program(seed, 12, 5, 3, 0, 1.0);
    for (HorizonStage& s : qp.stages) {
      s.lower.setConstant(-kInfinity);
      s.upper.setConstant(kInfinity);
      s.change.setConstant(kInfinity);
    }
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {}, solution);
    ASSERT_EQ(solution.status, HorizonStatus::kSolved) << seed;
    EXPECT_LE(solution.iterations, 2);
    const Dense dense = condense(qp, solution);
    const VectorXd expected = -dense.H.ldlt().solve(dense.f);
    EXPECT_LT((dense.v - expected).norm(), 1e-8 * (1 + expected.norm())) << seed;
  }
}

TEST(HorizonQp, FulfilsTheDenseOptimalityConditions) {
  int binding = 0, violated = 0;
  for (int seed = 0; seed < 100; ++seed) {
    const HorizonQp qp =
        random_program(seed, 2 + seed % 19, 2 + seed % 6, 1 + seed % 4, seed % 4, 0.3 + 0.1 * (seed % 7));
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {.tolerance = 1e-10}, solution);
    ASSERT_EQ(solution.status, HorizonStatus::kSolved) << seed;
    const Dense dense = condense(qp, solution);
    const VectorXd& l = dense.multiplier;
    const double scale = 1 + dense.f.cwiseAbs().maxCoeff() + l.cwiseAbs().maxCoeff();
    EXPECT_LT((dense.H * dense.v + dense.f + dense.G.transpose() * l).cwiseAbs().maxCoeff(), 1e-8 * scale) << seed;
    const VectorXd slack = dense.d - dense.G * dense.v;
    for (Eigen::Index i = 0; i < l.size(); ++i) {
      EXPECT_GE(l(i), 0);
      EXPECT_LE(l(i), dense.rho(i));
      if (dense.rho(i) == kInfinity) {
        EXPECT_GE(slack(i), -1e-7) << seed;
      }
      // λ = 0 inside, λ = ρ beyond, anything between at the bound.
      if (slack(i) > 1e-4) {
        EXPECT_LT(l(i), 1e-3 * scale) << seed;
      }
      if (slack(i) < -1e-4) {
        EXPECT_GT(l(i), dense.rho(i) - 1e-3 * scale) << seed;
      }
      EXPECT_LT(std::abs(std::max(slack(i), 0.0) * l(i)), 1e-6 * scale) << seed;
      if (slack(i) < 0) {
        EXPECT_LT(std::abs(slack(i) * (dense.rho(i) - l(i))), 1e-6 * scale) << seed;
      }
      binding += l(i) > 1e-3;
      violated += slack(i) < -1e-3;
    }
  }
  // The test would prove nothing of bounds that never bind.
  EXPECT_GT(binding, 500);
  EXPECT_GT(violated, 20);
}

TEST(HorizonQp, StatesFollowFromInputs) {
  const HorizonQp qp = random_program(7, 9, 4, 2, 2, 0.5);
  HorizonSolution solution;
  HorizonQpSolver().solve(qp, {}, solution);
  EXPECT_EQ((solution.x[0] - qp.x_start).norm(), 0);
  for (std::size_t t = 0; t < 9; ++t) {
    const HorizonStage& s = qp.stages[t];
    EXPECT_LT((s.A * solution.x[t] + s.B * solution.u[t] + s.c - solution.x[t + 1]).norm(), 1e-12);
  }
}

TEST(HorizonQp, FeedbackIsTheAnswerToAnotherStart) {
  HorizonQp qp = random_program(3, 8, 4, 2, 0, 1.0);
  for (HorizonStage& s : qp.stages) {
    s.lower.setConstant(-1e3);
    s.upper.setConstant(1e3);
    s.change.setConstant(1e3);
  }
  HorizonSolution a, b;
  HorizonQpSolver().solve(qp, {.tolerance = 1e-12}, a);
  const VectorXd moved = Source{99}.matrix(4, 1, 0.1);
  qp.x_start += moved;
  HorizonQpSolver().solve(qp, {.tolerance = 1e-12}, b);
  EXPECT_LT((b.u[0] - a.u[0] - a.feedback[0] * moved).norm(), 1e-6);
}

TEST(HorizonQp, SaysWhenHardRowsContradictEachOther) {
  HorizonQp qp = random_program(5, 4, 3, 2, 0, 1.0);
  HorizonStage& s = qp.stages[2];
  s.X = MatrixXd::Zero(2, 3);
  s.P = MatrixXd::Zero(2, 2);
  s.U = MatrixXd::Zero(2, 2);
  s.U(0, 0) = 1;
  s.U(1, 0) = -1;
  s.d = VectorXd::Constant(2, -0.1);  // u ≤ −0.1 and u ≥ 0.1
  s.rho.setConstant(2, kInfinity);
  HorizonSolution solution;
  HorizonQpSolver().solve(qp, {}, solution);
  EXPECT_NE(solution.status, HorizonStatus::kSolved);
  EXPECT_GT(solution.violation, 1e-3);
}

TEST(HorizonQp, NamesTheStageThatIsWrong) {
  HorizonQp qp = random_program(5, 4, 3, 2, 0, 1.0);
  qp.stages[3].R(1) = 0;
  HorizonSolution solution;
  try {
    HorizonQpSolver().solve(qp, {}, solution);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("stage 3: R and change must be positive"), std::string::npos);
  }
}

}  // namespace
}  // namespace deft::solvers
