#include "deft/solvers/lcp/complementarity_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "support/complementarity_problems.hpp"

namespace deft::solvers::lcp {
namespace complementarity_test {

using deft::testing::ComplementarityProblems;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ComplementarityProgram program(const MatrixXd& M, const VectorXd& q, std::vector<int> free = {}) {
  return {M, q, std::move(free), {}};
}

ComplementarityResult solve(const ComplementarityProgram& p, ComplementaritySettings settings = {}) {
  return ComplementaritySolver(settings).solve(p);
}

// The residuals by their definition in the problem's own units.
double error(const ComplementarityProgram& p, const VectorXd& z) {
  const VectorXd w = p.M * z + p.q;
  double worst = 0;
  std::size_t next = 0;
  for (Eigen::Index i = 0; i < z.size(); ++i) {
    const bool is_free = next < p.free.size() && p.free[next] == i;
    next += is_free;
    worst = std::max(worst, is_free ? std::abs(w[i]) : std::abs(std::min(z[i], w[i])));
  }
  return worst;
}

TEST(Complementarity, WhatNothingPressesStays) {
  const auto result = solve(program(MatrixXd::Random(5, 5), VectorXd::LinSpaced(5, 0, 4)));
  EXPECT_EQ(result.status, Status::kSolved);
  EXPECT_EQ(result.solution.z, VectorXd::Zero(5));
  EXPECT_EQ(solve(program(MatrixXd(0, 0), VectorXd(0))).status, Status::kSolved);
}

TEST(Complementarity, WeaklyCoupledPartsAreOneProblem) {
  // Entries of 1e-10 join what has its own units otherwise; with loads of 1e6 they decide.
  const ComplementarityProgram pair =
      program((MatrixXd(2, 2) << 1, -1e-10, 1e-10, 1).finished(), Eigen::Vector2d(-1, -1e-3));
  const auto joined = solve(pair);
  ASSERT_EQ(joined.status, Status::kSolved);
  EXPECT_LT(error(pair, joined.solution.z), 1e-12);
  const ComplementarityProgram driven =
      program((MatrixXd(3, 3) << 1, 1, 0, 1, 0, -1e-10, 0, 0, 1).finished(), Eigen::Vector3d(-1, 5e-5, -1e6));
  const auto several = solve(driven, {.check_uniqueness = true});  // (1, 0, 1e6) and (5e-5, 0.99995, 1e6)
  ASSERT_EQ(several.status, Status::kNotUnique);
  EXPECT_LT(error(driven, several.solution.z), 1e-9);
  EXPECT_LT(error(driven, several.solution.second_z), 1e-9);
  EXPECT_GT(std::abs(several.solution.z[0] - several.solution.second_z[0]), 0.9);
}

TEST(Complementarity, WhatHardlyGainsMayStillMoveFar) {
  // (1, 0, 0) and (½, 5e4, 0): beside an idle row of 1e8 the gain on the way from one to the other is small.
  const ComplementarityProgram far{(MatrixXd(3, 3) << 1, 1e-5, 0, 1e-5, 0, -1, 0, 1, 1).finished(),
                                   Eigen::Vector3d(-1, -0.5e-5, 1e8),
                                   {},
                                   Eigen::RowVector3d(1, 0, 0)};
  EXPECT_NE(solve(far, {.check_uniqueness = true}).solution.uniqueness, Uniqueness::kUnique);
  // (1, t) for all t ≥ 0, of which the motion keeps 5e-10 t.
  const ComplementarityProgram ray{
      (MatrixXd(2, 2) << 1, 0, 1, 0).finished(), Eigen::Vector2d(-1, -1), {}, Eigen::RowVector2d(1, 5e-10)};
  EXPECT_NE(solve(ray, {.check_uniqueness = true}).solution.uniqueness, Uniqueness::kUnique);
}

TEST(Complementarity, ANearlySemidefiniteMatrixAllowsTwoMotions) {
  // An eigenvalue of −2⁻⁴¹ and 2⁻²⁰ of skew: singular, solved by a whole line through (½, ½) whose sum changes.
  const double d = std::exp2(-41), k = std::exp2(-20);
  const MatrixXd M = (MatrixXd(2, 2) << 0.5 - d, 0.5 + d - k, 0.5 + d + k, 0.5 - d).finished();
  const ComplementarityProgram line{M, -M * Eigen::Vector2d(0.5, 0.5), {}, Eigen::RowVector2d(1, 1)};
  EXPECT_NE(solve(line, {.check_uniqueness = true}).solution.uniqueness, Uniqueness::kUnique);
}

TEST(Complementarity, APushedBlockSticksOrSlides) {
  // A unit mass at rest on the ground under the impulse (−p, s): unknowns f_n, β₊, β₋, λ.
  for (const double mu : {0.1, 0.5, 1.0}) {
    for (const double push : {0.05, 0.3, 2.0, -2.0}) {
      MatrixXd M(4, 4);
      M << 1, 0, 0, 0, 0, 1, -1, 1, 0, -1, 1, 1, mu, -1, -1, 0;
      const double p = 1;
      const auto result = solve(program(M, Eigen::Vector4d(-p, push, -push, 0)));
      ASSERT_EQ(result.status, Status::kSolved);
      const VectorXd& z = result.solution.z;
      EXPECT_NEAR(z[0], p, 1e-12);
      const double friction = z[1] - z[2], v = push + friction;
      const bool sticks = std::abs(push) <= mu * p;
      EXPECT_NEAR(v, sticks ? 0 : push - std::copysign(mu * p, push), 1e-12) << mu << " " << push;
      EXPECT_LE(result.certificate.max_scaled(), 1e-14);
    }
  }
}

TEST(Complementarity, FreeVariablesSolveTheirRows) {
  // min ½|x|² − cᵀx with x₀ + x₁ ≥ 1: x = c + λ(1, 1), λ = max(0, (1 − c₀ − c₁)/2).
  MatrixXd M(3, 3);
  M << 1, 0, -1, 0, 1, -1, 1, 1, 0;
  for (const double c : {-1.0, 0.2, 0.7}) {
    const auto result = solve(program(M, Eigen::Vector3d(-c, -0.1, -1), {0, 1}));
    ASSERT_EQ(result.status, Status::kSolved);
    const double lambda = std::max(0.0, (1 - c - 0.1) / 2);
    EXPECT_NEAR((result.solution.z - Eigen::Vector3d(c + lambda, 0.1 + lambda, lambda)).norm(), 0, 1e-14);
  }
}

TEST(Complementarity, AFreeBlockWithoutStiffnessIsSplit) {
  // An object of weight 1 on the ground (gap 0.2), pushed down onto it by nothing else: δ = −0.2, f = 1.
  MatrixXd M(2, 2);
  M << 0, 1, 1, 0;
  const auto result = solve(program(M, Eigen::Vector2d(-1, 0.2), {0}));
  ASSERT_EQ(result.status, Status::kSolved);
  EXPECT_NEAR((result.solution.z - Eigen::Vector2d(-0.2, 1)).norm(), 0, 1e-14);
}

TEST(Complementarity, SolvesFrictionalContact) {
  ComplementaritySolver solver;
  for (int i = 0; i < 300; ++i) {
    ComplementarityProblems random(1000 + i);
    const ComplementarityProgram p = i % 2 ? random.stewart_trinkle({}) : random.limit_surface({.max_size = 40});
    solver.forget();
    const ComplementarityResult& result = solver.solve(p);
    EXPECT_EQ(result.status, Status::kSolved) << "problem " << i << ", size " << p.q.size();
    EXPECT_LE(result.certificate.max_scaled(), 1e-10) << "problem " << i;
    const double size =
        std::max(1.0, result.solution.z.lpNorm<Eigen::Infinity>()) * std::max(1.0, p.M.lpNorm<Eigen::Infinity>());
    EXPECT_LE(error(p, result.solution.z), 1e-8 * size) << "problem " << i;
  }
}

}  // namespace complementarity_test
}  // namespace deft::solvers::lcp
