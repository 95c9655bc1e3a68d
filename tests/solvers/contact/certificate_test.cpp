#include "deft/solvers/contact/certificate/certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/contact_programs.hpp"

namespace deft::solvers::contact {
namespace certificate_test {

using deft::testing::add_contact;
using deft::testing::add_linear;
using deft::testing::diagonal_program;
using deft::testing::point_on_plane;

// A mass of weight 2 (Q = 4) on a floor: δ = 0, f = 2.
ContactProgram resting() {
  ContactProgram p = diagonal_program({4}, {2});
  add_contact(p, Eigen::MatrixXd::Ones(1, 1), {.gap = 0, .frictionless = true});
  return p;
}
ContactSolution rest() {
  ContactSolution x;
  x.delta = Eigen::VectorXd::Zero(1);
  x.force = {{2, 0, 0, 0}};
  x.ray_multipliers = {2};
  return x;
}

TEST(Certificate, IsZeroAtTheSolution) {
  const Certificate c = certify(resting(), rest());
  EXPECT_EQ(c.max_scaled(), 0.0);
  EXPECT_DOUBLE_EQ(c.E0_J, 1.0);  // bᵀQ⁻¹b
}

TEST(Certificate, MeasuresEachErrorInItsOwnScale) {
  // w = √(1/4), √E0 = 1.
  ContactSolution x = rest();
  x.force[0][0] = x.ray_multipliers[0] = 1.5;
  EXPECT_DOUBLE_EQ(certify(resting(), x).stationarity, 0.5 / 2);
  EXPECT_DOUBLE_EQ(certify(resting(), x).stationarity_N, 0.5);
  x = rest();
  x.delta[0] = -0.1;
  Certificate c = certify(resting(), x);
  EXPECT_DOUBLE_EQ(c.primal, 0.1 / 0.5);
  EXPECT_DOUBLE_EQ(c.primal_m, 0.1);
  EXPECT_DOUBLE_EQ(c.complementarity, 0.2);
  EXPECT_DOUBLE_EQ(c.complementarity_J, 0.2);
  EXPECT_DOUBLE_EQ(c.stationarity, 0.4 / 2);
  x = rest();
  x.force[0][0] = x.ray_multipliers[0] = -1;
  EXPECT_DOUBLE_EQ(certify(resting(), x).primal, 1 * 0.5);
}

TEST(Certificate, TheEnergyOfAnInitialViolationCounts) {
  ContactProgram p = resting();
  p.contacts[0].gap = -3;
  ContactSolution x = rest();
  x.delta[0] = 3;
  x.force[0][0] = x.ray_multipliers[0] = 14;
  const Certificate c = certify(p, x);
  EXPECT_DOUBLE_EQ(c.E0_J, 9 / 0.25);
  EXPECT_EQ(c.max_scaled(), 0.0);
}

TEST(Certificate, ForcesMustBeThoseOfTheRays) {
  ContactProgram p = point_on_plane({0, 0, -1}, 0, 0.5, FrictionModel::kPyramid);
  ContactSolution x;
  x.delta = Eigen::Vector3d::Zero();
  x.force = {{1, 0, 0, 0}};
  x.ray_multipliers = {0.25, 0.25, 0.25, 0.25};
  EXPECT_LT(certify(p, x).max_scaled(), 1e-15);
  x.ray_multipliers = {0.5, 0.25, 0.25, 0};
  EXPECT_GT(certify(p, x).primal, 0.1);
  x.ray_multipliers = {1};
  EXPECT_EQ(certify(p, x).primal, INFINITY);
}

TEST(Certificate, AForceOutsideTheConeIsSeen) {
  ContactProgram p = point_on_plane({0.8, 0, -1}, 0, 0.5, FrictionModel::kCone);
  ContactSolution x;
  x.delta = Eigen::Vector3d::Zero();
  x.force = {{1, -0.8, 0, 0}};
  const Certificate c = certify(p, x);
  EXPECT_EQ(c.stationarity, 0.0);
  EXPECT_NEAR(c.primal, (0.8 / 0.5 - 1) / std::sqrt(c.E0_J), 1e-15);
}

TEST(Certificate, FrictionOfAFrictionlessContactIsSeen) {
  for (const FrictionModel model : {FrictionModel::kPyramid, FrictionModel::kCone}) {
    ContactProgram p = point_on_plane({0.8, 0, -1}, 0, 0.5, model);
    p.contacts[0].frictionless = true;
    ContactSolution x;
    x.delta = Eigen::Vector3d::Zero();
    x.force = {{1, -0.8, 0, 0}};
    if (model == FrictionModel::kPyramid) x.ray_multipliers = {1};
    const Certificate c = certify(p, x);
    EXPECT_EQ(c.stationarity, 0.0);  // the forces balance the pull
    EXPECT_EQ(c.complementarity, 0.0);
    EXPECT_NEAR(c.primal, 0.8 / std::sqrt(c.E0_J), 1e-15);
    EXPECT_EQ(confirmed(Status::kSolved, c), Status::kNumericalFailure);
  }
}

TEST(Certificate, TheSmoothedTargetIsCheckedPerModel) {
  ContactProgram p = resting();
  p.kappa = 8;  // s f = 1/8, 4 s + 2 = f ⇒ 4 s² + 2 s = 1/8
  const double s = (-2 + std::sqrt(4 + 2.0)) / 8;
  ContactSolution x = rest();
  x.delta[0] = s;
  x.force[0][0] = x.ray_multipliers[0] = 1 / (8 * s);
  EXPECT_LT(certify(p, x).max_scaled(), 1e-15);
  p.kappa = 16;
  EXPECT_NEAR(certify(p, x).complementarity, 1.0 / 16, 1e-12);
}

TEST(Certificate, BoundsLinearAndEqualityRowsAreCovered) {
  ContactProgram p = diagonal_program({1, 1, 1}, {-3, 2, 0});
  p.lower = Eigen::Vector3d(-INFINITY, -0.5, -INFINITY);
  p.upper = Eigen::Vector3d(1, INFINITY, INFINITY);
  add_linear(p.linear, Eigen::RowVector3d(0, 0, 1), 0.25);
  ContactSolution x;
  x.delta = Eigen::Vector3d(1, -0.5, 0.25);
  x.bound_multipliers = Eigen::Vector3d(-2, 1.5, 0);
  x.linear_multipliers = Eigen::VectorXd::Constant(1, 0.25);
  EXPECT_LT(certify(p, x).max_scaled(), 1e-15);
  for (int spoiled = 0; spoiled < 4; ++spoiled) {
    ContactSolution y = x;
    if (spoiled == 0) y.delta[0] = 1.1;
    if (spoiled == 1) y.bound_multipliers[0] = 2;
    if (spoiled == 2) y.linear_multipliers[0] = -0.25;
    if (spoiled == 3) y.bound_multipliers[2] = 0.1;  // no bound there to push
    EXPECT_GT(certify(p, y).max_scaled(), 0.01) << spoiled;
  }
  EXPECT_EQ(certify(p, ContactSolution{}).max_scaled(), INFINITY);
}

TEST(Certificate, SingularBlocksUseMassesOrTheMeanStiffness) {
  ContactProgram p = diagonal_program({6}, {0});
  p.nv = 2;
  p.b = Eigen::Vector2d(0, 1);
  ContactSolution x;
  x.delta = Eigen::Vector2d::Zero();
  EXPECT_DOUBLE_EQ(certify(p, x).E0_J, 1.0 / 3);  // tr Q / nv
  p.masses.append(1, 1)(0, 0) = 0.5;
  EXPECT_DOUBLE_EQ(certify(p, x).E0_J, 2.0);
}

TEST(Certificate, NeverReturnsNaN) {
  for (int spoiled = 0; spoiled < 3; ++spoiled) {
    ContactSolution x = rest();
    if (spoiled == 0) x.delta[0] = NAN;
    if (spoiled == 1) x.force[0][0] = INFINITY;
    if (spoiled == 2) x.ray_multipliers[0] = NAN;
    const Certificate c = certify(resting(), x);
    EXPECT_EQ(c.max_scaled(), INFINITY);
    for (double value :
         {c.stationarity, c.primal, c.complementarity, c.stationarity_N, c.primal_m, c.complementarity_J, c.E0_J})
      EXPECT_FALSE(std::isnan(value));
  }
}

TEST(Certificate, ScalesOfRowsAreTheirNormsInTheMetric) {
  ContactProgram p = testing::diagonal_program({4, 1}, {6, 1});
  testing::add_contact(p, Eigen::RowVector2d(2, 0), {.gap = -5, .frictionless = true});
  testing::add_linear(p.linear, Eigen::RowVector2d(0, 3), -1);
  testing::add_linear(p.equality, Eigen::RowVector2d(1, 1), 0);
  p.lower = Eigen::Vector2d(-1, 2);
  const RowScales w = row_scales(p);
  EXPECT_DOUBLE_EQ(w.contacts[0], 1);
  EXPECT_DOUBLE_EQ(w.linear[0], 3);
  EXPECT_DOUBLE_EQ(w.equality[0], std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(w.bounds[0], 0.5);
  EXPECT_DOUBLE_EQ(w.bounds[1], 1);
  EXPECT_DOUBLE_EQ(w.E0_J, 25) << "penetration outweighs b: 6²/4 + 1 = 10";
  ContactSolution zero;
  zero.delta = Eigen::Vector2d::Zero();
  zero.force.resize(1);
  zero.linear_multipliers = zero.equality_multipliers = Eigen::VectorXd::Zero(1);
  zero.bound_multipliers = Eigen::Vector2d::Zero();
  zero.ray_multipliers = {0};
  EXPECT_DOUBLE_EQ(certify(p, zero).E0_J, w.E0_J) << "the certificate's own";
}

}  // namespace certificate_test
}  // namespace deft::solvers::contact
