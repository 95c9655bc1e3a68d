// What makes a sequence of problems quick: exchanges in blocks, starts from the last basis, and a budget where nothing helps.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <vector>

#include "deft/solvers/block_exchange.hpp"
#include "deft/solvers/complementarity.hpp"
#include "support/complementarity_problems.hpp"

namespace deft::solvers {
namespace {

using deft::testing::ComplementarityProblems;
using Eigen::MatrixXd;
using Eigen::VectorXd;

PivotTable random_table(ComplementarityProblems& random, int n) {
  PivotTable table;
  table.resize(n, n + 1, 2 * n + 1);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n + 2; ++j) table.row(i)[j] = random.normal();
    table.row(i)[i] += 4;
    table.set_row_variable(i, 2 * i + 1);
    table.set_col_variable(i, 2 * i);
  }
  table.set_col_variable(n, 2 * n);
  return table;
}

TEST(BlockExchange, DoesWhatPivotsDo) {
  for (const int n : {1, 2, 7, 8, 23, 60}) {
    for (int draw = 0; draw < 5; ++draw) {
      ComplementarityProblems random(static_cast<std::uint64_t>(10 * n + draw));
      PivotTable whole = random_table(random, n), single = whole;
      std::vector<int> set;
      for (int i = 0; i < n; ++i)
        if (draw == 0 || random.chance(0.4)) set.push_back(i);
      ASSERT_TRUE(BlockExchange().exchange(whole, set, 1e-12));
      for (const int i : set) single.pivot(i, i);
      for (int i = 0; i < n; ++i) {
        EXPECT_EQ(whole.row_variable(i), single.row_variable(i));
        EXPECT_EQ(whole.col_variable(i), single.col_variable(i));
        for (int j = 0; j < n + 2; ++j) EXPECT_NEAR(whole.row(i)[j], single.row(i)[j], 1e-9 * (1 + std::abs(single.row(i)[j])));
      }
    }
  }
}

TEST(BlockExchange, LeavesATableWithoutInverseAsItIs) {
  ComplementarityProblems random(3);
  PivotTable table = random_table(random, 5);
  for (int j = 0; j < 5; ++j) table.row(3)[j] = table.row(1)[j];
  for (int i = 0; i < 5; ++i) table.row(i)[3] = table.row(i)[1];
  PivotTable before = table;
  const std::vector<int> set{1, 3};
  EXPECT_FALSE(BlockExchange().exchange(table, set, 1e-12));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(std::equal(table.row(i), table.row(i) + 7, before.row(i)));
}

// Sequences in which bodies come apart by a percent (others need not have a solution): what the last basis saves.
TEST(ComplementarityWarmStart, FollowsASequenceInFewPivots) {
  for (const int contacts : {9, 15, 24, 30}) {
    int warm = 0, solves = 0, warm_pivots = 0, cold_pivots = 0;
    for (int i = 0; i < 8; ++i) {
      ComplementarityProblems random(static_cast<std::uint64_t>(700 + i));
      ComplementarityProgram p = random.planar_stewart_trinkle(contacts);
      ComplementaritySolver solver;
      solver.solve(p);
      for (int step = 0; step < 8; ++step) {
        for (Eigen::Index k = 0; k < p.q.size(); k += 4) p.q[k] += 1e-2 * std::abs(p.q[k] * random.normal());
        const ComplementarityResult& result = solver.solve(p);
        ASSERT_EQ(result.status, Status::kSolved);
        EXPECT_LE(certify(p, result.solution).max_scaled(), 1e-10);
        warm += result.warm;
        warm_pivots += result.iterations;
        cold_pivots += ComplementaritySolver().solve(p).iterations;
        ++solves;
      }
    }
    EXPECT_GE(warm, 0.9 * solves) << contacts;
    EXPECT_LE(warm_pivots, 0.5 * cold_pivots) << contacts;
  }
}

// Quasistatic problems, whose free variables have no stiffness and are split.
TEST(ComplementarityWarmStart, KnowsFreeVariablesToo) {
  int warm = 0, solves = 0;
  for (int i = 0; i < 60; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(30 + i));
    ComplementarityProgram p = random.small(4, 11);
    p.motion.resize(0, 0);
    ComplementaritySolver solver;
    if (solver.solve(p).status != Status::kSolved) continue;
    const VectorXd before = solver.solve(p).solution.z;
    for (double& q : p.q) q *= 1 + 1e-4 * random.normal();
    for (Eigen::Index k = 3; k + 3 < p.q.size(); k += 4) p.q[k + 2] = -p.q[k + 1];
    const ComplementarityResult& result = solver.solve(p);
    if (ComplementaritySolver().solve(p).status != Status::kSolved) continue;
    EXPECT_EQ(result.status, Status::kSolved) << i;
    EXPECT_LE(certify(p, result.solution).max_scaled(), 1e-10) << i;
    warm += result.warm || result.solution.z.isZero(0);
    ++solves;
  }
  EXPECT_GE(solves, 15);
  EXPECT_GE(warm, 0.8 * solves);
}

TEST(ComplementarityBudget, EndsWithWhatIsKnown) {
  int undecided = 0;
  for (int i = 0; i < 20; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(i));
    const ComplementarityProgram p = random.planar_stewart_trinkle(30);
    const ComplementarityResult result = ComplementaritySolver({.max_work = 1e5}).solve(p);  // seven pivots
    if (result.status == Status::kSolved) {
      EXPECT_LE(certify(p, result.solution).max_scaled(), 1e-10);
      continue;
    }
    ++undecided;
    EXPECT_EQ(result.status, Status::kIterationLimit) << i;
    EXPECT_LE(result.iterations, 20) << i;
    EXPECT_LE(result.modes, 2) << i;
    EXPECT_TRUE(result.solution.proof.empty());
    EXPECT_EQ(ComplementaritySolver().solve(p).status, Status::kSolved);
  }
  EXPECT_GE(undecided, 15);
}

}  // namespace
}  // namespace deft::solvers
