// Other motions: the arguments that spare a search, and that none of them closes a mode which holds a solution.

#include "deft/solvers/lcp/alternative_solution.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "support/brute_force_modes.hpp"
#include "support/complementarity_problems.hpp"

namespace deft::solvers::lcp {
namespace alternative_solution_test {

using deft::testing::ComplementarityProblems;
using deft::testing::enumerate_modes;
using deft::testing::ModesTruth;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<double> to_scaled(const ScaledComplementarity& scaled, const VectorXd& z) {
  std::vector<double> out(z.size());
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = z[static_cast<Eigen::Index>(j)] / scaled.col[j];
  return out;
}

// Two independent problems.
ComplementarityProgram beside(const ComplementarityProgram& a, const ComplementarityProgram& b) {
  const Eigen::Index n = a.q.size(), m = b.q.size();
  ComplementarityProgram out;
  out.M = MatrixXd::Zero(n + m, n + m);
  out.M.topLeftCorner(n, n) = a.M;
  out.M.bottomRightCorner(m, m) = b.M;
  out.q.resize(n + m);
  out.q << a.q, b.q;
  out.free = a.free;
  for (const int i : b.free) out.free.push_back(static_cast<int>(n) + i);
  return out;
}

TEST(AlternativeSolution, SolutionsObeyTheEnergyBoundAndItsTangents) {
  int examined = 0;
  for (int i = 0; i < 400; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(500 + i));
    const ComplementarityProgram p = i % 2 ? random.small(2, 12) : random.stewart_trinkle({.max_size = 24});
    ScaledComplementarity scaled;
    scaled.assign(p);
    EnergyBound energy;
    ASSERT_TRUE(energy.assign(scaled)) << i;
    const ComplementarityResult result = ComplementaritySolver({.check_uniqueness = true}).solve(p);
    if (!usable(result.status)) continue;
    std::vector<std::vector<double>> solutions{to_scaled(scaled, result.solution.z)};
    if (result.solution.second_z.size() > 0) solutions.push_back(to_scaled(scaled, result.solution.second_z));
    for (const auto& z : solutions) {
      double size = 1;  // rounding grows with forces
      for (const double entry : z) size += entry * entry;
      EXPECT_LE(energy.value(z), 1e-9 * size) << i;
      EXPECT_NEAR(energy.value(z) + energy.dissipation(z), 0, 1e-8 * size) << i;  // zᵀ(Mz + q) = 0
      for (int k = 0; k < 5; ++k) {
        std::vector<double> y(z.size());
        for (double& entry : y) entry = random.normal();
        Cut cut;
        energy.tangent(k == 0 ? std::span<const double>(z) : std::span<const double>(y), cut);
        double value = cut.constant;
        for (std::size_t j = 0; j < z.size(); ++j) value += cut.slope[j] * z[j];
        EXPECT_GE(value, -1e-9) << i;
      }
      ++examined;
    }
  }
  EXPECT_GE(examined, 300);
}

TEST(AlternativeSolution, TheBorderOfTheBoundLiesBetween) {
  ComplementarityProblems random(4);
  const ComplementarityProgram p = random.limit_surface({.max_size = 16});
  ScaledComplementarity scaled;
  scaled.assign(p);
  EnergyBound energy;
  ASSERT_TRUE(energy.assign(scaled));
  const std::vector<double> inside = to_scaled(scaled, ComplementaritySolver().solve(p).solution.z);
  int outside_points = 0;
  for (int k = 0; k < 50; ++k) {
    std::vector<double> outside(inside.size()), y;
    for (double& entry : outside) entry = 3 * random.normal();
    if (!(energy.value(outside) > 0)) continue;
    ++outside_points;
    energy.border(inside, outside, y);
    EXPECT_NEAR(energy.value(y), 0, 1e-9 * energy.value(outside));
    Cut cut;
    energy.tangent(y, cut);
    double value = cut.constant;
    for (std::size_t j = 0; j < y.size(); ++j) value += cut.slope[j] * outside[j];
    EXPECT_LT(value, 0);
  }
  EXPECT_GE(outside_points, 10);
}

TEST(AlternativeSolution, WithoutNormalEnergyThereIsNoBound) {
  // Not a contact problem: M has a negative direction, or friction that pushes.
  for (const double bad : {-1.0, -0.5}) {
    MatrixXd M = MatrixXd::Identity(3, 3);
    M(2, 2) = bad == -1.0 ? bad : 0;
    M(2, 0) = bad == -0.5 ? bad : 0;
    ScaledComplementarity scaled;
    scaled.assign({M, -VectorXd::Ones(3), {}, {}});
    EXPECT_FALSE(EnergyBound().assign(scaled));
  }
}

TEST(AlternativeSolution, NothingCommandedMeansNothingMovesWithoutASearch) {
  for (int i = 0; i < 40; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(80 + i));
    ComplementarityProgram p = random.limit_surface({.max_size = 120});
    p.q.setZero();
    // Motions follow from forces: W f is the relative motion of all contacts.
    p.motion = MatrixXd::Zero(p.q.size(), p.q.size());
    for (Eigen::Index k = 0; k + 3 < p.q.size(); k += 4) p.motion.middleRows(k, 3) = p.M.middleRows(k, 3);
    for (Eigen::Index k = 3; k < p.q.size(); k += 4) p.motion.col(k).setZero();
    const ComplementarityResult result = ComplementaritySolver({.check_uniqueness = true}).solve(p);
    EXPECT_EQ(result.status, Status::kSolved) << i;
    EXPECT_EQ(result.solution.uniqueness, Uniqueness::kUnique) << i;
    EXPECT_EQ(result.modes, 0) << i;
  }
}

