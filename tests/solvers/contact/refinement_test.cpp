// Nearly jammed bodies and sharp barriers, against the same conditions solved in extended precision.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "deft/solvers/contact/derivative/refinement.hpp"
#include "deft/solvers/contact/derivative/sensitivity.hpp"
#include "support/contact_programs.hpp"

namespace deft::solvers::contact {
namespace refinement_test {

// Quadruple precision: long double, which the refinement uses, must not check itself.
__extension__ typedef __float128 Real;
using Vector = std::array<Real, 3>;
using Matrix = std::array<Vector, 3>;

/// A⁻¹ by cofactors.
Matrix inverse(const Matrix& A) {
  Matrix X;
  Real det = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      X[i][j] = A[a][c] * A[b][d] - A[a][d] * A[b][c];
    }
  }
  for (int i = 0; i < 3; ++i) det += A[0][i] * X[i][0];
  for (Vector& row : X) {
    for (Real& x : row) x /= det;
  }
  return X;
}

/// Three joints that the friction of one contact nearly holds: n − μt₁ moves them by `clearance` only.
ContactProgram nearly_jammed(double clearance, double gap, double kappa) {
  ContactProgram p = testing::diagonal_program({80, 60, 90}, {-3, 1, 2});
  Eigen::Matrix3d rows;
  rows << 0.65 * 0.3 + clearance, 0.65 * 0.2, -0.65 * 0.1, 0.3, 0.2, -0.1, 1e-3, 2e-3, 4e-3;
  testing::add_contact(p, rows, {.gap = gap, .mu = 0.65});
  p.model = FrictionModel::kCone;
  p.kappa = kappa;
  return p;
}

/// The solution of a program of three velocities and a single cone with a barrier, by Newton's method from δ.
struct Reference {
  Vector delta, force, rest;
  Matrix H;

  Reference(const ContactProgram& p, const ContactSolution& start) {
    for (int v = 0; v < 3; ++v) delta[v] = start.delta(v);
    for (int k = 0; k < 20; ++k) {
      evaluate(p);
      const Matrix X = inverse(H);
      for (int v = 0; v < 3; ++v) {
        for (int w = 0; w < 3; ++w) delta[v] -= X[v][w] * rest[w];
      }
    }
    evaluate(p);
  }

  /// y = (2/κ) z⁻¹, −dy/dz = (κ/2)(2yyᵀ − det(y) diag(1, −1, −1)), z = D s, f = D y.
  void evaluate(const ContactProgram& p) {
    const auto J = p.J.block(0);
    const Real mu = p.contacts[0].mu, two = 2 / Real(p.kappa);
    const Vector D{1, mu, mu};
    Vector z{p.contacts[0].gap, 0, 0};
    for (int r = 0; r < 3; ++r) {
      for (int v = 0; v < 3; ++v) z[r] += Real(J(r, v)) * delta[v];
      z[r] *= D[r];
    }
    const Real det = z[0] * z[0] - z[1] * z[1] - z[2] * z[2], det_y = two * two / det;
    const Vector y{two * z[0] / det, -two * z[1] / det, -two * z[2] / det};
    for (int v = 0; v < 3; ++v) {
      force[v] = D[v] * y[v];
      H[v] = {};
      H[v][v] = p.Q.block(v)(0, 0);
      rest[v] = H[v][v] * delta[v] + p.b(v);
    }
    for (int r = 0; r < 3; ++r) {
      for (int v = 0; v < 3; ++v) rest[v] -= Real(J(r, v)) * force[r];
      for (int s = 0; s < 3; ++s) {
        const Real P = 2 * y[r] * y[s] + (r == s ? (r == 0 ? -det_y : det_y) : Real(0));
        for (int v = 0; v < 3; ++v) {
          for (int w = 0; w < 3; ++w) H[v][w] += Real(J(r, v)) * D[r] * P * D[s] * Real(J(s, w)) / two;
        }
      }
    }
  }
};

/// |computed − expected| / |expected|
template <typename Computed>
double relative(const Computed& computed, const Vector& expected) {
  Real rest = 0, all = 0;
  for (int v = 0; v < 3; ++v) {
    const Real e = Real(computed[v]) - expected[v];
    rest += e * e;
    all += expected[v] * expected[v];
  }
  return std::sqrt(static_cast<double>(rest / all));
}

TEST(Refinement, GivesASharpBarrierTheDigitsOfItsNumbers) {
  for (const double clearance : {1e-2, 1e-3, 1e-4}) {
    const ContactProgram program = nearly_jammed(clearance, -3 * clearance, 1e4);
    ContactSolution solution;
    ASSERT_EQ(ContactSolver().solve(program, {.tolerance = 1e-13}, solution).status, Status::kSolved) << clearance;
    const Reference expected(program, solution);
    EXPECT_LT(relative(solution.delta, expected.delta), 1e-12) << clearance;
    EXPECT_LT(relative(solution.force[0], expected.force), 1e-11) << clearance;
  }
}

