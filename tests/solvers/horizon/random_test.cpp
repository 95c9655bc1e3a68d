// Programs over a horizon of many kinds, against all sets of active rows and against dense optimality conditions.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "deft/core/index.hpp"
#include "deft/solvers/horizon/certificate.hpp"
#include "solvers/horizon/horizon_programs.hpp"

namespace deft::solvers::horizon {
namespace random_test {

/// The one minimum of a dense program: every row inactive, active or relaxed, all combinations.
VectorXd enumerate(const Dense& p) {
  const Eigen::Index n = p.H.rows(), m = p.d.size();
  const double unit = p.H.cwiseAbs().maxCoeff();  // the system below has entries around 1: its rank is measured by them
  std::vector<int> state(m, 0);
  double least = kInfinity;
  VectorXd best;
  for (bool more = true; more;) {
    VectorXd f = p.f;
    std::vector<Eigen::Index> active;
    for (Eigen::Index i = 0; i < m; ++i) {
      if (state[i] == 1) active.push_back(i);
      if (state[i] == 2) f += p.rho(i) * p.G.row(i).transpose();
    }
    const auto k = static_cast<Eigen::Index>(active.size());
    if (k <= n) {
      MatrixXd K = MatrixXd::Zero(n + k, n + k);
      VectorXd right(n + k);
      K.topLeftCorner(n, n) = p.H / unit;
      right.head(n) = -f;
      for (Eigen::Index a = 0; a < k; ++a) {
        K.row(n + a).head(n) = p.G.row(active[a]);
        K.col(n + a).head(n) = p.G.row(active[a]).transpose();
        right(n + a) = unit * p.d(active[a]);
      }
      const VectorXd v = K.fullPivLu().solve(right).head(n) / unit;
      const VectorXd excess = p.G * v - p.d, terms = p.G.cwiseAbs() * v.cwiseAbs() + p.d.cwiseAbs();
      double cost = 0.5 * v.dot(p.H * v) + p.f.dot(v);
      for (Eigen::Index i = 0; i < m; ++i) {
        if (p.rho(i) < kInfinity)
          cost += p.rho(i) * std::max(0.0, excess(i));
        else if (excess(i) > 1e-9 * terms(i))
          cost = kInfinity;
      }
      if (cost < least) {
        least = cost;
        best = v;
      }
    }
    more = false;
    for (Eigen::Index i = 0; i < m && !more; ++i) {
      int& s = state[i];
      s = (s + 1) % (p.rho(i) < kInfinity ? 3 : 2);
      more = s != 0;
    }
  }
  return best;
}

/// What the kinds of the tests below have been made of.
struct Kind {
  const char* name;
  bool changes;       // R, change and P
  double growth;      // of the states per stage, at most
  double least_S;     // of the direct cost
  double cost, size;  // scales of the cost and of x and u
  bool duplicates;    // every row twice
  double bound;       // of u, of the size
};

HorizonQp make(const Kind& kind, std::uint64_t seed, int steps, int nx, int nu, int rows) {
  HorizonQp qp = random_program(seed, steps, nx, nu, rows, kind.bound);
  Source draw{seed + 1000};
  qp.x_start *= kind.size;
  qp.u_before *= kind.size;
  for (HorizonStage& s : qp.stages) {
    const bool last = &s == &qp.stages.back();
    s.Q *= kind.cost / (kind.size * kind.size);
    s.q *= kind.cost / kind.size;
    s.d *= kind.size;
    s.rho *= kind.cost / kind.size;
    if (!last) {
      if (kind.growth > 1) {
        const MatrixXd random = draw.matrix(nx, nx);
        s.A = kind.growth * MatrixXd(random.householderQr().householderQ());
      }
      s.c *= kind.size;
      s.lower *= kind.size;
      s.upper *= kind.size;
      s.change *= kind.size;
      s.S = VectorXd::Constant(nu, kind.least_S) + (seed % 2 == 0 ? 0.1 : 0.0) * draw.matrix(nu, 1).cwiseAbs();
      s.S *= kind.cost / (kind.size * kind.size);
      s.s = kind.cost / kind.size * draw.matrix(nu, 1, 0.3);
      s.R *= kind.cost / (kind.size * kind.size);
      if (kind.changes) s.S *= 0;  // R alone is enough
    }
    if (!kind.changes) {
      s.R.resize(0);
      s.change.resize(0);
      s.P.resize(0, 0);
    }
    if (kind.duplicates) {
      s.X = MatrixXd(s.X.replicate(2, 1));
      s.U = MatrixXd(s.U.replicate(2, 1));
      s.P = MatrixXd(s.P.replicate(s.P.size() > 0 ? 2 : 1, 1));
      s.d = VectorXd(s.d.replicate(2, 1));
      s.rho = VectorXd(s.rho.replicate(2, 1));
    }
  }
  return qp;
}

constexpr Kind kKinds[] = {
    {"plain", false, 1, 0.1, 1, 1, false, 0.5},      {"changes", true, 1, 0.1, 1, 1, false, 0.5},
    {"unstable", false, 1.5, 0.1, 1, 1, false, 2.0}, {"unstable changes", true, 1.5, 0.1, 1, 1, false, 2.0},
    {"singular", false, 1, 1e-7, 1, 1, false, 0.5},  {"tight", false, 1, 0.1, 1, 1, false, 1e-5},
    {"duplicates", false, 1, 0.1, 1, 1, true, 0.5},  {"dear", false, 1, 0.1, 1e4, 1, false, 0.5},
    {"cheap", true, 1, 0.1, 1e-4, 1, true, 0.5},     {"large", true, 1, 0.1, 1, 1e4, false, 0.5},
    {"small", false, 1, 0.1, 1, 1e-4, false, 0.5},   {"free", false, 1, 0.1, 1, 1, false, 1e3},
};

/// Dense optimality conditions, relative to what they are made of.
void expect_optimal(const HorizonQp& qp, const HorizonSolution& solution, const Kind& kind, double tolerance,
                    const std::string& which) {
  const Dense dense = condense(qp, solution);
  const VectorXd& l = dense.multiplier;
  const VectorXd pull = dense.G.transpose() * l;
  const double force = dense.f.cwiseAbs().maxCoeff() + (dense.H.cwiseAbs() * dense.v.cwiseAbs()).maxCoeff() +
                       (l.size() > 0 ? (dense.G.cwiseAbs().transpose() * l).maxCoeff() : 0);
  EXPECT_LT((dense.H * dense.v + dense.f + pull).cwiseAbs().maxCoeff(), tolerance * force) << which;
  const VectorXd slack = dense.d - dense.G * dense.v;
  for (Eigen::Index i = 0; i < l.size(); ++i) {
    const double terms = dense.G.row(i).cwiseAbs().dot(dense.v.cwiseAbs());
    const double row = std::abs(dense.d(i)) + terms + kind.size * kind.bound;
    const double near = tolerance * row;
    ASSERT_GE(l(i), 0) << which;
    ASSERT_LE(l(i), dense.rho(i)) << which;
    if (dense.rho(i) == kInfinity) {
      EXPECT_GE(slack(i), -near) << which;
    } else if (slack(i) < -near) {
      EXPECT_LE((dense.rho(i) - l(i)) * -slack(i), tolerance * std::max(force, dense.rho(i)) * row) << which;
    }
    if (slack(i) > near) {
      EXPECT_LE(l(i) * slack(i), tolerance * force * row) << which;
    }
  }
}

TEST(HorizonQpKinds, SmallProgramsAreSolvedLikeByTryingAllSets) {
  int bent = 0;
  for (int seed = 0; seed < 120; ++seed) {
    const Kind& kind = kKinds[to_size(seed) % std::size(kKinds)];
    if (kind.duplicates || kind.changes) continue;
    const int nu = 1 + seed % 2, steps = nu == 1 ? 1 + seed % 3 : 1;
    const HorizonQp qp = make(kind, static_cast<std::uint64_t>(seed), steps, 1 + seed % 4, nu, 1 + seed % 2);
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {.tolerance = 1e-10}, solution);
    ASSERT_EQ(solution.status, HorizonStatus::kSolved) << kind.name << ' ' << seed;
    const Dense dense = condense(qp, solution);
    const VectorXd expected = enumerate(dense), free = -dense.H.ldlt().solve(dense.f);
    ASSERT_EQ(expected.size(), dense.v.size()) << kind.name << ' ' << seed << ": no set of rows is feasible";
    EXPECT_LT((dense.v - expected).norm(), 1e-6 * (kind.size + expected.norm())) << kind.name << ' ' << seed;
    bent += (free - expected).norm() > 1e-3 * kind.size;
  }
  EXPECT_GT(bent, 30);
}

TEST(HorizonQpKinds, StepsThatComeBackAreNoticed) {
  // Mehrotra's steps go round in a cycle on each of these.
  const struct {
    const char* kind;
    std::uint64_t seed;
    int steps, nx, nu, rows;
  } cases[] = {{"plain", 1958, 3, 4, 3, 5},      {"changes", 1486, 5, 2, 2, 2},
               {"unstable", 3582, 1, 3, 1, 5},   {"unstable changes", 4735, 2, 1, 2, 3},
               {"singular", 7136, 3, 2, 3, 3},   {"tight", 73, 2, 4, 2, 3},
               {"duplicates", 4608, 1, 4, 1, 2}, {"dear", 4969, 2, 5, 2, 6},
               {"cheap", 11274, 1, 5, 1, 4},     {"large", 723, 4, 4, 1, 2},
               {"free", 1350, 1, 1, 1, 6}};
  for (const auto& c : cases) {
    const Kind& kind = *std::find_if(std::begin(kKinds), std::end(kKinds),
                                     [&](const Kind& k) { return k.name == std::string_view(c.kind); });
    const HorizonQp qp = make(kind, c.seed, c.steps, c.nx, c.nu, c.rows);
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {}, solution);
    ASSERT_EQ(solution.status, HorizonStatus::kSolved) << c.kind;
    expect_optimal(qp, solution, kind, 1e-6, c.kind);
  }
}

