// What makes a sequence of problems quick: starts from the last basis, and a budget where nothing helps.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <vector>

#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "support/allocation_counter.hpp"
#include "support/complementarity_problems.hpp"

namespace deft::solvers::lcp {
namespace complementarity_warm_test {

using deft::testing::ComplementarityProblems;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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

TEST(ComplementaritySolver, WarmSolvesOfOneSizeDoNotAllocate) {
  if (!kCountsAllocations) GTEST_SKIP() << "a sanitizer owns malloc";
  deft::testing::ComplementarityProblems random(4);
  ComplementarityProgram p = random.planar_stewart_trinkle(6);
  ComplementarityProgram with_free{Eigen::MatrixXd::Identity(24, 24), -Eigen::VectorXd::Ones(24), {0, 5}, {}};
  ComplementaritySolver solver;
  const auto solve_all = [&] {
    bool solved = true;
    for (int step = 0; step < 5; ++step) {
      p.q *= 0.99;
      solved = solved && solver.solve(p).status == Status::kSolved;  // last basis
      solver.forget();
      solved = solved && solver.solve(p).status == Status::kSolved;          // Lemke's method
      solved = solved && solver.solve(with_free).status == Status::kSolved;  // with free variables
    }
    return solved;
  };
  ASSERT_TRUE(solve_all());
  bool solved = false;
  EXPECT_EQ(testing_support::allocations_during([&] { solved = solve_all(); }), 0);
  EXPECT_TRUE(solved);
}

}  // namespace complementarity_warm_test
}  // namespace deft::solvers::lcp
