// Problems on which pivoting methods are known to fail, and what must not change an answer: units, warm starts, other
// methods.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <string>

#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "support/brute_force_modes.hpp"
#include "support/complementarity_problems.hpp"

namespace deft::solvers::lcp {
namespace complementarity_collection_test {

using deft::testing::ComplementarityProblems;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Method = ComplementaritySettings::Method;

ComplementarityResult solve(const ComplementarityProgram& p, ComplementaritySettings settings = {}) {
  return ComplementaritySolver(settings).solve(p);
}

MatrixXd murty(int n) {  // ones on the diagonal, twos above
  MatrixXd U = MatrixXd::Identity(n, n);
  U.triangularView<Eigen::StrictlyUpper>().setConstant(2);
  return U;
}

TEST(ComplementarityCollection, ExamplesOfExponentialLengthAreSolved) {
  // Murty's and Fathi's families: Lemke's method with e needs 2ⁿ pivots on some of them; the solution is a unit vector.
  for (const int n : {3, 8, 16, 40}) {
    const MatrixXd U = murty(n), L = U.transpose();
    for (const auto& [M, at] :
         {std::pair<MatrixXd, int>{U, n - 1}, {L, 0}, {L * L.transpose(), 0}, {U * U.transpose(), n - 1}}) {
      const ComplementarityResult result = solve({M, -VectorXd::Ones(n), {}, {}});
      ASSERT_EQ(result.status, Status::kSolved) << n;
      EXPECT_NEAR((result.solution.z - VectorXd::Unit(n, at)).lpNorm<Eigen::Infinity>(), 0, 1e-12) << n;
      EXPECT_LE(result.iterations, 5000);
    }
  }
}

TEST(ComplementarityCollection, CyclesOfRulesWithoutMemoryAreLeft) {
  // A P-matrix on which exchanges by least index return to their start, and the same with everything at a tie.
  Eigen::Matrix3d M;
  M << 1, 2, 0, 0, 1, 2, 2, 0, 1;
  for (const Method method : {Method::kAuto, Method::kLemke, Method::kNewton}) {
    const ComplementarityResult result =
        solve({M, -Eigen::Vector3d::Ones(), {}, {}}, {.check_uniqueness = true, .method = method});
    ASSERT_EQ(result.status, Status::kSolved);
    EXPECT_EQ(result.solution.uniqueness, Uniqueness::kUnique);
    EXPECT_NEAR((result.solution.z.array() - 1.0 / 3).abs().maxCoeff(), 0, 1e-12);
  }
  const int n = 30;  // many equal rows: the first ratio test ties n times
  const ComplementarityResult tied = solve({MatrixXd::Ones(n, n), -VectorXd::Ones(n), {}, {}});
  ASSERT_EQ(tied.status, Status::kSolved);
  EXPECT_NEAR(tied.solution.z.sum(), 1, 1e-12);
}

TEST(ComplementarityCollection, LinearProgramsAreComplementarityProblems) {
  // min cᵀx, Ax ≥ b, x ≥ 0: M = [0 −Aᵀ; A 0], q = (c, −b). The oracle is a plain simplex method.
  int solved = 0, none = 0;
  for (int i = 0; i < 100; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(300 + i));
    const int rows = random.pick(1, 12), cols = random.pick(1, 12);
    MatrixXd A(rows, cols);
    VectorXd b(rows), c(cols);
    for (double& entry : A.reshaped()) entry = random.chance(0.7) ? random.pick(-2, 4) : 0;
    for (double& entry : b) entry = random.pick(-3, 3);
    for (double& entry : c) entry = random.pick(-1, 5);
    const int n = rows + cols;
    MatrixXd M = MatrixXd::Zero(n, n);
    M.topRightCorner(cols, rows) = -A.transpose();
    M.bottomLeftCorner(rows, cols) = A;
    VectorXd q(n);
    q << c, -b;
    const ComplementarityResult result = solve({M, q, {}, {}});
    MatrixXd standard(rows, cols + rows);
    standard << A, -MatrixXd::Identity(rows, rows);
    VectorXd cost = VectorXd::Zero(cols + rows);
    cost.head(cols) = -c;
    const auto best = deft::testing::PlainSimplex::maximise(standard, b, cost);
    if (!best || std::isinf(*best)) {
      EXPECT_EQ(result.status, Status::kInfeasible) << i;
      ++none;
      continue;
    }
    ASSERT_EQ(result.status, Status::kSolved) << i;
    EXPECT_NEAR(c.dot(result.solution.z.head(cols)), -*best, 1e-9 * std::max(1.0, std::abs(*best))) << i;
    ++solved;
  }
  EXPECT_GE(solved, 30);
  EXPECT_GE(none, 10);
}

// Every row of w and every entry of z in a unit of its own.
ComplementarityProgram in_other_units(const ComplementarityProgram& p, ComplementarityProblems& random,
                                      VectorXd& units) {
  ComplementarityProgram out = p;
  units.resize(p.q.size());
  for (double& unit : units) unit = std::pow(10, random.pick(-6, 6));
  for (Eigen::Index i = 0; i < p.q.size(); ++i) {
    const double row = std::pow(10, random.pick(-6, 6));
    out.M.row(i) *= row;
    out.q[i] *= row;
  }
  out.M *= units.asDiagonal();
  if (out.motion.size() > 0) out.motion *= units.asDiagonal();
  return out;
}

TEST(ComplementarityCollection, UnitsChangeNeitherStatusNorSolution) {
  for (int i = 0; i < 200; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(900 + i));
    const ComplementarityProgram p =
        i % 4 < 2 ? random.small(i % 4 == 0 ? 0 : 3, 9) : random.stewart_trinkle({.max_size = 24});
    VectorXd units;
    const ComplementarityProgram scaled = in_other_units(p, random, units);
    const bool ask = p.q.size() <= 9;
    const ComplementarityResult a = solve(p, {.check_uniqueness = ask}), b = solve(scaled, {.check_uniqueness = ask});
    ASSERT_EQ(to_string(a.status), to_string(b.status)) << i;
    EXPECT_EQ(a.solution.uniqueness, b.solution.uniqueness) << i;
    if (a.status == Status::kSolved && a.solution.uniqueness == Uniqueness::kUnique) {
      const VectorXd back = b.solution.z.cwiseProduct(units);
      EXPECT_LE((a.solution.z - back).lpNorm<Eigen::Infinity>(),
                1e-7 * std::max(1.0, a.solution.z.lpNorm<Eigen::Infinity>()))
          << i;
    }
    if (usable(b.status)) {
      EXPECT_LE(certify(scaled, b.solution).max_scaled(), 1e-10) << i;
    }
  }
}