TEST(HorizonQpKinds, FulfilTheDenseOptimalityConditions) {
  for (const Kind& kind : kKinds) {
    for (int seed = 0; seed < 40; ++seed) {
      // Growth of 1.5 per stage over 25 stages leaves the condensed form, which this test needs, few digits.
      const int steps = 1 + (seed * 7) % (kind.growth > 1 ? 12 : 25), nx = 1 + (seed * 5) % 25, nu = 1 + (seed * 3) % 9;
      const HorizonQp qp = make(kind, static_cast<std::uint64_t>(seed), steps, nx, nu, seed % 4);
      HorizonSolution solution;
      HorizonQpSolver().solve(qp, {}, solution);
      const std::string which = std::string(kind.name) + " " + std::to_string(seed);
      ASSERT_EQ(solution.status, HorizonStatus::kSolved)
          << which << " gradient " << solution.gradient << " violation " << solution.violation << " complementarity "
          << solution.complementarity << " after " << solution.iterations;
      expect_optimal(qp, solution, kind, 1e-6, which);
    }
  }
}

TEST(HorizonQpKinds, LongUnstableHorizonsAreSolved) {
  for (int seed = 0; seed < 20; ++seed) {
    const Kind& kind = kKinds[2 + seed % 2];
    const HorizonQp qp = make(kind, static_cast<std::uint64_t>(seed), 25, 2 + seed % 8, 2 + seed % 3, 0);
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {}, solution);
    ASSERT_EQ(solution.status, HorizonStatus::kSolved) << seed;
  }
}

