#include <gtest/gtest.h>

#include <cmath>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "support/contact_programs.hpp"

namespace deft::solvers::force_space {
namespace closed_forms_test {

using deft::testing::add_contact;
using deft::testing::diagonal_program;
using deft::testing::point_on_plane;

contact::ContactSolution solve(const contact::ContactProgram& program, Status expected = Status::kSolved) {
  contact::ContactSolver solver;
  contact::ContactSolution solution;
  const contact::SolveInfo info = solver.solve(program, {}, solution);
  EXPECT_EQ(to_string(info.status), to_string(expected));
  if (expected == Status::kSolved) {
    EXPECT_LE(certify(program, solution).max_scaled(), 1e-9);
  }
  return solution;
}

contact::ContactProgram scalar(double stiffness, double pull, double gap, double kappa) {
  contact::ContactProgram p = diagonal_program({stiffness}, {-pull});
  add_contact(p, Eigen::MatrixXd::Ones(1, 1), {.gap = gap, .frictionless = true});
  p.kappa = kappa;
  return p;
}

TEST(ClosedForms, OneRowPushesBackExactlyWhenItIsReached) {
  for (double pull : {-3.0, -0.5, 0.0, 2.0}) {
    for (double gap : {-0.2, 0.0, 0.01, 5.0}) {
      const contact::ContactSolution x = solve(scalar(4.0, pull, gap, INFINITY));
      const double expected = std::max(pull / 4.0, -gap);
      EXPECT_NEAR(x.delta[0], expected, 1e-11);
      EXPECT_NEAR(x.force[0][0], 4.0 * expected - pull, 1e-10);
      EXPECT_NEAR(x.gap[0], gap + expected, 1e-11);
    }
  }
}

TEST(ClosedForms, TwoSpheresShareTheSpringByStiffnessAndInertia) {
  // Robot sphere: spring K towards u. Object sphere: M/h². Gap φ + δ_o − δ_r.
  const double K = 500, M = 20, u = 0.1, phi = 0.03;
  contact::ContactProgram p = diagonal_program({K, M}, {-K * u, 0});
  add_contact(p, Eigen::RowVector2d(-1, 1), {.gap = phi, .frictionless = true});
  const contact::ContactSolution x = solve(p);
  const double f = (u - phi) / (1 / K + 1 / M);
  EXPECT_NEAR(x.force[0][0], f, 1e-9);
  EXPECT_NEAR(x.delta[0], u - f / K, 1e-12);
  EXPECT_NEAR(x.delta[1], f / M, 1e-12);
}

TEST(ClosedForms, SmoothedScalarIsTheSquareRootFormula) {
  for (double u : {-2.0, -1e-3, 0.0, 1e-3, 2.0}) {
    for (double kappa : {1.0, 1e2, 1e6}) {
      const contact::ContactSolution x = solve(scalar(1.0, u, 0.0, kappa));
      // ½(u + √(u² + 4/κ)), in the form that does not cancel for u < 0.
      const double root = std::sqrt(u * u + 4 / kappa);
      const double expected = u >= 0 ? 0.5 * (u + root) : 2 / kappa / (root - u);
      EXPECT_NEAR(x.delta[0] / expected, 1.0, 1e-9) << u << " " << kappa;
    }
  }
}

TEST(ClosedForms, SlackTimesForceIsOneOverKappa) {
  for (double kappa = 10; kappa <= 1e8; kappa *= 10) {
    for (double pull : {-50.0, -1.0, 0.0, 3.0}) {
      for (double gap : {-1e-3, 0.0, 0.02}) {
        const contact::ContactProgram p = scalar(10.0, pull, gap, kappa);
        const contact::ContactSolution x = solve(p);
        EXPECT_NEAR(x.slack[0] * x.force[0][0] * kappa, 1.0, 1e-9);
        const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(gap) / x.gap[0];
        EXPECT_NEAR(x.gap[0] * x.force[0][0] * kappa, 1.0, std::max(1e-9, rounding))
            << kappa << " " << pull << " " << gap;
      }
    }
  }
}

// In the plane of a symmetric pull f = (0, 0, −w): all rays alike, s β = 1/κ, f_n = n β; cones: s f_n = 2/κ.
TEST(ClosedForms, ForceAtADistanceCarriesTheWeightOfItsModel) {
  const double kappa = 1e4;
  struct Case {
    contact::FrictionModel model;
    int rays;
    double mu, weight;
    bool frictionless;
  };
  const Case cases[] = {
      {contact::FrictionModel::kPyramid, 4, 0.6, 4, false}, {contact::FrictionModel::kPyramid, 8, 0.6, 8, false},
      {contact::FrictionModel::kPyramid, 4, 0.0, 4, false}, {contact::FrictionModel::kPyramid, 6, 0.0, 6, false},
      {contact::FrictionModel::kCone, 4, 0.6, 2, false},    {contact::FrictionModel::kCone, 4, 0.0, 2, false},
      {contact::FrictionModel::kPyramid, 4, 0.6, 1, true},  {contact::FrictionModel::kCone, 4, 0.6, 1, true}};
  for (const Case& c : cases) {
    contact::ContactProgram p = point_on_plane({0, 0, -9}, 0.01, c.mu, c.model);
    p.contacts[0].frictionless = c.frictionless;
    p.rays = c.rays;
    p.kappa = kappa;
    const contact::ContactSolution x = solve(p);
    EXPECT_NEAR(x.gap[0] * x.force[0][0] * kappa, c.weight, 1e-8 * c.weight);
    // gap + δ = s, δ = f − 9, f = w/(κ s): s² − (gap − 9) s − w/κ = 0.
    const double half = 0.5 * (0.01 - 9), s = c.weight / kappa / (std::sqrt(half * half + c.weight / kappa) - half);
    EXPECT_NEAR(x.gap[0] / s, 1.0, 1e-9);
  }
}

TEST(ClosedForms, OneTangentMakesConeAndPyramidTheSame) {
  for (double kappa : {double(INFINITY), 1e3}) {
    contact::ContactProgram p = diagonal_program({1, 2}, {0.7, 1.5});
    add_contact(p, (Eigen::Matrix2d() << 0, 1, 1, 0).finished(), {.gap = 0.01, .mu = 0.4});
    p.rays = 2;
    p.kappa = kappa;
    const contact::ContactSolution pyramid = solve(p);
    p.model = contact::FrictionModel::kCone;
    const contact::ContactSolution cone = solve(p);
    EXPECT_NEAR((pyramid.delta - cone.delta).norm(), 0, 1e-11);
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(pyramid.force[0][k], cone.force[0][k], 1e-9);
  }
}

TEST(ClosedForms, MassOnAPlaneSticksInsideTheConeAndSlidesOnItOutside) {
  const double mu = 0.5;
  for (double pull : {0.1, 0.49, 0.51, 2.0}) {
    for (const contact::FrictionModel model :
         {contact::FrictionModel::kPyramid, contact::FrictionModel::kCone}) {  // a ray lies along the pull
      const contact::ContactSolution x = solve(point_on_plane({pull, 0, -1}, 0, mu, model));
      if (pull < mu) {
        EXPECT_NEAR(x.delta.norm(), 0, 1e-12);
        EXPECT_NEAR(x.force[0][1], -pull, 1e-11);
      } else {
        // Projection of the pull on δ_n ≥ μ δ_t: along (1, μ)/√(1 + μ²).
        const double along = (pull - mu) / (1 + mu * mu);
        EXPECT_NEAR(x.delta[0], along, 1e-10);
        EXPECT_NEAR(x.delta[2], mu * along, 1e-10);
        EXPECT_NEAR(-x.force[0][1], mu * x.force[0][0], 1e-10);
      }
    }
  }
}

TEST(ClosedForms, ConeSlidesAgainstItsOwnDirectionWhateverTheAngle) {
  for (double angle : {0.0, 0.3, 1.0, 2.5, 4.0}) {
    const Eigen::Vector2d direction(std::cos(angle), std::sin(angle));
    const contact::ContactSolution x =
        solve(point_on_plane({3 * direction.x(), 3 * direction.y(), -1}, 0, 0.7, contact::FrictionModel::kCone));
    const Eigen::Vector2d friction(x.force[0][1], x.force[0][2]);
    EXPECT_NEAR((friction + 0.7 * x.force[0][0] * direction).norm(), 0, 1e-9);
  }
}

TEST(ClosedForms, EllipsoidAndSpinBoundTheirShareOfTheForce) {
  // Normal load 1, a torque about the normal beyond what e_r lets the contact carry, no tangential pull.
  contact::ContactProgram p = diagonal_program({1, 1, 1, 1}, {0, 0, 1, -5});
  Eigen::Matrix4d rows = Eigen::Matrix4d::Zero();
  rows(0, 2) = rows(1, 0) = rows(2, 1) = rows(3, 3) = 1;
  add_contact(p, rows, {.mu = 0.5, .ellipsoid = {1, 2, 0.1}});
  p.model = contact::FrictionModel::kCone;
  const contact::ContactSolution x = solve(p);
  EXPECT_NEAR(-x.force[0][3], 0.5 * 0.1 * x.force[0][0], 1e-10);
  EXPECT_NEAR(x.gap[0], 0.5 * 0.1 * x.delta[3], 1e-10);
}

TEST(ClosedForms, OffsetShiftsTheTangentialRows) {
  // The surface moves under the body: sticking means following it.
  for (const contact::FrictionModel model : {contact::FrictionModel::kPyramid, contact::FrictionModel::kCone}) {
    contact::ContactProgram p = point_on_plane({0, 0, -1}, 0, 0.8, model);
    p.contacts[0].offset = {0.01, -0.02, 0};
    const contact::ContactSolution x = solve(p);
    EXPECT_NEAR(x.delta[0], -0.01, 1e-11);
    EXPECT_NEAR(x.delta[1], 0.02, 1e-11);
  }
}

TEST(ClosedForms, ComplianceIsASpringInSeries) {
  const double R = 0.1;
  contact::ContactProgram p = scalar(4.0, -8.0, 0.0, INFINITY);
  p.contacts[0].compliance = R;
  // Qδ − pull = f and δ + R f = 0.
  const contact::ContactSolution x = solve(p);
  EXPECT_NEAR(x.delta[0], -8.0 / (4.0 + 1 / R), 1e-12);
  EXPECT_NEAR(x.force[0][0], -x.delta[0] / R, 1e-11);
}

TEST(ClosedForms, BoundsLinearRowsAndEqualitiesHoldWithTheirMultipliers) {
  contact::ContactProgram p = diagonal_program({1, 1, 1}, {-3, 2, 0});
  p.lower = Eigen::Vector3d(-INFINITY, -0.5, -INFINITY);
  p.upper = Eigen::Vector3d(1, INFINITY, INFINITY);
  deft::testing::add_linear(p.linear, Eigen::RowVector3d(0, 0, 1), 0.25);
  const contact::ContactSolution x = solve(p);
  EXPECT_NEAR((x.delta - Eigen::Vector3d(1, -0.5, 0.25)).norm(), 0, 1e-11);
  EXPECT_NEAR((x.bound_multipliers - Eigen::Vector3d(-2, 1.5, 0)).norm(), 0, 1e-10);
  EXPECT_NEAR(x.linear_multipliers[0], 0.25, 1e-10);
  p.upper = Eigen::VectorXd();
  p.lower = Eigen::VectorXd();
  deft::testing::add_linear(p.equality, Eigen::RowVector3d(1, 1, 0), 2);
  const contact::ContactSolution y = solve(p);
  EXPECT_NEAR((y.delta - Eigen::Vector3d(3.5, -1.5, 0.25)).norm(), 0, 1e-10);
  EXPECT_NEAR(y.equality_multipliers[0], 0.5, 1e-9);
}

TEST(ClosedForms, EqualBoundsFixACoordinate) {
  contact::ContactProgram p = diagonal_program({1, 1}, {-3, 2});
  p.lower = Eigen::Vector2d(0.5, -INFINITY);
  p.upper = Eigen::Vector2d(0.5, INFINITY);
  const contact::ContactSolution x = solve(p);
  EXPECT_NEAR((x.delta - Eigen::Vector2d(0.5, -2)).norm(), 0, 1e-10);
  EXPECT_NEAR(x.bound_multipliers[0], -2.5, 1e-9);
}

TEST(ClosedForms, HardRowsTakeNoPartInTheSmoothing) {
  contact::ContactProgram p = diagonal_program({1, 1}, {4, -1});
  add_contact(p, Eigen::RowVector2d(0, 1), {.gap = 0, .frictionless = true});
  deft::testing::add_linear(p.linear, Eigen::RowVector2d(1, 0), -1);
  p.lower = Eigen::Vector2d(-2, -INFINITY);
  p.kappa = 10;
  p.hard = true;
  const contact::ContactSolution hard = solve(p);
  EXPECT_NEAR(hard.delta[0], -1, 1e-9);
  EXPECT_NEAR(hard.delta[1], 0.5 * (1 + std::sqrt(1.4)), 1e-9);
  p.hard = false;
  const contact::ContactSolution soft = solve(p);
  EXPECT_NEAR((soft.delta[0] + 1) * soft.linear_multipliers[0], 0.1, 1e-9);
  EXPECT_NEAR((soft.delta[0] + 2) * soft.bound_multipliers[0], 0.1, 1e-9);
}

TEST(ClosedForms, MergedDuplicatesDoNotChangeTheSmoothedAnswer) {
  for (const contact::FrictionModel model : {contact::FrictionModel::kPyramid, contact::FrictionModel::kCone}) {
    contact::ContactProgram p = point_on_plane({0.3, 0.1, -2}, 0.01, 0.5, model);
    p.kappa = 1e3;
    add_contact(p, p.J.block(0), contact::ContactLaw(p.contacts[0]));
    const contact::ContactSolution merged = solve(p);
    // A difference in the last digit of the gap keeps the solver from merging.
    p.contacts[1].gap = std::nextafter(p.contacts[1].gap, 1.0);
    const contact::ContactSolution apart = solve(p);
    EXPECT_NEAR((merged.delta - apart.delta).norm(), 0, 1e-11);
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(merged.force[0][k], apart.force[0][k], 1e-9);
      EXPECT_EQ(merged.force[0][k], merged.force[1][k]);
    }
  }
}

}  // namespace closed_forms_test
}  // namespace deft::solvers::force_space
