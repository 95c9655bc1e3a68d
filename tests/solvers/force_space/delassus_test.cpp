#include "deft/solvers/force_space/delassus_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "support/force_space_problems.hpp"
#include "support/random_problems.hpp"

namespace deft::solvers::force_space {
namespace delassus_test {

using deft::testing::RandomProblems;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// W = JQ⁻¹Jᵀ and q = φe₁ + o − JQ⁻¹b of a cone program whose contacts all have three rows.
DelassusProgram in_force_space(const contact::ContactProgram& p) {
  MatrixXd Q = MatrixXd::Zero(p.nv, p.nv);
  for (int k = 0; k < p.Q.num_blocks(); ++k)
    Q.block(p.Q.start(k), p.Q.start(k), p.Q.size(k), p.Q.size(k)) = p.Q.block(k);
  const int n = static_cast<int>(p.contacts.size());
  MatrixXd J = MatrixXd::Zero(3 * n, p.nv);
  DelassusProgram out;
  out.q = VectorXd::Zero(3 * n);
  for (int i = 0; i < n; ++i) {
    const auto cols = p.J.cols(i);
    for (std::size_t k = 0; k < cols.size(); ++k) {
      for (int r = 0; r < 3; ++r) J(3 * i + r, cols[k]) = p.J.block(i)(r, static_cast<Eigen::Index>(k));
    }
    out.q[3 * i] = p.contacts[i].gap;
    out.mu.push_back(p.contacts[i].frictionless ? 0.0 : p.contacts[i].mu);
  }
  const Eigen::LLT<MatrixXd> llt(Q);
  out.q -= J * llt.solve(p.b);
  const MatrixXd W = J * llt.solve(J.transpose());
  out.W = W.sparseView();
  return out;
}

TEST(Delassus, TheAssociatedLawIsThatOfTheConvexProgram) {
  DelassusSolver solver;
  int compared = 0, accurate = 0;
  for (int i = 0; i < 150; ++i) {
    contact::ContactProgram program = RandomProblems(500 + i).next({.max_bodies = 5, .max_contacts = 25});
    program.model = contact::FrictionModel::kCone;
    contact::ContactSolution reference;
    if (contact::ContactSolver().solve(program, {.tolerance = 1e-13}, reference).status != Status::kSolved) continue;
    const DelassusProgram problem = in_force_space(program);
    DelassusSolution solution;
    const DelassusInfo info = solver.solve(problem, {}, solution);
    const double residual = certify(problem, solution).max_scaled();
    EXPECT_LE(residual, 1e-5) << "problem " << i;
    EXPECT_EQ(info.status == Status::kSolved, residual <= 1e-6) << "problem " << i << ", residual " << residual;
    accurate += residual <= 1e-8;  // the others are nearly jammed, with forces 1e5 times the natural ones
    double largest = 1e-9;
    for (const double gap : reference.gap) largest = std::max(largest, std::abs(gap));
    for (std::size_t k = 0; k < program.contacts.size(); ++k)
      EXPECT_NEAR(solution.u[3 * static_cast<Eigen::Index>(k)], reference.gap[k], 3e-6 * largest) << "problem " << i;
    ++compared;
  }
  EXPECT_GE(compared, 140);
  EXPECT_GE(accurate, compared - 3);
}

// A unit mass on the ground that slides with speed v in direction (cos a, sin a) and is pressed down with the momentum
// p.
DelassusProgram sliding_mass(double v, double a, double p, double mu, int dim) {
  DelassusProgram out;
  out.dim = dim;
  out.W.resize(dim, dim);
  out.W.setIdentity();
  out.q.resize(dim);
  out.q[0] = -p;
  out.q[1] = v * std::cos(a);
  if (dim == 3) out.q[2] = v * std::sin(a);
  out.mu = {mu};
  return out;
}

TEST(Delassus, CoulombFrictionSlowsWithoutSeparation) {
  for (const int dim : {2, 3}) {
    for (const double mu : {0.0, 0.1, 0.5, 0.9}) {
      DelassusProgram program = sliding_mass(3.0, dim == 2 ? 0.0 : 0.7, 2.0, mu, dim);
      program.law = SlidingLaw::kCoulomb;
      DelassusSolution solution;
      ASSERT_EQ(DelassusSolver().solve(program, {.tolerance = 1e-11}, solution).status, Status::kSolved) << mu;
      EXPECT_NEAR(solution.r[0], 2.0, 1e-8);
      EXPECT_NEAR(solution.u[0], 0.0, 1e-8);
      EXPECT_NEAR(solution.u.tail(dim - 1).norm(), 3.0 - mu * 2.0, 1e-8);
      EXPECT_NEAR(solution.r.tail(dim - 1).dot(program.q.tail(dim - 1)), -mu * 2.0 * 3.0, 1e-8);
      EXPECT_LE(certify(program, solution).max_scaled(), 1e-8);
      // The associated law lets it rise by μ‖u_t‖.
      program.law = SlidingLaw::kAssociated;
      ASSERT_EQ(DelassusSolver().solve(program, {}, solution).status, Status::kSolved);
      EXPECT_NEAR(solution.u[0], mu * solution.u.tail(dim - 1).norm(), 1e-8);
    }
  }
}

TEST(Delassus, CoulombSticksInsideTheCone) {
  DelassusProgram program = sliding_mass(0.5, 2.0, 2.0, 0.5, 3);
  program.law = SlidingLaw::kCoulomb;
  DelassusSolution solution;
  ASSERT_EQ(DelassusSolver().solve(program, {}, solution).status, Status::kSolved);
  EXPECT_LE(solution.u.norm(), 1e-8);
}

TEST(Delassus, CoulombSolvesRandomHeaps) {
  int solved = 0;
  for (int i = 0; i < 60; ++i) {
    contact::ContactProgram base = RandomProblems(900 + i).next({.max_bodies = 6, .max_contacts = 20});
    base.model = contact::FrictionModel::kCone;
    DelassusProgram program = in_force_space(base);
    program.law = SlidingLaw::kCoulomb;
    DelassusSolution solution;
    const DelassusInfo info = DelassusSolver().solve(program, {}, solution);
    const double residual = certify(program, solution).max_scaled();
    if (info.status == Status::kSolved) {
      EXPECT_LE(residual, 1e-8) << "problem " << i;
      ++solved;
    }
  }
  EXPECT_GE(solved, 59);
}

TEST(Delassus, SolvesTheFamiliesOfPublishedCollections) {
  using deft::testing::ForceSpaceProblems;
  int solved = 0, count = 0;
  for (int family = 0; family < static_cast<int>(ForceSpaceProblems::kFamilies.size()); ++family) {
    for (int i = 0; i < 4; ++i) {
      DelassusProgram program = ForceSpaceProblems(10 * i + family).next(family, 5 << i);
      DelassusSolution solution;
      const Status status = DelassusSolver().solve(program, {}, solution).status;
      const double residual = certify(program, solution).max_scaled();
      EXPECT_EQ(status == Status::kSolved, residual <= 1e-6) << ForceSpaceProblems::kFamilies[family] << i;
      solved += residual <= 1e-6;
      ++count;
      program.law = SlidingLaw::kAssociated;
      EXPECT_EQ(DelassusSolver().solve(program, {}, solution).status, Status::kSolved)
          << ForceSpaceProblems::kFamilies[family] << i;
      EXPECT_LE(certify(program, solution).max_scaled(), 1e-6) << ForceSpaceProblems::kFamilies[family] << i;
    }
  }
  EXPECT_GE(solved, count - 2);
}

TEST(Delassus, DenseMatricesAreRecognisedAsSparse) {
  DelassusProgram program = deft::testing::ForceSpaceProblems(3).next(4, 60);
  DelassusSolution sparse, dense;
  ASSERT_EQ(DelassusSolver().solve(program, {}, sparse).status, Status::kSolved);
  std::vector<Eigen::Triplet<double>> entries;
  const MatrixXd W(program.W);
  for (int i = 0; i < W.rows(); ++i) {
    for (int j = 0; j < W.cols(); ++j) entries.emplace_back(i, j, W(i, j));
  }
  program.W.setFromTriplets(entries.begin(), entries.end());
  ASSERT_EQ(program.W.nonZeros(), W.size());
  ASSERT_EQ(DelassusSolver().solve(program, {}, dense).status, Status::kSolved);
  EXPECT_EQ(sparse.r, dense.r) << "the same arithmetic";
}

TEST(Delassus, WallsThatCloseAreInfeasibleForCoulombToo) {
  // One body between two walls that approach it: u_n ≥ 0 at both is impossible, whatever friction does.
  DelassusProgram program;
  program.law = SlidingLaw::kCoulomb;
  MatrixXd J(6, 3);
  J << 1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, 1, 0, 0, 0, 1;
  program.W = MatrixXd(J * J.transpose()).sparseView();
  program.q = VectorXd::Zero(6);
  program.q[0] = program.q[3] = -0.5;
  program.q[1] = program.q[4] = 1;
  program.mu = {0.5, 0.5};
  DelassusSolution solution;
  EXPECT_EQ(DelassusSolver().solve(program, {}, solution).status, Status::kInfeasible);
}

TEST(Delassus, AContactThatNothingOpensIsInfeasible) {
  DelassusProgram program = sliding_mass(0.0, 0.0, 1.0, 0.5, 3);
  program.W.setZero();
  DelassusSolution solution;
  EXPECT_EQ(DelassusSolver().solve(program, {}, solution).status, Status::kInfeasible);
}

TEST(Delassus, BadInputIsRefused) {
  DelassusSolution solution;
  DelassusProgram program = sliding_mass(1, 0, 1, 0.5, 3);
  program.mu[0] = -1;
  EXPECT_THROW(DelassusSolver().solve(program, {}, solution), std::invalid_argument);
  program = sliding_mass(1, 0, 1, 0.5, 3);
  program.q.conservativeResize(2);
  EXPECT_THROW(DelassusSolver().solve(program, {}, solution), std::invalid_argument);
}

}  // namespace delassus_test
}  // namespace deft::solvers::force_space