TEST(HorizonQpKinds, OneRecursionIsEnoughWhereNoRowIsActive) {
  for (int seed = 0; seed < 20; ++seed) {
    HorizonQp qp = make(kKinds[seed % 2], static_cast<std::uint64_t>(seed), 10, 6, 3, 0);
    for (HorizonStage& s : qp.stages) {
      s.lower.setConstant(s.lower.size(), -1e4);
      s.upper.setConstant(s.upper.size(), 1e4);
      s.change.setConstant(s.change.size(), 1e4);
    }
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {}, solution);
    ASSERT_EQ(solution.status, HorizonStatus::kSolved);
    EXPECT_EQ(solution.factorizations, 1);
  }
}

TEST(HorizonQpKinds, WarmStartsSaveRecursions) {
  long cold = 0, warm = 0, shifted = 0;
  for (int seed = 0; seed < 10; ++seed) {
    // A window that moves over a long list of stages, with a start that is not quite what was predicted.
    const HorizonQp all = make(kKinds[seed % 2], static_cast<std::uint64_t>(seed), 32, 8, 4, 3);
    HorizonQp window = all;
    HorizonQpSolver solver;
    HorizonSolution a, b, c, same;
    Source draw{static_cast<std::uint64_t>(seed)};
    for (int k = 0; k < 20; ++k) {
      window.stages.assign(all.stages.begin() + k, all.stages.begin() + k + 11);
      window.stages.back().U.resize(0, 0);
      solver.solve(window, {}, a);
      solver.solve(window, {.start = HorizonStart::kShifted}, c);
      same = a;
      HorizonQp moved = window;
      moved.x_start += draw.matrix(8, 1, 1e-3);
      solver.solve(moved, {.start = HorizonStart::kSolution}, same);
      solver.solve(moved, {}, b);
      for (const HorizonSolution* solution : {&a, &b, &c, &same}) ASSERT_EQ(solution->status, HorizonStatus::kSolved);
      // Whatever the start: the solution is one.
      for (std::size_t t = 0; t < 10; ++t) {
        EXPECT_LT((a.u[t] - c.u[t]).norm() + (b.u[t] - same.u[t]).norm(), 1e-6) << seed << ' ' << k;
      }
      window.x_start = c.x[1] + draw.matrix(8, 1, 1e-3);
      window.u_before = c.u[0];
      if (k == 0) continue;
      cold += a.factorizations;
      shifted += c.factorizations;
      warm += same.factorizations;
    }
  }
  EXPECT_LT(3 * warm, cold);
  EXPECT_LT(shifted, cold);
  RecordProperty("cold", static_cast<int>(cold));
  RecordProperty("shifted", static_cast<int>(shifted));
  RecordProperty("warm", static_cast<int>(warm));
}

