// A block of cubes on the ground, all neighbours touching: many more rows than motions, one island.

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

#include "deft/solvers/certificate.hpp"
#include "deft/solvers/contact_solver.hpp"

namespace deft::solvers {
namespace {

constexpr int kSide = 4;

/// Four corners of unit cubes `below` and `above` (−1: the ground) touch; the normal is `axis`, from below to above.
void touch(int below, int above, int axis, double gap, ContactProgram& p) {
  for (int corner = 0; corner < 4; ++corner) {
    std::vector<int> cols;
    for (const int body : {below, above}) {
      for (int i = 0; body >= 0 && i < 6; ++i) cols.push_back(6 * body + i);
    }
    auto J = p.J.append(3, cols);
    int at = 0;
    for (const int body : {below, above}) {
      if (body < 0) continue;
      const double sign = body == above ? 1 : -1;
      Eigen::Vector3d arm;
      arm[axis] = -0.5 * sign;
      arm[(axis + 1) % 3] = corner & 1 ? 0.5 : -0.5;
      arm[(axis + 2) % 3] = corner & 2 ? 0.5 : -0.5;
      for (int r = 0; r < 3; ++r) {
        const Eigen::Vector3d row = sign * Eigen::Vector3d::Unit((axis + r) % 3);
        J.block(r, at, 1, 3) = arm.cross(row).transpose();
        J.block(r, at + 3, 1, 3) = row.transpose();
      }
      at += 6;
    }
    p.contacts.push_back({.gap = gap, .mu = 0.5, .id = p.contacts.size() + 1});
  }
}

ContactProgram heap() {
  ContactProgram p;
  const int boxes = kSide * kSide * kSide;
  p.nv = 6 * boxes;
  p.b = Eigen::VectorXd::Zero(p.nv);
  for (int k = 0; k < boxes; ++k) {
    p.Q.append(6 * k, 6) = Eigen::Matrix<double, 6, 6>::Identity() * (1 + 0.1 * (k % 7));
    p.b[6 * k + 5] = 10 * (1 + 0.1 * (k % 7));
  }
  const auto box = [](int x, int y, int z) { return x + kSide * (y + kSide * z); };
  for (int z = 0; z < kSide; ++z) {
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        touch(z == 0 ? -1 : box(x, y, z - 1), box(x, y, z), 2, 0.0, p);
        if (x > 0) touch(box(x - 1, y, z), box(x, y, z), 0, 1e-3, p);
        if (y > 0) touch(box(x, y - 1, z), box(x, y, z), 1, 1e-3, p);
      }
    }
  }
  return p;
}

TEST(Heap, AtRestTheLastSolutionIsTheNextOne) {
  ContactProgram p = heap();
  ContactSolver solver;
  ContactSolution x;
  ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved);
  EXPECT_LE(certify(p, x).max_scaled(), 1e-9);
  EXPECT_EQ(solver.solve(p, {}, x).iterations, 0);
  EXPECT_LE(certify(p, x).max_scaled(), 1e-9);
}

TEST(Heap, WhereGapsDisagreeByRoundingAFewCorrectionsDo) {
  ContactProgram p = heap();
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
  ContactProgram p = heap();
  ContactSolver solver;
  ContactSolution x;
  ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved);
  EXPECT_FALSE(x.forces_unique);
}

TEST(Heap, APushIsSolvedFromTheSolutionAtRest) {
  ContactProgram p = heap();
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

}  // namespace
}  // namespace deft::solvers
