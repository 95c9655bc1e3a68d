#include "deft/solvers/lcs/propagation.hpp"
#include "deft/core/index.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "deft/solvers/lcs/box_linear_program.hpp"
#include "support/lcs_problems.hpp"

namespace deft::solvers::lcs {
namespace propagation_test {

using deft::testing::disc_program;
using deft::testing::random_lcs_program;
using Eigen::MatrixXd;
using Eigen::Vector4d;
using Eigen::VectorXd;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// x_1 … x_N, γ and s under inputs; false where a step has no solution.
bool simulate(const LcsMpcProgram& p, const MatrixXd& u, MatrixXd& x, MatrixXd& gamma, MatrixXd& slack) {
  const auto& s = p.system;
  x.resize(s.nx(), p.N + 1);
  gamma.resize(s.pairs(), p.N);
  slack.resize(s.pairs(), p.N);
  x.col(0) = p.x0;
  lcp::ComplementaritySolver solver;
  for (int k = 0; k < p.N; ++k) {
    const VectorXd free = s.A * x.col(k) + s.B * u.col(k) + s.F;
    const auto& step = solver.solve({s.D * s.C + s.E, s.D * free + s.D0 * x.col(k) + s.H * u.col(k) + s.alpha, {}, {}});
    if (!usable(step.status)) return false;
    gamma.col(k) = step.solution.z;
    slack.col(k) = step.solution.w;
    x.col(k + 1) = free + s.C * gamma.col(k);
    if (p.x_max.size() > 0 && p.x_price.size() == 0 &&
        ((x.col(k + 1) - p.x_max).maxCoeff() > 0 || (p.x_min - x.col(k + 1)).maxCoeff() > 0))
      return false;
    if (p.gamma_max.size() > 0 && (gamma.col(k) - p.gamma_max).maxCoeff() > 0) return false;
  }
  return true;
}

MatrixXd draw_inputs(const LcsMpcProgram& p, std::mt19937& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const double size = p.u_max.size() > 0 ? p.u_max(0, 0) : 1.0;
  return MatrixXd::NullaryExpr(p.system.nu(), p.N, [&] { return size * uniform(generator); });
}

TEST(LcsPropagation, NodesHoldTheTrajectoriesThatHaveTheirModes) {
  std::mt19937 generator(3);
  int nodes = 0, redundant = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const LcsMpcProgram p = random_lcs_program(seed, 12);
    const LcsPropagation propagation(p, false);
    LcsPropagation::Scratch scratch;
    const int ng = p.system.pairs();
    LcsIntervals root = propagation.start();
    std::vector<PairMode> root_modes(to_size(p.N * ng), PairMode::kOpen);
    const bool possible = propagation.run_twice(root, root_modes, 40, scratch);
    for (int trial = 0; trial < 5; ++trial) {
      const MatrixXd u = draw_inputs(p, generator);
      MatrixXd x, gamma, slack;
      if (!simulate(p, u, x, gamma, slack)) continue;
      ASSERT_TRUE(possible) << seed;
      LcsIntervals intervals = root;
      std::vector<PairMode> modes = root_modes;
      // Pairs are fixed one after the other, as down a tree.
      for (int depth = 0; depth < 4; ++depth) {
        const auto pair = static_cast<int>(generator() % modes.size());
        const double g = gamma(pair % ng, pair / ng), s = slack(pair % ng, pair / ng);
        if (modes[pair] == PairMode::kOpen) modes[pair] = g > s ? PairMode::kSlackZero : PairMode::kGammaZero;
        std::vector<PairMode> before = modes;
        ASSERT_TRUE(propagation.run(intervals, modes, 8, scratch)) << seed;
        ++nodes;
        const auto within = [&](int place, double value) {
          EXPECT_GE(value, intervals.lo[place] - 1e-8) << seed;
          EXPECT_LE(value, intervals.hi[place] + 1e-8) << seed;
        };
        for (int k = 0; k < p.N; ++k) {
          for (int i = 0; i < x.rows(); ++i) within(propagation.x(k + 1, i), x(i, k + 1));
          for (int j = 0; j < u.rows(); ++j) within(propagation.u(k, j), u(j, k));
          for (int i = 0; i < ng; ++i) {
            within(propagation.gamma(k, i), gamma(i, k));
            within(propagation.slack(k, i), slack(i, k));
            redundant += modes[k * ng + i] != before[k * ng + i];
          }
        }
      }
    }
  }
  EXPECT_GT(nodes, 1000);
  EXPECT_GT(redundant, 100);
}

TEST(LcsPropagation, ASurfaceThatCarriesNothingIsDecided) {
  const LcsMpcProgram p = disc_program(5, Vector4d(-3.45, -4.3, -0.3, -0.4));
  const LcsPropagation propagation(p);
  LcsPropagation::Scratch scratch;
  LcsIntervals intervals = propagation.start();
  std::vector<PairMode> modes(to_size(p.N * 12), PairMode::kOpen);
  ASSERT_TRUE(propagation.run_twice(intervals, modes, 40, scratch));
  const int k = 2, floor = 1;
  ASSERT_EQ(modes[k * 12 + floor], PairMode::kOpen);
  ASSERT_EQ(modes[k * 12 + 9 + floor], PairMode::kOpen);
  modes[k * 12 + floor] = PairMode::kGammaZero;
  ASSERT_TRUE(propagation.run(intervals, modes, 8, scratch));
  EXPECT_EQ(modes[k * 12 + 3 + 2 * floor], PairMode::kGammaZero);
  EXPECT_EQ(modes[k * 12 + 4 + 2 * floor], PairMode::kGammaZero);
  EXPECT_EQ(modes[k * 12 + 9 + floor], PairMode::kSlackZero);  // μc − Σβ = 0, whatever λ
}

TEST(LcsPropagation, ProvesThatANodeIsEmpty) {
  const LcsMpcProgram p = disc_program(5, Vector4d(-2, -4, 0, 0));
  const LcsPropagation propagation(p);
  LcsPropagation::Scratch scratch;
  LcsIntervals intervals = propagation.start();
  std::vector<PairMode> modes(to_size(p.N * 12), PairMode::kOpen);
  modes[2] = PairMode::kSlackZero;  // touches the wall, 6 m away, at once
  EXPECT_FALSE(propagation.run(intervals, modes, 8, scratch));
}

// Where two surfaces with friction jam, their forces may be anything; some forces within the bounds give the same
// motion.
TEST(LcsPropagation, ForcesInAWedgeAreBoundedWithoutLoss) {
  std::mt19937 generator(9);
  std::uniform_real_distribution<double> uniform(-1, 1);
  int jammed = 0, needed = 0;
  for (int round = 0; round < 150; ++round) {
    // At the corner of bevel and floor, x = −4.4 + 0.6√2 and y = −4.4, or close to it.
    const double off = round % 3 == 0 ? 0.0 : 0.03;
    LcsMpcProgram p =
        disc_program(1, Vector4d(-4.4 + 0.6 * std::sqrt(2.0) - off * std::abs(uniform(generator)),
                                 -4.4 + off * std::abs(uniform(generator)), uniform(generator), uniform(generator)));
    if (p.x0(1) - p.x0(0) > 0.6 * std::sqrt(2.0)) continue;
    const auto& s = p.system;
    const LcsPropagation propagation(p);
    LcsPropagation::Scratch scratch;
    LcsIntervals intervals = propagation.start();
    std::vector<PairMode> modes(12, PairMode::kOpen);
    const bool possible = propagation.run_twice(intervals, modes, 40, scratch);
    const MatrixXd u = draw_inputs(p, generator);
    MatrixXd x, gamma, slack;
    if (!simulate(p, u, x, gamma, slack)) continue;
    ASSERT_TRUE(possible) << round;
    // All γ with the same motion and modes: γ, Cγ, and the slacks less what they are without γ.
    const int ng = 12;
    const VectorXd free = slack.col(0) - s.E * gamma.col(0), force = s.C * gamma.col(0);
    MatrixXd R(4 + ng, ng);
    R << s.C, s.E;
    const auto some = [&](double share) {
      VectorXd lower = VectorXd::Zero(2 * ng + 4), upper = VectorXd::Constant(2 * ng + 4, kInf);
      lower.segment(ng, 4) = force.array() - 1e-9;
      upper.segment(ng, 4) = force.array() + 1e-9;
      for (int i = 0; i < ng; ++i) {
        EXPECT_TRUE(std::isfinite(intervals.hi[propagation.gamma(0, i)])) << round;
        upper(i) = slack(i, 0) > 1e-7 ? 0.0 : share * intervals.hi[propagation.gamma(0, i)] + 1e-8;
        lower(ng + 4 + i) = -free(i) - 1e-8;
        if (gamma(i, 0) > 1e-7) upper(ng + 4 + i) = -free(i) + 1e-8;
      }
      BoxLinearProgram program(R, lower, upper);
      program.upper_bound(VectorXd::Ones(2 * ng + 4));
      return !program.empty();
    };
    jammed += gamma(0, 0) > 1e-3 && gamma(1, 0) > 1e-3;
    EXPECT_TRUE(some(1)) << round;
    needed += !some(0.02);
  }
  EXPECT_GT(jammed, 10);
  EXPECT_GT(needed, 10);
}

// The bound that no other rule finds, and its value: a body of mass 1 squeezed by rods that only push, each alone at
// most 2.
TEST(LcsPropagation, VerticesBoundForcesThatCancel) {
  LcsMpcProgram p = disc_program(1, Vector4d(0, 0, 0, 0));
  auto& s = p.system;
  s.C = MatrixXd::Zero(4, 2);
  s.C.row(2) << 1, -1;  // against each other
  s.D0 = s.D = MatrixXd::Zero(2, 4);
  s.E = MatrixXd::Zero(2, 2);
  s.H = MatrixXd::Zero(2, 2);
  s.alpha = VectorXd::Zero(2);
  LcsPropagation::Scratch scratch;
  for (const bool without_loss : {false, true}) {
    const LcsPropagation propagation(p, without_loss);
    LcsIntervals intervals = propagation.start();
    std::vector<PairMode> modes(2, PairMode::kOpen);
    ASSERT_TRUE(propagation.run_twice(intervals, modes, 40, scratch));
    for (int i = 0; i < 2; ++i) {
      // v' = 0.1 u + γ_1 − γ_2 within ±1, |u| ≤ 1: at a vertex one of both is zero, the other one at most 1.1.
      const double bound = intervals.hi[propagation.gamma(0, i)];
      EXPECT_NEAR(std::min(bound, 9.0), without_loss ? 1.1 : 9.0, 1e-6);
      if (without_loss) {
        EXPECT_GE(bound, 1.1);
      }
    }
    scratch = {};
  }
}

}  // namespace propagation_test
}  // namespace deft::solvers::lcs