TEST(Refinement, GivesANearlyJammedConeTheDigitsOfItsNumbers) {
  for (const double clearance : {1e-3, 1e-4, 1e-5}) {
    // One joint: φ + (n − μ)δ = 0 while it slides.
    ContactProgram program = testing::diagonal_program({50}, {-1});
    Eigen::MatrixXd rows(3, 1);
    rows << 0.65 + clearance, 1, 0;
    testing::add_contact(program, rows, {.gap = -0.2 * clearance, .mu = 0.65});
    program.model = FrictionModel::kCone;
    ContactSolution solution;
    ASSERT_EQ(ContactSolver().solve(program, {.tolerance = 1e-13}, solution).status, Status::kSolved) << clearance;
    const Real effective = Real(rows(0, 0)) - Real(0.65), delta = -Real(program.contacts[0].gap) / effective;
    const Real force = (50 * delta - 1) / effective;
    EXPECT_LT(std::abs(static_cast<double>(Real(solution.delta(0)) / delta - 1)), 1e-14) << clearance;
    EXPECT_LT(std::abs(static_cast<double>(Real(solution.force[0][0]) / force - 1)), 1e-14) << clearance;
  }
}

TEST(Refinement, KeepsTheMultipliersOfRaysAndBounds) {
  for (const double kappa : {1e3, std::numeric_limits<double>::infinity()}) {
    ContactProgram program = testing::point_on_plane({0.3, 0.1, -5}, 0.02, 0.5, FrictionModel::kPyramid);
    program.kappa = kappa;
    program.lower = Eigen::Vector3d::Constant(-0.05);
    program.upper = Eigen::Vector3d::Constant(0.05);
    ContactSolution solution;
    ASSERT_EQ(ContactSolver().solve(program, {.tolerance = 1e-13}, solution).status, Status::kSolved);
    EXPECT_LT(certify(program, solution).max_scaled(), 1e-14) << kappa;
    double normal = 0;
    for (const double beta : solution.ray_multipliers) normal += beta;
    EXPECT_NEAR(normal, solution.force[0][0], 1e-14);
    for (std::size_t j = 0; j < solution.slack.size(); ++j)
      EXPECT_NEAR(solution.slack[j] * solution.ray_multipliers[j], std::isfinite(kappa) ? 1 / kappa : 0.0, 1e-14);
  }
}

TEST(Refinement, HandlesBoundsOnOneSideOnly) {
  constexpr double kBound = 0.05;
  for (const double kappa : {1e3, std::numeric_limits<double>::infinity()}) {
    for (const bool is_upper : {false, true}) {
      // δ + b = m where m (δ + bound) = 1/κ from below, δ + b = −m where m (bound − δ) = 1/κ from above; mirror images.
      const double sign = is_upper ? -1 : 1;
      ContactProgram program = testing::diagonal_program({1, 1}, {sign, 3 * sign});
      (is_upper ? program.upper : program.lower) = Eigen::Vector2d::Constant(-sign * kBound);
      program.kappa = kappa;
      ContactSolution solution;
      ASSERT_EQ(ContactSolver().solve(program, {.tolerance = 1e-9}, solution).status, Status::kSolved);
      EXPECT_TRUE(Refinement().refine(program, solution)) << kappa << is_upper;
      for (int v = 0; v < 2; ++v) {
        // s² + (|b| − bound) s = 1/κ for the slack s.
        const double linear = std::abs(program.b(v)) - kBound;
        const double slack = (2 / kappa) / (linear + std::sqrt(linear * linear + 4 / kappa));
        EXPECT_NEAR(sign * solution.delta(v), slack - kBound, 1e-15) << kappa << is_upper;
        EXPECT_NEAR(sign * solution.bound_multipliers(v), linear + slack, 1e-14) << kappa << is_upper;
      }
    }
  }
}

TEST(Refinement, KnowsTheBarrierWeightOfASingleRowOfAPyramid) {
  // 2δ + 3 = f with f s = w/κ, s = δ + φ, w the number of rays: 2s² + (3 − 2φ)s = w/κ.
  constexpr double kGap = 0.1, kKappa = 10;
  ContactProgram program = testing::diagonal_program({2}, {3});
  testing::add_contact(program, Eigen::MatrixXd::Ones(1, 1), {.gap = kGap, .mu = 0.5});
  program.rays = 6;
  program.kappa = kKappa;
  ContactSolution solution;
  ASSERT_EQ(ContactSolver().solve(program, {.tolerance = 1e-9}, solution).status, Status::kSolved);
  EXPECT_TRUE(Refinement().refine(program, solution));
  const double target = program.rays / kKappa, linear = 3 - 2 * kGap;
  const double slack = 2 * target / (linear + std::sqrt(linear * linear + 8 * target));
  EXPECT_NEAR(solution.delta(0), slack - kGap, 1e-15);
  EXPECT_NEAR(solution.ray_multipliers.at(0), target / slack, 1e-14);
}