TEST(AlternativeSolution, IslandsAreExaminedOneByOne) {
  int unique = 0, several = 0;
  for (int i = 0; i < 60; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(300 + i));
    const ComplementarityProgram a = random.small(2, 8), b = random.small(0, 6), both = beside(a, b);
    const ModesTruth first = enumerate_modes(a), second = enumerate_modes(b);
    if (!first.feasible || !second.feasible) continue;
    const ComplementarityResult result = ComplementaritySolver({.check_uniqueness = true}).solve(both);
    const bool one = first.spread <= 1e-6 && second.spread <= 1e-6;
    EXPECT_EQ(result.solution.uniqueness, one ? Uniqueness::kUnique : Uniqueness::kNotUnique) << i;
    (one ? unique : several) += 1;
    if (one) continue;
    EXPECT_LE(certify(both, {.z = result.solution.second_z, .w = result.solution.second_w}).max_scaled(), 1e-10) << i;
  }
  EXPECT_GE(unique, 2);
  EXPECT_GE(several, 10);
}

// Contact problems of up to three contacts, rigid and compliant, whose motions alone count, against all modes.
TEST(AlternativeSolution, AnswersOnContactAgreeWithAllModes) {
  int several = 0, one = 0;
  for (int i = 0; i < 150; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(4000 + i));
    ComplementarityProgram p =
        i % 3 == 0 ? random.limit_surface({.max_size = 12}) : random.small(2, i % 5 == 0 ? 12 : 8);
    p.motion = MatrixXd::Zero(p.q.size(), p.q.size());
    for (Eigen::Index k = 0; k + 3 < p.q.size(); k += 4) p.motion.middleRows(k, 3) = p.M.middleRows(k, 3);
    for (Eigen::Index k = 3; k < p.q.size(); k += 4) p.motion.col(k).setZero();
    const ModesTruth truth = enumerate_modes(p);
    if (!truth.feasible) continue;
    const ComplementarityResult result = ComplementaritySolver({.check_uniqueness = true}).solve(p);
    EXPECT_EQ(result.solution.uniqueness, truth.spread > 1e-6 ? Uniqueness::kNotUnique : Uniqueness::kUnique)
        << i << " " << truth.spread;
    (truth.spread > 1e-6 ? several : one) += 1;
  }
  EXPECT_GE(several, 1);  // rigid fingers on one body mostly leave one motion
  EXPECT_GE(one, 40);
}

}  // namespace alternative_solution_test
}  // namespace deft::solvers::lcp