TEST(ComplementarityCollection, SmallNumbersAreSolvedToTheirOwnSize) {
  for (const int power : {-800, -100, -27, 27, 300}) {  // of two: nothing is rounded, and ties stay ties
    const double size = std::ldexp(1.0, power);
    ComplementarityProblems random(5);
    ComplementarityProgram p = random.stewart_trinkle({.max_size = 30});
    const ComplementarityResult plain = solve(p);
    p.q *= size;
    const ComplementarityResult result = solve(p);
    ASSERT_EQ(result.status, Status::kSolved) << size;
    EXPECT_EQ(VectorXd(result.solution.z / size), plain.solution.z) << size;
    EXPECT_LE(certify(p, result.solution).max_scaled(), 1e-10);
  }
}

TEST(ComplementarityCollection, AWrongAnswerDoesNotPass) {
  int examined = 0;
  for (int i = 0; i < 100; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(40 + i));
    ComplementarityProgram p = random.stewart_trinkle({.max_size = 40});
    const VectorXd diagonal = p.M.diagonal();
    const double drive = (i % 3 ? 1 : 1e-8) * p.q.lpNorm<Eigen::Infinity>();
    VectorXd units = VectorXd::Ones(p.q.size());
    if (i % 2) p = in_other_units(p, random, units);
    p.q *= i % 3 ? 1 : 1e-8;
    ComplementaritySolution solution = solve(p).solution;
    EXPECT_LE(certify(p, solution).max_scaled(), 1e-10) << i;
    Eigen::Index largest;  // a force that matters: λ of open contacts may take many values
    if (solution.z.cwiseProduct(units).cwiseProduct(diagonal).maxCoeff(&largest) <= 1e-6 * drive) continue;
    ++examined;
    ComplementaritySolution wrong = solution;
    wrong.z[largest] *= 1 + 1e-6;  // a thousandth of a per mille
    wrong.w = p.M * wrong.z + p.q;
    EXPECT_GE(certify(p, wrong).max_scaled(), 1e-10) << i;
    wrong.z[largest] = 0;
    wrong.w = p.M * wrong.z + p.q;
    EXPECT_GE(certify(p, wrong).max_scaled(), 1e-6) << i;
    wrong = solution;
    wrong.w[largest] += 1e-6 * (std::abs(p.q[largest]) + p.M.row(largest).cwiseAbs().dot(solution.z.cwiseAbs()));
    EXPECT_GE(certify(p, wrong).max_scaled(), 1e-10) << i;
  }
  EXPECT_GE(examined, 60);
}