TEST(Refinement, RefinesTheRaysOfEachPyramidThatSlides) {
  // Two points of mass one slide along their planes, each on one ray: 0 = n·δ + φ − μ t·δ.
  constexpr double kGap = 0.1, kMu = 0.5;
  ContactProgram program = testing::diagonal_program({1, 1, 1, 1, 1, 1}, {2, -3, 0, 2, 0, 3});
  for (int i = 0; i < 2; ++i) {
    Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(3, 6);
    rows.middleCols(3 * i, 3).setIdentity();
    testing::add_contact(program, rows, {.gap = kGap, .mu = kMu});
  }
  ContactSolution solution;
  ASSERT_EQ(ContactSolver().solve(program, {.tolerance = 1e-6}, solution).status, Status::kSolved);
  for (double& beta : solution.ray_multipliers) beta *= 1 + 1e-8;
  for (auto& force : solution.force) {
    for (double& value : force) value *= 1 + 1e-8;
  }
  EXPECT_TRUE(Refinement().refine(program, solution));
  EXPECT_LT(certify(program, solution).max_scaled(), 1e-14);
  // δ = e f − b along the ray e = (1, −μ) or (1, μ), against the motion: e·δ = −φ.
  const double force = (2 + 3 * kMu - kGap) / (1 + kMu * kMu);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(solution.force[i][0], force, 1e-14) << i;
    EXPECT_NEAR(solution.force[i][1 + i], (i == 0 ? -1 : 1) * kMu * force, 1e-14) << i;
  }
}

TEST(Sensitivity, OfASharpBarrierIsNotDrownedByItsStiffness) {
  for (const double clearance : {1e-2, 1e-3, 1e-4}) {
    const ContactProgram program = nearly_jammed(clearance, -3 * clearance, 1e4);
    ContactSolution solution;
    ASSERT_EQ(ContactSolver().solve(program, {.tolerance = 1e-13}, solution).status, Status::kSolved) << clearance;
    Sensitivity sensitivity;
    sensitivity.factor(program, solution, certify(program, solution).E0_J);
    const ProgramChange change{
        .gradient = Eigen::Matrix3d::Identity(), .rows = Eigen::Matrix3d::Zero(), .lower = {}, .upper = {}};
    SolutionChange computed;
    sensitivity.solve(program, change, computed);
    const Matrix expected = inverse(Reference(program, solution).H);
    for (int v = 0; v < 3; ++v) EXPECT_LT(relative(-computed.delta.row(v), expected[v]), 1e-10) << clearance;
  }
}

TEST(Sensitivity, OfStiffBarriersThatShareALoadSharesIt) {
  // Four equal barriers under one mass, κβ² = 4e10 times its stiffness: dβ_i = −c (dδ + dφ_i), (1 + 4c) dδ = −c Σ dφ_i.
  constexpr double kKappa = 1e8, kLoad = 80;
  ContactProgram program = testing::diagonal_program({1}, {kLoad});
  for (int i = 0; i < 4; ++i)
    testing::add_contact(program, Eigen::MatrixXd::Ones(1, 1), {.gap = 0, .frictionless = true});
  program.kappa = kKappa;
  ContactSolution solution;
  ASSERT_EQ(ContactSolver().solve(program, {.tolerance = 1e-13}, solution).status, Status::kSolved);
  Sensitivity sensitivity;
  sensitivity.factor(program, solution, certify(program, solution).E0_J);
  const ProgramChange change{.gradient = Eigen::MatrixXd::Zero(1, 2),
                             .rows = (Eigen::MatrixXd(4, 2) << 1, 1, 0, -1, 0, 1, 0, -1).finished(),
                             .lower = {},
                             .upper = {}};
  SolutionChange computed;
  sensitivity.solve(program, change, computed);
  EXPECT_FALSE(sensitivity.is_nonsmooth());
  const Real c = Real(kKappa) * Real(solution.force[0][0]) * Real(solution.force[0][0]), moved = -c / (1 + 4 * c);
  EXPECT_NEAR(computed.delta(0, 0), static_cast<double>(moved), 1e-14);
  EXPECT_NEAR(computed.delta(0, 1), 0, 1e-14);
  for (int i = 0; i < 4; ++i) {
    const Real first = -c * (moved + (i == 0 ? 1 : 0)), second = -c * (i % 2 == 0 ? 1 : -1);
    EXPECT_NEAR(computed.force(i, 0) / static_cast<double>(first), 1, 1e-9) << i;
    EXPECT_NEAR(computed.force(i, 1) / static_cast<double>(second), 1, 1e-9) << i;
  }
}

}  // namespace refinement_test
}  // namespace deft::solvers::contact
