#include "deft/solvers/lcs/mpc_solver.hpp"
#include "deft/core/index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "support/lcs_problems.hpp"

namespace deft::solvers::lcs {
namespace mpc_solver_test {

using deft::testing::disc_program;
using deft::testing::random_lcs_program;
using deft::testing::try_all_modes;
using Eigen::Vector4d;

LcsMpcResult solve(const LcsMpcProgram& program, BranchAndBoundSettings settings = {}) {
  LcsMpcSolver solver(settings);
  return solver.solve(program);
}

struct Published {
  Vector4d start;
  int N;
  double cost;
};

// Optimal costs of the point contact model of the published note, found by two commercial solvers.
TEST(BranchAndBound, FindsThePublishedOptimaAndProvesThem) {
  const Vector4d floor(-2, -4, 0, 0), sliding(-1, -4.35, 0.6, -0.5), wedge(-3.45, -4.3, -0.3, -0.4);
  const Published cases[] = {{floor, 1, 51.999740262},   {floor, 3, 103.988098420},    {floor, 5, 155.904711933},
                             {floor, 10, 284.036637098}, {floor, 20, 505.425910054},   {sliding, 3, 64.897376337},
                             {sliding, 5, 95.601064859}, {sliding, 10, 168.580161653}, {wedge, 5, 256.722439275}};
  for (const Published& expected : cases) {
    const LcsMpcProgram program = disc_program(expected.N, expected.start);
    const LcsMpcResult result = solve(program);
    EXPECT_EQ(result.status, Status::kSolved);
    EXPECT_NEAR(result.cost, expected.cost, 1e-8 * expected.cost) << "N = " << expected.N;
    EXPECT_LE(result.gap, 1.0000001e-7);
    EXPECT_LE(certify(program, result.incumbent).max(), 1e-9);
    EXPECT_EQ(certify(program, result.incumbent).cost, result.cost);
  }
}

// One step with fixed inputs shows what the model does.
TEST(BranchAndBound, FixedInputsMakeItASimulation) {
  struct Step {
    Vector4d x;
    Eigen::Vector2d u;
    Vector4d next;
  };
  const Step steps[] = {{{-2, -4.4, 0.5, 0}, {0, -1}, {-1.958, -4.4, 0.42, 0}},      // slides
                        {{-2, -4.35, 0.1, -0.9}, {0.2, -0.3}, {-2, -4.4, 0, -0.5}},  // sticks
                        {{0, -2.5, 0.5, 0}, {1, 0}, {0.06, -2.5, 0.6, 0}}};          // nothing near
  for (const Step& step : steps) {
    LcsMpcProgram program = disc_program(1, step.x);
    program.u_min = program.u_max = step.u;
    const LcsMpcResult result = solve(program);
    ASSERT_EQ(result.status, Status::kSolved);
    EXPECT_LT((result.incumbent.x.col(1) - step.next).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(BranchAndBound, AgreesWithAllModesOfRandomSystems) {
  int infeasible = 0, unknown = 0;
  for (std::uint64_t seed = 10001; seed <= 10200; ++seed) {
    const LcsMpcProgram program = random_lcs_program(seed, 7);
    const auto all = try_all_modes(program);
    if (all.failures > 0) {
      ++unknown;
      continue;
    }
    const LcsMpcResult result = solve(program);
    if (std::isfinite(all.cost)) {
      EXPECT_EQ(result.status, Status::kSolved) << "seed " << seed;
      EXPECT_NEAR(result.cost, all.cost, 2e-7 * (1 + all.cost)) << "seed " << seed;
      EXPECT_LE(certify(program, result.incumbent).max(), 1e-8) << "seed " << seed;
    } else {
      EXPECT_EQ(result.status, Status::kInfeasible) << "seed " << seed;
      ++infeasible;
    }
  }
  EXPECT_GE(infeasible, 10);
  EXPECT_LE(unknown, 6);
}

// Whether complete modes agree with a leaf.
bool covers(const LcsLeaf& leaf, long number) {
  for (std::size_t i = 0; i < leaf.modes.size(); ++i) {
    if (leaf.modes[i] != PairMode::kOpen && (leaf.modes[i] == PairMode::kSlackZero) != (((number >> i) & 1) != 0))
      return false;
  }
  return true;
}

TEST(BranchAndBound, LeavesOfTheProofCoverAllModesAndTheirBoundsHold) {
  BranchAndBoundSettings settings;
  settings.log_proof = true;
  std::size_t leaves = 0;
  for (std::uint64_t seed = 501; seed <= 570; ++seed) {
    const LcsMpcProgram program = random_lcs_program(seed, 6);
    const LcsMpcResult result = solve(program, settings);
    if (result.status != Status::kSolved && result.status != Status::kInfeasible) continue;
    const auto pairs = to_size(program.N * program.system.pairs());
    for (long number = 0; number < (1L << pairs); ++number) {
      EXPECT_EQ(std::count_if(result.proof.begin(), result.proof.end(),
                              [&](const LcsLeaf& leaf) { return covers(leaf, number); }),
                1)
          << "seed " << seed << " modes " << number;
    }
    leaves += result.proof.size();
    double least = std::numeric_limits<double>::infinity();
    for (const LcsLeaf& leaf : result.proof) {
      least = std::min(least, leaf.bound);
      std::vector<int> modes;
      for (const PairMode mode : leaf.modes)
        modes.push_back(mode == PairMode::kOpen ? -1 : mode == PairMode::kSlackZero ? 1 : 0);
      const auto within = try_all_modes(program, modes);
      // A multiplier that may be lowered without loss may leave a leaf for another one of the same cost, never the
      // proof.
      const double claimed = std::min(leaf.bound, result.has_incumbent ? result.cost : leaf.bound);
      if (within.failures > 0) continue;
      EXPECT_GE(within.cost, std::isfinite(claimed) ? claimed - 1e-6 * (1 + claimed) : claimed) << "seed " << seed;
    }
    if (result.has_incumbent) {
      EXPECT_GE(least, result.bound - 1e-12 * (1 + result.bound)) << "seed " << seed;
    }
  }
  EXPECT_GT(leaves, 90u);
}

TEST(BranchAndBound, DoesNotDependOnTheNumberOfThreads) {
  LcsMpcProgram program = disc_program(6, {-3.45, -4.3, -0.3, -0.4});
  BranchAndBoundSettings settings;
  const LcsMpcResult one = solve(program, settings);
  for (const int threads : {2, 5}) {
    settings.threads = threads;
    const LcsMpcResult many = solve(program, settings);
    EXPECT_EQ(many.nodes, one.nodes);
    EXPECT_EQ(many.cost, one.cost);
    EXPECT_EQ(many.bound, one.bound);
    EXPECT_EQ(many.incumbent.u, one.incumbent.u);
  }
}

// Also where a step has several solutions, of which each thread might find another.
TEST(BranchAndBound, DoesNotDependOnTheNumberOfThreadsInRandomSystems) {
  int deep = 0;
  for (std::uint64_t seed = 3001; seed <= 3050; ++seed) {
    const LcsMpcProgram program = random_lcs_program(seed, 18);
    BranchAndBoundSettings settings;
    settings.node_limit = 200;
    const LcsMpcResult one = solve(program, settings);
    settings.threads = 3;
    const LcsMpcResult many = solve(program, settings);
    EXPECT_EQ(many.nodes, one.nodes) << "seed " << seed;
    EXPECT_EQ(many.bound, one.bound) << "seed " << seed;
    EXPECT_EQ(many.cost, one.cost) << "seed " << seed;
    deep += one.nodes > 100;
  }
  EXPECT_GE(deep, 2);
}

TEST(BranchAndBound, SaysWhatItKnowsWhenALimitStrikes) {
  const LcsMpcProgram program = disc_program(12, {-3.45, -4.3, -0.3, -0.4});
  BranchAndBoundSettings settings;
  settings.node_limit = 50;
  const LcsMpcResult early = solve(program, settings);
  EXPECT_EQ(early.status, Status::kIterationLimit);
  ASSERT_TRUE(early.has_incumbent);
  EXPECT_LE(certify(program, early.incumbent).max(), 1e-8);
  EXPECT_LT(early.bound, early.cost);
  EXPECT_NEAR(early.gap, (early.cost - early.bound) / early.cost, 1e-12);
  settings.node_limit = 1000;
  const LcsMpcResult later = solve(program, settings);
  EXPECT_GE(later.bound, early.bound);
  EXPECT_LE(later.cost, early.cost);
  settings = {.time_limit_s = 0};
  EXPECT_EQ(solve(program, settings).status, Status::kTimeLimit);
}

TEST(BranchAndBound, ProvesThatAWallCannotBePassed) {
  LcsMpcProgram program = disc_program(3, {4.3, 0, 1, 0});
  program.x_min(0) = 4.5;  // behind the wall at 4.4
  const LcsMpcResult result = solve(program);
  EXPECT_EQ(result.status, Status::kInfeasible);
  EXPECT_FALSE(result.has_incumbent);
  program.x_price = Vector4d(100, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::infinity());
  const LcsMpcResult soft = solve(program);
  ASSERT_EQ(soft.status, Status::kSolved);
  EXPECT_LE(soft.incumbent.x.row(0).maxCoeff(), 4.4 + 1e-9);
}

TEST(BranchAndBound, StartsFromTheShiftedLastSolution) {
  LcsMpcProgram program = disc_program(8, {-2, -4.35, 0.5, -0.5});
  LcsMpcSolver solver;
  const LcsMpcResult first = solver.solve(program);
  program.x0 = first.incumbent.x.col(1);
  LcsMpcSolver fresh;
  const double cold = fresh.solve(program).cost;
  solver.settings().node_limit = 0;  // nothing but the suggestions is looked at
  const LcsMpcResult& warm = solver.solve(program);
  ASSERT_TRUE(warm.has_incumbent);
  EXPECT_NEAR(warm.cost, cold, 1e-3 * cold);
}

TEST(BranchAndBound, RefusesWeightsWithoutALowerBound) {
  LcsMpcProgram program = disc_program(2, {0, 0, 0, 0});
  program.Q(1, 1) = -0.5;
  try {
    solve(program);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("Q has the negative eigenvalue -0.5"), std::string::npos) << error.what();
  }
  program = disc_program(2, {0, 0, 0, 0});
  program.R(0, 1) = 1;
  EXPECT_THROW(solve(program), std::invalid_argument);
  program = disc_program(2, {0, 0, 0, 0});
  program.x_goal.conservativeResize(4, 2);
  EXPECT_THROW(solve(program), std::invalid_argument);
}

}  // namespace mpc_solver_test
}  // namespace deft::solvers::lcs