TEST(ComplementarityCollection, AWarmStartFindsASolutionToo) {
  int warm = 0;
  for (int i = 0; i < 20; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(60 + i));
    ComplementarityProgram p = random.limit_surface({.max_size = 24});
    ComplementaritySolver solver;
    for (int step = 0; step < 10; ++step) {
      for (double& q : p.q) q *= 1 + 1e-3 * random.normal();
      const ComplementarityResult& result = solver.solve(p);
      ASSERT_EQ(result.status, Status::kSolved);
      EXPECT_LE(certify(p, result.solution).max_scaled(), 1e-10);
      warm += result.warm;
      const ComplementarityResult cold = solve(p, {.check_uniqueness = p.q.size() <= 12});
      if (cold.solution.uniqueness == Uniqueness::kUnique) {
        EXPECT_LE((cold.solution.z - result.solution.z).lpNorm<Eigen::Infinity>(),
                  1e-8 * std::max(1.0, cold.solution.z.lpNorm<Eigen::Infinity>()));
      }
    }
    // The same again needs no pivot; another size is no obstacle.
    const VectorXd before = solver.solve(p).solution.z;
    const ComplementarityResult& again = solver.solve(p);
    EXPECT_TRUE(again.warm || again.solution.z.isZero(0));
    EXPECT_EQ(again.iterations, 0);
    EXPECT_EQ(again.solution.z, before);
    EXPECT_EQ(solver.solve({MatrixXd::Identity(2, 2), -VectorXd::Ones(2), {}, {}}).status, Status::kSolved);
    EXPECT_EQ(solver.solve(p).status, Status::kSolved);
  }
  EXPECT_GE(warm, 120);
}

TEST(ComplementarityCollection, NewtonsMethodAgreesWhereItConverges) {
  int solved = 0;
  for (int i = 0; i < 60; ++i) {
    ComplementarityProblems random(static_cast<std::uint64_t>(20 + i));
    const ComplementarityProgram p = random.planar_stewart_trinkle(1 + i % 6);
    const ComplementarityResult result = solve(p, {.method = Method::kNewton, .max_modes = 0});
    if (result.status != Status::kSolved) continue;
    EXPECT_STREQ(result.method, "newton");
    EXPECT_LE(certify(p, result.solution).max_scaled(), 1e-10);
    ++solved;
  }
  EXPECT_GE(solved, 55);
}

TEST(ComplementarityCollection, LimitsAreHonoured) {
  ComplementarityProblems random(1);
  const ComplementarityProgram p = random.planar_stewart_trinkle(20);
  const ComplementarityResult result = solve(p, {.time_limit_s = 0});
  EXPECT_EQ(result.status, Status::kTimeLimit);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(result.solution.z, VectorXd::Zero(80));
}

TEST(ComplementarityCollection, BadInputIsRefusedWithItsPlace) {
  const auto message_of = [](auto spoil) -> std::string {
    ComplementarityProgram p{MatrixXd::Identity(3, 3), -VectorXd::Ones(3), {0, 2}, {}};
    spoil(p);
    try {
      solve(p);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto has = [&](auto spoil, const char* words) { return message_of(spoil).find(words) != std::string::npos; };
  EXPECT_EQ(message_of([](auto&) {}), "accepted");
  EXPECT_TRUE(has([](auto& p) { p.M.resize(3, 2); }, "M is 3 × 2, needs 3 × 3"));
  EXPECT_TRUE(has([](auto& p) { p.M(1, 1) = NAN; }, "M: a value is not finite"));
  EXPECT_TRUE(has([](auto& p) { p.q[1] = INFINITY; }, "q: a value is not finite"));
  EXPECT_TRUE(has([](auto& p) { p.free = {0, 0}; }, "free: index 0 after 0"));
  EXPECT_TRUE(has([](auto& p) { p.free = {2, 0}; }, "free: index 0 after 2"));
  EXPECT_TRUE(has([](auto& p) { p.free = {3}; }, "free: index 3 is not one of 0 … 2"));
  EXPECT_TRUE(has([](auto& p) { p.motion.setZero(1, 2); }, "motion has 2 columns, needs 3"));
}

TEST(ComplementarityCollection, SettingsOutOfRangeAreRefusedByName) {
  const auto message_of = [](const ComplementaritySettings& settings) -> std::string {
    try {
      solve({MatrixXd::Identity(3, 3), -VectorXd::Ones(3), {}, {}}, settings);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message_of({.max_modes = 0, .max_work = 0}), "accepted");
  EXPECT_EQ(message_of({.tolerance = 0}), "tolerance = 0: must be positive");
  EXPECT_EQ(message_of({.tolerance = NAN}), "tolerance = nan: must be positive");
  EXPECT_EQ(message_of({.max_modes = -1}), "max_modes = -1: must not be negative");
  EXPECT_EQ(message_of({.max_work = NAN}), "max_work = nan: must not be negative");
  EXPECT_EQ(message_of({.time_limit_s = NAN}), "time_limit_s is not a number");
}

}  // namespace complementarity_collection_test
}  // namespace deft::solvers::lcp