TEST(HorizonQpKinds, AStartOfOtherSizesCountsAsNothing) {
  HorizonQpSolver solver;
  HorizonSolution solution, expected;
  solver.solve(make(kKinds[0], 1, 12, 7, 4, 3), {}, solution);
  const HorizonQp qp = make(kKinds[1], 2, 4, 3, 2, 1);
  solver.solve(qp, {.start = HorizonStart::kSolution}, solution);
  HorizonQpSolver().solve(qp, {}, expected);
  ASSERT_EQ(solution.status, HorizonStatus::kSolved);
  for (std::size_t t = 0; t < 4; ++t) EXPECT_LT((solution.u[t] - expected.u[t]).norm(), 1e-7);
}

TEST(HorizonQpKinds, ContradictionsAreProven) {
  for (int seed = 0; seed < 60; ++seed) {
    const Kind& kind = kKinds[to_size(seed) % std::size(kKinds)];
    const int nx = 2 + seed % 5, nu = 1 + seed % 4, steps = 1 + seed % 9;
    HorizonQp qp = make(kind, static_cast<std::uint64_t>(seed), steps, nx, nu, 0);
    HorizonStage& s = qp.stages[1 + seed % steps];
    const bool last = &s == &qp.stages.back();
    Source draw{static_cast<std::uint64_t>(seed)};
    // gᵀx ≤ −δ and −gᵀx ≤ −δ: two rows that no state fulfils, or a state beyond what bounded inputs can reach.
    s.X = draw.matrix(1, nx).replicate(2, 1);
    s.X.row(1) *= -1;
    s.U = MatrixXd::Zero(last ? 0 : 2, last ? 0 : nu);
    s.d = VectorXd::Constant(2, -0.1 * kind.size);
    s.rho.setConstant(2, kInfinity);
    if (kind.changes) s.P = MatrixXd::Zero(2, nu);
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {}, solution);
    ASSERT_EQ(solution.status, HorizonStatus::kInfeasible) << kind.name << ' ' << seed;
    EXPECT_LT(HorizonCertifier().farkas(qp, solution, 1e-8), 1);
    EXPECT_GT(solution.violation, 1e-8);
    // The same rows, soft: there is always a solution.
    s.rho.setConstant(2, kind.cost / kind.size);
    HorizonQpSolver().solve(qp, {}, solution);
    EXPECT_EQ(solution.status, HorizonStatus::kSolved) << kind.name << ' ' << seed;
    for (const VectorXd& y : solution.ray) EXPECT_TRUE(y.isZero(0));
  }
}

