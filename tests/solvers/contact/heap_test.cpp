// A block of cubes on the ground, all neighbours touching: many more rows than motions, one island.

#include <gtest/gtest.h>

#include <random>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "support/cube_heap.hpp"

namespace deft::solvers::contact {
namespace heap_test {

constexpr int kSide = 4;

TEST(Heap, AtRestTheLastSolutionIsTheNextOne) {
  ContactProgram p = heap(kSide);
  ContactSolver solver;
  ContactSolution x;
  ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved);
  EXPECT_LE(certify(p, x).max_scaled(), 1e-9);
  EXPECT_EQ(solver.solve(p, {}, x).iterations, 0);
  EXPECT_LE(certify(p, x).max_scaled(), 1e-9);
}

TEST(Heap, WhereGapsDisagreeByRoundingAFewCorrectionsDo) {
  ContactProgram p = heap(kSide);
  ContactSolver solver;
  ContactSolution x;
  ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(-1e-8, 1e-8);
  for (int step = 0; step < 10; ++step) {
    for (ContactLaw& law : p.contacts) law.gap = (law.gap > 1e-4 ? 1e-3 : 0.0) + noise(random);
    const SolveInfo info = solver.solve(p, {}, x);
    ASSERT_EQ(info.status, Status::kSolved);
    EXPECT_LE(info.iterations, 12);
    EXPECT_LE(certify(p, x).max_scaled(), 1e-9);
  }
}

TEST(Heap, ALargeIslandDoesNotClaimUniqueForces) {
  ContactProgram p = heap(kSide);
  ContactSolver solver;
  ContactSolution x;
  ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved);
  EXPECT_FALSE(x.forces_unique);
}

TEST(Heap, APushIsSolvedFromTheSolutionAtRest) {
  ContactProgram p = heap(kSide);
  ContactSolver solver;
  ContactSolution x;
  ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved);
  const Eigen::VectorXd rest = x.delta;
  p.b[3] = 30;  // the first cube of the lowest layer, against friction
  ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved);
  EXPECT_LE(certify(p, x).max_scaled(), 1e-9);
  ContactSolution cold;
  ASSERT_EQ(ContactSolver().solve(p, {}, cold).status, Status::kSolved);
  EXPECT_LE((x.delta - cold.delta).lpNorm<Eigen::Infinity>(), 1e-6);
  p.b[3] = 0;
  ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved);
  EXPECT_LE((x.delta - rest).lpNorm<Eigen::Infinity>(), 1e-6);
}

}  // namespace heap_test
}  // namespace deft::solvers::contact
