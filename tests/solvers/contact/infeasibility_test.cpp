// Programs that have no solution, or many: the status, its certificate, and the check of certificates.

#include <gtest/gtest.h>

#include <cmath>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "support/contact_programs.hpp"
#include "support/random_problems.hpp"

namespace deft::solvers::contact {
namespace infeasibility_test {

using deft::testing::add_contact;
using deft::testing::add_linear;
using deft::testing::diagonal_program;
using deft::testing::point_on_plane;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Answer {
  std::string status;  // as the certificate confirms it
  ContactSolution x;
  Certificate certificate;
};

Answer solve(const ContactProgram& program) {
  ContactSolver solver;
  Answer answer;
  const Status claimed = solver.solve(program, {}, answer.x).status;
  answer.certificate = certify(program, answer.x);
  answer.status = to_string(confirmed(claimed, answer.certificate));
  return answer;
}

// A body without inertia: columns are rotation and translation, M = diag(J, J, J, m, m, m)/h².
ContactProgram free_body(double weight) {
  ContactProgram p;
  p.nv = 6;
  p.b = Eigen::VectorXd::Zero(6);
  p.b[5] = weight;
  auto M = p.masses.append(0, 6);
  M.setZero();
  M.diagonal() << 0.4, 0.4, 0.4, 100, 100, 100;
  return p;
}

void add_foot(ContactProgram& p, const Eigen::Vector3d& arm, const ContactLaw& law) {
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(3, p.nv);
  const Eigen::Vector3d axes[3] = {Eigen::Vector3d::UnitZ(), Eigen::Vector3d::UnitX(), Eigen::Vector3d::UnitY()};
  for (int r = 0; r < 3; ++r) {
    rows.block(r, 0, 1, 3) = arm.cross(axes[r]).transpose();
    rows.block(r, 3, 1, 3) = axes[r].transpose();
  }
  add_contact(p, rows, law);
}

TEST(Quasistatic, ABallThatMayRollStaysWhereItIs) {
  for (const FrictionModel model : {FrictionModel::kPyramid, FrictionModel::kCone}) {
    ContactProgram p = free_body(9.81);
    p.model = model;
    add_foot(p, {0, 0, -0.1}, {.gap = 0, .mu = 0.5});
    const Answer ball = solve(p);
    EXPECT_EQ(ball.status, "NotUnique");
    EXPECT_LE(ball.x.delta.norm(), 1e-12);
    EXPECT_NEAR(ball.x.force[0][0], 9.81, 1e-9);
  }
}

TEST(Quasistatic, APlateOnFrictionalFeetIsUniqueOnFrictionlessOnesItFloats) {
  for (const double mu : {0.0, 0.5}) {
    ContactProgram p = free_body(9.81);
    for (const double x : {-1.0, 1.0}) {
      for (const double y : {-1.0, 1.0}) add_foot(p, {x, y, -0.1}, {.gap = 0.01, .mu = mu});
    }
    const Answer plate = solve(p);
    EXPECT_EQ(plate.status, mu == 0 ? "NotUnique" : "Solved") << mu;
    EXPECT_NEAR((plate.x.delta - Eigen::VectorXd::Unit(6, 5) * -0.01).norm(), 0, 1e-10) << mu;
  }
}

TEST(Quasistatic, APushedBoxMovesAlongTheShortestOfItsWays) {
  // A finger (spring, column 6) pushes the box along x; nothing holds it, so any advance beyond the finger's is as
  // good.
  ContactProgram p;
  p.nv = 3;
  p.b = Eigen::Vector3d(0, 0, -10);  // box x, box y, finger
  p.Q.append(2, 1)(0, 0) = 10;
  p.masses.append(0, 2) = 5 * Eigen::Matrix2d::Identity();
  Eigen::MatrixXd rows(2, 3);
  rows << 1, 0, -1, 0, 1, 0;
  add_contact(p, rows, {.gap = 0.25, .mu = 0.7});
  p.rays = 2;
  const Answer box = solve(p);
  EXPECT_EQ(box.status, "NotUnique");
  EXPECT_NEAR((box.x.delta - Eigen::Vector3d(0.75, 0, 1)).norm(), 0, 1e-12);
}

TEST(Quasistatic, TheShortestMotionIsThatOfVanishingInertia) {
  // min x − y + ε/2(4x² + y²) with x + y ≥ 0, y ≤ 1: the optimal edge is a point, (−1, 1); with b = (1, 1) it is the
  // segment x + y = 0, whose shortest point in M = diag(4, 1) is 0, and with gap −1 is (0.2, 0.8).
  ContactProgram p;
  p.nv = 2;
  p.b = Eigen::Vector2d(1, -1);
  p.masses.append(0, 2) = Eigen::Vector2d(4, 1).asDiagonal();
  add_contact(p, Eigen::RowVector2d(1, 1), {.frictionless = true});
  p.upper = Eigen::Vector2d(kInfinity, 1);
  const Answer corner = solve(p);
  EXPECT_EQ(corner.status, "Solved");
  EXPECT_NEAR((corner.x.delta - Eigen::Vector2d(-1, 1)).norm(), 0, 1e-12);
  p.b = Eigen::Vector2d(1, 1);
  p.contacts[0].gap = -1;
  const Answer edge = solve(p);
  EXPECT_EQ(edge.status, "NotUnique");
  EXPECT_NEAR((edge.x.delta - Eigen::Vector2d(0.2, 0.8)).norm(), 0, 1e-12);
}

TEST(Quasistatic, ASmallSetIsASetAndATinyOneAPoint) {
  // The object may lie anywhere between two walls; how far apart they are decides.
  for (const double clearance : {1e-2, 1e-7}) {
    ContactProgram p;
    p.nv = 2;
    p.b = Eigen::Vector2d(0, 1);
    p.masses.append(0, 2) = Eigen::Matrix2d::Identity();
    add_contact(p, Eigen::RowVector2d(0, 1), {.frictionless = true});
    p.lower = Eigen::Vector2d(0.5, -kInfinity);
    p.upper = Eigen::Vector2d(0.5 + clearance, kInfinity);
    const Answer answer = solve(p);
    EXPECT_EQ(answer.status, clearance > 1e-3 ? "NotUnique" : "Solved") << clearance;
    EXPECT_NEAR(answer.x.delta[0], 0.5, 1e-9) << clearance;
  }
}

TEST(Unbounded, AWeightOnASlopeSteeperThanFrictionCarriesItsDirection) {
  for (const FrictionModel model : {FrictionModel::kPyramid, FrictionModel::kCone}) {
    ContactProgram p = point_on_plane({0.6, 0, -1}, 0.01, 0.5, model);
    p.Q = {};
    const Answer slide = solve(p);
    EXPECT_EQ(slide.status, "Unbounded");
    EXPECT_LE(slide.certificate.unbounded, 1e-12);
    ASSERT_EQ(slide.x.proof.size(), 3);
    EXPECT_LT(p.b.dot(slide.x.proof), 0);
    p.b[0] = -0.4;
    EXPECT_EQ(solve(p).status, "Solved");
  }
}

TEST(Unbounded, ASmoothedBodyThatNothingHolds) {
  ContactProgram untouched = diagonal_program({1}, {0});
  untouched.nv = 2;
  untouched.b = Eigen::Vector2d(0, 0);
  untouched.kappa = 10;
  EXPECT_EQ(solve(untouched).status, "Unbounded");
  ContactProgram pushed = untouched;  // the barrier pushes it away for ever, against nothing but a force that is too
                                      // small
  add_contact(pushed, Eigen::RowVector2d(0, 1), {.gap = 0.1, .frictionless = true});
  EXPECT_EQ(solve(pushed).status, "Unbounded");
  pushed.b[1] = 2;  // gap⁺ = 1/(κ b)
  const Answer balanced = solve(pushed);
  EXPECT_EQ(balanced.status, "Solved");
  EXPECT_NEAR(balanced.x.gap[0], 0.05, 1e-12);
}

TEST(Infeasible, EveryKindOfRowHasItsFarkasRay) {
  const auto walls = [](FrictionModel model, double mu) {
    ContactProgram p = point_on_plane({0.1, 0, -1}, -1e-3, mu, model);
    add_contact(p, -Eigen::Matrix3d(p.J.block(0)), {.gap = -2e-3, .mu = mu});
    return p;
  };
  ContactProgram bounds = diagonal_program({1, 1}, {0, 1});
  bounds.lower = Eigen::Vector2d(1, -1);
  bounds.upper = Eigen::Vector2d(-1, 1);
  ContactProgram nowhere = bounds;
  nowhere.lower[0] = kInfinity;
  nowhere.upper[0] = kInfinity;
  ContactProgram rows = diagonal_program({1, 1}, {0, 1});
  add_linear(rows.linear, Eigen::RowVector2d(1, 1), 1);
  add_linear(rows.equality, Eigen::RowVector2d(2, 2), 1);
  ContactProgram still = diagonal_program({1, 1}, {0, 1});
  add_contact(still, Eigen::MatrixXd::Zero(3, 2), {.gap = 0.1, .mu = 0.5, .offset = {0.3, 0.3, 0}});
  ContactProgram still_cone = still;
  still_cone.model = FrictionModel::kCone;
  ContactProgram zero = diagonal_program({1, 1}, {0, 1});
  add_linear(zero.linear, Eigen::RowVector2d(0, 0), 1);
  ContactProgram mixed = point_on_plane({0, 0, -1}, 0, 0.5, FrictionModel::kCone);
  mixed.upper = Eigen::Vector3d(kInfinity, kInfinity, 0.01);
  add_linear(mixed.linear, Eigen::RowVector3d(1, 0, 0), 0.1);  // x ≥ 0.1 asks for z ≥ 0.05
  int k = 0;
  for (ContactProgram p : {walls(FrictionModel::kPyramid, 0.0), walls(FrictionModel::kPyramid, 0.5),
                           walls(FrictionModel::kCone, 0.5), bounds, nowhere, rows, still, still_cone, zero, mixed}) {
    for (const double kappa : {kInfinity, 1e3}) {
      p.kappa = kappa;
      const Answer answer = solve(p);
      EXPECT_EQ(answer.status, "Infeasible") << k << " " << kappa;
      EXPECT_LE(answer.certificate.infeasible, 1e-10) << k << " " << kappa;
      EXPECT_TRUE(answer.x.delta.allFinite());
    }
    ++k;
  }
}

TEST(Infeasible, ASmoothedProgramWithoutInteriorIsOneThatIsExactlySolvable) {
  ContactProgram p = point_on_plane({0.1, 0, -1}, 0, 0.5, FrictionModel::kPyramid);
  add_contact(p, -Eigen::Matrix3d(p.J.block(0)), {.gap = 0, .mu = 0.5});
  EXPECT_EQ(solve(p).status, "Solved");
  p.kappa = 100;
  const Answer answer = solve(p);
  EXPECT_EQ(answer.status, "Infeasible");
  EXPECT_LE(answer.certificate.infeasible, 1e-10);
  p.contacts[1].gap = 1e-3;
  EXPECT_EQ(solve(p).status, "Solved");
}

TEST(Infeasible, WhatGivesWayContradictsNothing) {
  // A violated contact that nothing moves carries φ + R f = 0, in every ray, and the projection on the cone over R.
  for (const FrictionModel model : {FrictionModel::kPyramid, FrictionModel::kCone}) {
    ContactProgram p = diagonal_program({1, 1}, {0, 1});
    p.model = model;
    add_contact(p, Eigen::MatrixXd::Zero(3, 2), {.gap = -0.1, .mu = 0.5, .compliance = 0.2});
    for (const double kappa : {kInfinity, 1e2}) {
      p.kappa = kappa;
      const Answer answer = solve(p);
      EXPECT_EQ(answer.status, "Solved") << kappa;
      EXPECT_NEAR(answer.x.delta[1], -1, 1e-12);
      EXPECT_LE(answer.certificate.max_scaled(), 1e-12) << kappa;
      const double force = (model == FrictionModel::kPyramid ? 4 : 1) * 0.5;
      EXPECT_NEAR(answer.x.force[0][0], force, std::isinf(kappa) ? 1e-12 : 1) << kappa;
    }
  }
  ContactProgram walls = point_on_plane({0, 0, -1}, -0.1, 0.5, FrictionModel::kCone);
  add_contact(walls, -Eigen::Matrix3d(walls.J.block(0)), {.gap = -0.1, .mu = 0.5, .compliance = 0.01});
  EXPECT_EQ(solve(walls).status, "Solved");
}

TEST(Infeasible, ARowOfZerosCarriesItsBarrier) {
  ContactProgram p = diagonal_program({1, 1}, {0, 1});
  p.kappa = 10;
  add_linear(p.linear, Eigen::RowVector2d(0, 0), -0.5);
  const Answer answer = solve(p);
  EXPECT_EQ(answer.status, "Solved");
  EXPECT_NEAR(answer.x.linear_multipliers[0], 1 / (10 * 0.5), 1e-15);
  EXPECT_LE(answer.certificate.max_scaled(), 1e-12);
}

TEST(Confirmed, AClaimIsWorthItsProof) {
  ContactProgram p = point_on_plane({0.1, 0, -1}, -1e-3, 0.5, FrictionModel::kPyramid);
  add_contact(p, -Eigen::Matrix3d(p.J.block(0)), {.gap = -2e-3, .mu = 0.5});
  const ContactSolution good = solve(p).x;
  const auto status = [&](const ContactSolution& x) {
    return to_string(confirmed(Status::kInfeasible, certify(p, x)));
  };
  EXPECT_EQ(status(good), "Infeasible");
  ContactSolution none = good, negative = good, unbalanced = good;
  none.proof.resize(0);
  negative.proof = -good.proof;
  unbalanced.proof[0] += 1e-4;
  for (const ContactSolution& bad : {none, negative, unbalanced}) EXPECT_EQ(status(bad), "NumericalFailure");
  p.contacts[0].compliance = 1e-3;  // compliant: no contradiction
  EXPECT_EQ(status(good), "NumericalFailure");

  ContactProgram falling = diagonal_program({1}, {0});
  falling.nv = 2;
  falling.b = Eigen::Vector2d(0, 1);
  ContactSolution x = solve(falling).x;
  EXPECT_EQ(to_string(confirmed(Status::kUnbounded, certify(falling, x))), "Unbounded");
  for (const Eigen::Vector2d& bad :
       {Eigen::Vector2d(0, 1), Eigen::Vector2d(1e-6, -1), Eigen::Vector2d(0, 0), Eigen::Vector2d(0, NAN)}) {
    x.proof = bad;
    EXPECT_EQ(to_string(confirmed(Status::kUnbounded, certify(falling, x))), "NumericalFailure");
  }
  falling.lower = Eigen::Vector2d(-kInfinity, -5);  // it lands
  x = solve(falling).x;
  x.proof = Eigen::Vector2d(0, -1);
  EXPECT_EQ(to_string(confirmed(Status::kUnbounded, certify(falling, x))), "NumericalFailure");
}

TEST(Statuses, RandomQuasistaticProblemsAreSolvedOrUnboundedWithAProof) {
  ContactSolver solver;
  ContactSolution x;
  int counts[kNumStatuses] = {};
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    ContactProgram p = deft::testing::RandomProblems(seed).next_quasistatic();
    for (const double kappa : {kInfinity, 1e3}) {
      p.kappa = kappa;
      const Status claimed = solver.solve(p, {.warm_start = false}, x).status;
      const Status status = confirmed(claimed, certify(p, x));
      ++counts[static_cast<int>(status)];
      EXPECT_TRUE(usable(status) || status == Status::kUnbounded) << seed << " " << to_string(claimed);
    }
  }
  for (const Status seen : {Status::kSolved, Status::kNotUnique, Status::kUnbounded})
    EXPECT_GT(counts[static_cast<int>(seen)], 20) << to_string(seen);
}

TEST(Statuses, RandomJammedProblemsAreInfeasibleWithAProof) {
  ContactSolver solver;
  ContactSolution x;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    ContactProgram p = deft::testing::RandomProblems(seed).next_jammed();
    for (const double kappa : {kInfinity, 1e3}) {
      p.kappa = kappa;
      const Status claimed = solver.solve(p, {.warm_start = false}, x).status;
      EXPECT_EQ(to_string(confirmed(claimed, certify(p, x))), "Infeasible") << seed << " " << kappa;
    }
  }
}

TEST(Statuses, BarriersThatRoundingHidesAreSolvedAllTheSame) {
  ContactSolver solver;
  ContactSolution x;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    ContactProgram p = deft::testing::RandomProblems(seed).next({.max_bodies = 3, .max_contacts = 15});
    for (const double kappa : {1e13, 1e15, 1e18}) {
      p.kappa = kappa;
      const Status claimed = solver.solve(p, {.warm_start = false}, x).status;
      EXPECT_EQ(to_string(confirmed(claimed, certify(p, x))), "Solved") << seed << " " << kappa;
    }
  }
}

}  // namespace infeasibility_test
}  // namespace deft::solvers::contact