TEST(HorizonQpKinds, StatesBeyondReachAreProvenSo) {
  int infeasible = 0;
  for (int seed = 0; seed < 40; ++seed) {
    HorizonQp qp = make(kKinds[0], static_cast<std::uint64_t>(seed), 5, 3, 2, 0);
    for (HorizonStage& s : qp.stages) s.upper.setConstant(s.upper.size(), 0.5);
    // The farthest that bounded inputs get along g at the end, by hand: the sum over all inputs.
    const VectorXd g = Source{static_cast<std::uint64_t>(seed)}.matrix(3, 1);
    VectorXd adjoint = g, free = qp.x_start;
    for (std::size_t t = 0; t < 5; ++t) free = (qp.stages[t].A * free + qp.stages[t].c).eval();
    double least = g.dot(free);
    for (std::size_t t = 5; t-- > 0;) {
      least -= 0.5 * (qp.stages[t].B.transpose() * adjoint).cwiseAbs().sum();
      adjoint = (qp.stages[t].A.transpose() * adjoint).eval();
    }
    HorizonStage& s = qp.stages.back();
    s.X = g.transpose();
    s.U.resize(0, 0);
    s.rho.setConstant(1, kInfinity);
    const double margin = seed % 2 == 0 ? -1e-3 : 1e-3;
    s.d = VectorXd::Constant(1, least + margin);
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {}, solution);
    EXPECT_EQ(solution.status, margin < 0 ? HorizonStatus::kInfeasible : HorizonStatus::kSolved) << seed;
    infeasible += solution.status == HorizonStatus::kInfeasible;
  }
  EXPECT_EQ(infeasible, 20);
}

TEST(HorizonQpKinds, RowsOfTheFirstStateAloneHoldOrDoNot) {
  HorizonQp qp = make(kKinds[0], 4, 3, 3, 2, 1);
  HorizonStage& s = qp.stages[0];
  s.U.setZero();
  s.d = s.X * qp.x_start;
  s.rho.setConstant(1, kInfinity);
  HorizonSolution solution;
  HorizonQpSolver().solve(qp, {}, solution);
  EXPECT_EQ(solution.status, HorizonStatus::kSolved);
  s.d.array() -= 1e-3;
  HorizonQpSolver().solve(qp, {}, solution);
  EXPECT_EQ(solution.status, HorizonStatus::kInfeasible);
  EXPECT_LT(HorizonCertifier().farkas(qp, solution, 1e-8), 1);
  s.rho.setConstant(1, 2.0);
  HorizonQpSolver().solve(qp, {}, solution);
  EXPECT_EQ(solution.status, HorizonStatus::kSolved);
  EXPECT_EQ(solution.multiplier[0](solution.multiplier[0].size() - 1), 2.0);
}

TEST(HorizonCertificate, SeesEveryKindOfError) {
  const HorizonQp qp = make(kKinds[1], 11, 6, 4, 3, 2);
  HorizonSolution good;
  HorizonQpSolver().solve(qp, {}, good);
  ASSERT_EQ(good.status, HorizonStatus::kSolved);
  HorizonCertifier certifier;
  EXPECT_LT(certifier.certify(qp, good).largest(), 1e-8);
  HorizonSolution bad = good;
  bad.x[3](1) += 1e-3;
  EXPECT_GT(certifier.certify(qp, bad).dynamics, 1e-6);
  bad = good;
  bad.multiplier[2](0) += 1e-2;
  EXPECT_GT(certifier.certify(qp, bad).gradient, 1e-6);
  bad = good;
  bad.multiplier[2](0) = -1e-2;
  EXPECT_GT(certifier.certify(qp, bad).multiplier, 1e-6);
  bad = good;
  bad.u[2](0) = 2 * qp.stages[2].upper(0);
  EXPECT_GT(certifier.certify(qp, bad).violation, 1e-2);
}

}  // namespace random_test
}  // namespace deft::solvers::horizon
