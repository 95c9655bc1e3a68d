// No solution, several solutions, one solution: each compared with all modes, or with mechanics.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <string>

#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "support/brute_force_modes.hpp"
#include "support/complementarity_problems.hpp"

namespace deft::solvers::lcp {
namespace complementarity_proofs_test {

using deft::testing::ComplementarityProblems;
using deft::testing::enumerate_modes;
using deft::testing::ModesTruth;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSpread = 1e-6;  // of several solutions

std::string words(const ComplementarityResult& result) {
  return std::string(to_string(result.status)) + " " + std::string(to_string(result.solution.uniqueness));
}

class SmallProblems : public ::testing::TestWithParam<int> {};

TEST_P(SmallProblems, AnswersAgreeWithAllModes) {
  int infeasible = 0, several = 0, one = 0;
  for (int i = 0; i < 150; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(10'000 * GetParam() + i));
    const ComplementarityProgram p = random.small(GetParam(), i % 10 == 0 ? 11 : 8);
    const ModesTruth truth = enumerate_modes(p);
    const ComplementarityResult result = ComplementaritySolver({.check_uniqueness = true}).solve(p);
    const std::string expected = !truth.feasible          ? "Infeasible unknown"
                                 : truth.spread > kSpread ? "NotUnique not_unique"
                                                          : "Solved unique";
    ASSERT_EQ(words(result), expected) << "problem " << i << ", size " << p.q.size() << ", spread " << truth.spread;
    infeasible += !truth.feasible;
    several += truth.feasible && truth.spread > kSpread;
    one += truth.feasible && truth.spread <= kSpread;

    if (!truth.feasible) {
      EXPECT_LE(certify(p, result.solution).infeasible, 1e-9) << "problem " << i;
      continue;
    }
    EXPECT_LE(certify(p, result.solution).max_scaled(), 1e-10) << "problem " << i;
    if (result.status != Status::kNotUnique) continue;
    const ComplementaritySolution second{.z = result.solution.second_z, .w = result.solution.second_w};
    EXPECT_LE(certify(p, second).max_scaled(), 1e-10) << "problem " << i;
    const VectorXd difference = second.z - result.solution.z;
    EXPECT_GT((p.motion.size() > 0 ? VectorXd(p.motion * difference) : difference).norm(), 1e-8) << "problem " << i;
  }
  EXPECT_GE(several, 20);
  EXPECT_GE(infeasible, GetParam() == 2 ? 0 : 20);  // contact with one body is hardly ever jammed
  EXPECT_GE(one, GetParam() == 4 ? 0 : 10);         // an object without stiffness rarely has one motion
}

INSTANTIATE_TEST_SUITE_P(Kinds, SmallProblems, ::testing::Range(0, 5));

TEST(ComplementarityProofs, WithoutBeingAskedUniquenessIsUnknown) {
  ComplementarityProblems random(3);
  const ComplementarityResult result = ComplementaritySolver().solve(random.limit_surface({.max_size = 8}));
  EXPECT_EQ(words(result), "Solved unknown");
  EXPECT_EQ(result.solution.second_z.size(), 0);
}

// A disk between two rigid fingers that close by `squeeze` each; friction μ. Unknowns: δ free, then per
// finger f_n, β±, λ.
ComplementarityProgram squeezed_disk(double squeeze, double mu) {
  MatrixXd M = MatrixXd::Zero(11, 11);
  VectorXd q = VectorXd::Zero(11);
  for (int k = 0; k < 2; ++k) {
    const double side = k == 0 ? 1 : -1;
    const Eigen::RowVector3d n(side, 0, 0), t(0, side, 1);  // gap and slip of the rim
    const int at = 3 + 4 * k;
    M.row(at).head<3>() = n;
    M.row(at + 1).head<3>() = t;
    M.row(at + 2).head<3>() = -t;
    M.block<3, 3>(0, at) = M.block<3, 3>(at, 0).transpose();
    M(at + 1, at + 3) = M(at + 2, at + 3) = 1;
    M(at + 3, at + 1) = M(at + 3, at + 2) = -1;
    M(at + 3, at) = mu;
    q[at] = -squeeze;
  }
  MatrixXd P = MatrixXd::Zero(3, 11);
  P.leftCols<3>().setIdentity();
  return {M, q, {0, 1, 2}, P};
}

TEST(ComplementarityProofs, AJammedDiskIsInfeasibleByOneProof) {
  for (const double squeeze : {1e-8, 1e-4, 1.0}) {
    const ComplementarityProgram p = squeezed_disk(squeeze, 0.5);
    const ComplementarityResult result = ComplementaritySolver().solve(p);
    ASSERT_EQ(words(result), "Infeasible unknown") << squeeze;
    ASSERT_EQ(result.solution.proof.size(), 1u);
    const VectorXd& y = result.solution.proof[0].y;  // f_n of both fingers, equal
    EXPECT_NEAR(y[3] / y[7], 1, 1e-9);
    EXPECT_LE(result.certificate.infeasible, 1e-12);
  }
  EXPECT_EQ(ComplementaritySolver().solve(squeezed_disk(0, 0.5)).status, Status::kSolved);
}

TEST(ComplementarityProofs, ADiskThatFingersOnlyGrazeMayStayOrMove) {
  const ComplementarityResult result =
      ComplementaritySolver({.check_uniqueness = true}).solve(squeezed_disk(-1e-3, 0.5));
  ASSERT_EQ(words(result), "NotUnique not_unique");
  EXPECT_GT((result.solution.z - result.solution.second_z).head<3>().norm(), 1e-5);
}

TEST(ComplementarityProofs, AProofWithAWrongNumberIsRefused) {
  const ComplementarityProgram p = squeezed_disk(0.1, 0.5);
  const ComplementaritySolution good = ComplementaritySolver().solve(p).solution;
  EXPECT_LE(certify(p, good).infeasible, 1e-12);
  ComplementaritySolution spoilt = good;
  spoilt.proof[0].y[3] *= 1.01;  // forces that do not balance
  EXPECT_GE(certify(p, spoilt).infeasible, 1e-3);
  spoilt = good;
  spoilt.proof[0].y *= -1;
  EXPECT_EQ(certify(p, spoilt).infeasible, std::numeric_limits<double>::infinity());
  spoilt = good;
  spoilt.proof[0].z_zero = {3};  // the modes with f_n > 0 are not refuted
  EXPECT_EQ(certify(p, spoilt).infeasible, std::numeric_limits<double>::infinity());
}

TEST(ComplementarityProofs, EveryLeafOfAProofIsNeeded) {
  int examined = 0;
  for (int i = 0; i < 200 && examined < 20; ++i) {
    ComplementarityProblems random(70 + i);
    const ComplementarityProgram p = random.small(0, 9);
    const ComplementaritySolution solution = ComplementaritySolver().solve(p).solution;
    if (solution.proof.size() < 2) continue;
    ++examined;
    EXPECT_LE(certify(p, solution).infeasible, 1e-9);
    for (std::size_t k = 0; k < solution.proof.size(); ++k) {
      ComplementaritySolution less = solution;
      less.proof.erase(less.proof.begin() + static_cast<std::ptrdiff_t>(k));
      EXPECT_EQ(certify(p, less).infeasible, std::numeric_limits<double>::infinity())
          << "problem " << i << ", leaf " << k;
    }
  }
  EXPECT_EQ(examined, 20);
}

TEST(ComplementarityProofs, AnExhaustedBudgetSaysNothing) {
  int undecided = 0, unique = 0;
  for (int i = 0; i < 40; ++i) {
    ComplementarityProblems random(70 + i);
    const ComplementarityProgram p = random.small(0, 9);
    const Status full = ComplementaritySolver().solve(p).status;
    const ComplementarityResult result = ComplementaritySolver({.check_uniqueness = true, .max_modes = 1}).solve(p);
    if (full == Status::kInfeasible && result.status != Status::kInfeasible) {
      EXPECT_EQ(result.status, Status::kRayTermination);
      EXPECT_TRUE(result.solution.proof.empty());
      ++undecided;
    }
    // An island may be so simple that it needs no search.
    if (result.solution.uniqueness == Uniqueness::kUnique) {
      EXPECT_LE(enumerate_modes(p).spread, kSpread) << i;
      ++unique;
    }
  }
  EXPECT_LE(unique, 3);
  EXPECT_GE(undecided, 5);
}

}  // namespace complementarity_proofs_test
}  // namespace deft::solvers::lcp
