// The sensitivity of random programs against differences of the solver, and its transpose.

#include "deft/solvers/contact/derivative/sensitivity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "support/contact_programs.hpp"
#include "support/differences.hpp"
#include "support/random_problems.hpp"

namespace deft::solvers::contact {
namespace sensitivity_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// δ and the forces, stacked, along the raw rows.
VectorXd solve(const ContactProgram& program, ContactSolution& solution, Status& status) {
  ContactSolver solver;
  status = solver.solve(program, {.tolerance = 1e-13, .screening = false}, solution).status;
  std::vector<double> all(solution.delta.begin(), solution.delta.end());
  for (std::size_t i = 0; i < solution.force.size(); ++i)
    all.insert(all.end(), solution.force[i].begin(), solution.force[i].begin() + program.J.rows(static_cast<int>(i)));
  return Eigen::Map<VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
}

TEST(Sensitivity, OfRandomProgramsFollowsDifferences) {
  testing::RandomProblems problems(21);
  int checked = 0, nonsmooth_points = 0;
  for (int trial = 0; trial < 60; ++trial) {
    ContactProgram program = problems.next({.max_bodies = 2, .max_contacts = 12});
    if (trial % 2 == 0) program.kappa = trial % 4 == 0 ? 1e3 : 1e6;
    ContactSolution solution;
    Status status;
    solve(program, solution, status);
    if (status != Status::kSolved) continue;
    Sensitivity sensitivity;
    const double energy = certify(program, solution).E0_J;
    sensitivity.factor(program, solution, energy);

    // One random direction: a share of every force and of every gap.
    ProgramChange change{.gradient = program.b.cwiseProduct(VectorXd::Random(program.nv)),
                         .rows = VectorXd::Zero(sensitivity.num_rows()),
                         .lower = {},
                         .upper = {}};
    for (int i = 0; i < program.J.size(); ++i)
      change.rows(sensitivity.first_row(i), 0) = program.contacts[i].gap * std::sin(3.0 * i + trial);
    SolutionChange computed;
    sensitivity.solve(program, change, computed);
    if (sensitivity.is_nonsmooth()) {
      ++nonsmooth_points;
      continue;
    }
    double best = 1;
    for (const double eta : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
      bool is_solved = true;
      const VectorXd expected = test::difference(
          [&](double step) {
            ContactProgram moved = program;
            moved.b += step * change.gradient.col(0);
            for (int i = 0; i < program.J.size(); ++i)
              moved.contacts[i].gap += step * change.rows(sensitivity.first_row(i), 0);
            ContactSolution other;
            Status result;
            const VectorXd all = solve(moved, other, result);
            is_solved &= result == Status::kSolved;
            return all;
          },
          eta);
      if (!is_solved) continue;
      best = std::min(best, test::relative_error(computed.delta, expected.head(program.nv)));
    }
    EXPECT_LT(best, 1e-6) << "trial " << trial << " kappa " << program.kappa << " nv " << program.nv << " contacts "
                          << program.contacts.size();
    ++checked;

    // ⟨w, S c⟩ = ⟨Sᵀw, c⟩
    const MatrixXd w = VectorXd::Random(program.nv), w_force = VectorXd::Random(sensitivity.num_rows());
    ProgramChange back;
    sensitivity.solve_transposed(program, w, w_force, back);
    const double forward = (w.transpose() * computed.delta)(0) + (w_force.transpose() * computed.force)(0);
    const double backward = (back.gradient.transpose() * change.gradient)(0) + (back.rows.transpose() * change.rows)(0);
    const double size = w.norm() * computed.delta.norm() + w_force.norm() * computed.force.norm();
    EXPECT_NEAR(forward, backward, 1e-9 * size) << trial;
  }
  EXPECT_GE(checked, 35);
  EXPECT_LE(nonsmooth_points, 10);
}

TEST(Sensitivity, OfASingleRowHasItsBarrierWeight) {
  // qδ + b = f with the barrier f (δ + φ) = w/κ: df = −c (dδ + dφ) and q dδ = df with c = κf²/w.
  constexpr double kQ = 2, kB = 3, kGap = 0.1, kKappa = 10;
  struct Case {
    FrictionModel model;
    bool frictionless;
    double weight;
  };
  for (const Case& given : {Case{FrictionModel::kPyramid, true, 1}, Case{FrictionModel::kPyramid, false, 6},
                            Case{FrictionModel::kCone, true, 1}, Case{FrictionModel::kCone, false, 2}}) {
    ContactProgram program = testing::diagonal_program({kQ}, {kB});
    testing::add_contact(program, MatrixXd::Ones(1, 1), {.gap = kGap, .mu = 0.5, .frictionless = given.frictionless});
    program.model = given.model;
    program.rays = 6;
    program.kappa = kKappa;
    ContactSolution solution;
    Status status;
    solve(program, solution, status);
    ASSERT_EQ(status, Status::kSolved) << given.weight;
    const double force = kQ * solution.delta(0) + kB;
    ASSERT_NEAR(force * (solution.delta(0) + kGap), given.weight / kKappa, 1e-12);
    Sensitivity sensitivity;
    sensitivity.factor(program, solution, certify(program, solution).E0_J);
    const ProgramChange change{
        .gradient = MatrixXd::Zero(1, 1), .rows = MatrixXd::Ones(1, 1), .lower = {}, .upper = {}};
    SolutionChange computed;
    sensitivity.solve(program, change, computed);
    const double c = kKappa * force * force / given.weight;
    EXPECT_NEAR(computed.delta(0, 0), -c / (kQ + c), 1e-10) << given.weight;
    EXPECT_NEAR(computed.force(0, 0), -kQ * c / (kQ + c), 1e-10) << given.weight;
  }
}

TEST(Sensitivity, PassesOverRowsThatMoveNothing) {
  // Equalities 0 = 0, without columns or with zeros in one, and with κ a linear row 0 ≥ −1, say nothing about δ = −b/q.
  for (const double kappa : {1e3, std::numeric_limits<double>::infinity()}) {
    ContactProgram program = testing::diagonal_program({2, 4}, {3, 5});
    program.kappa = kappa;
    program.equality.rows.append(1, {});
    program.equality.rows.append(1, std::vector<int>{1});
    program.equality.rhs.assign(2, 0.0);
    program.linear.rows.append(1, {});
    program.linear.rhs.push_back(-1);
    ContactSolution solution;
    solution.delta = Eigen::Vector2d(-1.5, -1.25);
    solution.equality_multipliers = VectorXd::Zero(2);
    solution.linear_multipliers = VectorXd::Constant(1, 1 / kappa);
    Sensitivity sensitivity;
    sensitivity.factor(program, solution, 1.0);
    const ProgramChange change{
        .gradient = MatrixXd::Identity(2, 2), .rows = MatrixXd::Zero(0, 2), .lower = {}, .upper = {}};
    SolutionChange computed;
    sensitivity.solve(program, change, computed);
    EXPECT_FALSE(sensitivity.is_nonsmooth());
    EXPECT_TRUE(sensitivity.is_unique());
    const Eigen::Matrix2d expected = Eigen::Vector2d(-0.5, -0.25).asDiagonal();
    EXPECT_LT((computed.delta - expected).norm(), 1e-15);
  }
}

TEST(Sensitivity, IsNonsmoothWhereAContactIsAboutToActUnlessOthersImplyIt) {
  // Two velocities; the first is pressed onto a contact. A second contact of zero slack and no force: on the other
  // velocity it may act or not, on the first it moves with the one that is pressed.
  for (const bool is_implied : {false, true}) {
    ContactProgram program = testing::diagonal_program({2, 4}, {3, 0});
    testing::add_contact(program, Eigen::RowVector2d(1, 0), {.gap = 0, .frictionless = true});
    testing::add_contact(program, Eigen::RowVector2d(is_implied, !is_implied), {.gap = 0, .frictionless = true});
    ContactSolution solution;
    solution.delta = Eigen::Vector2d::Zero();
    solution.force = {{3, 0, 0, 0}, {0, 0, 0, 0}};
    solution.ray_multipliers = {3, 0};
    Sensitivity sensitivity;
    sensitivity.factor(program, solution, certify(program, solution).E0_J);
    EXPECT_EQ(sensitivity.is_nonsmooth(), !is_implied);
  }
}

TEST(Sensitivity, OfALinearRowCouplesItsVelocities) {
  // aᵀδ ≥ r with the barrier λ (aᵀδ − r) = 1/κ: (Q + κλ² a aᵀ) dδ = −db.
  constexpr double kKappa = 20;
  ContactProgram program = testing::diagonal_program({2, 4, 3}, {3, 5, -1});
  program.kappa = kKappa;
  const Eigen::RowVector3d a(1, -2, 0.5);
  program.linear.rows.append(1, std::vector<int>{0, 1, 2}) = a;
  program.linear.rhs.push_back(-0.2);
  ContactSolution solution;
  Status status;
  solve(program, solution, status);
  ASSERT_EQ(status, Status::kSolved);
  const double lambda = solution.linear_multipliers(0);
  EXPECT_NEAR(lambda * (a.dot(solution.delta) + 0.2), 1 / kKappa, 1e-12);
  Sensitivity sensitivity;
  sensitivity.factor(program, solution, certify(program, solution).E0_J);
  const ProgramChange change{
      .gradient = MatrixXd::Identity(3, 3), .rows = MatrixXd::Zero(0, 3), .lower = {}, .upper = {}};
  SolutionChange computed;
  sensitivity.solve(program, change, computed);
  const Eigen::Matrix3d H =
      Eigen::Matrix3d(Eigen::Vector3d(2, 4, 3).asDiagonal()) + kKappa * lambda * lambda * a.transpose() * a;
  EXPECT_LT((computed.delta + H.inverse()).norm(), 1e-11);
}

TEST(Sensitivity, OfAVelocityThatOnlyAContactHolds) {
  // The first velocity costs nothing and is pressed onto its contact: δ₀ = −φ, f = b₀; the second is free, δ₁ = −b₁/q.
  ContactProgram program = testing::diagonal_program({0, 4}, {3, 5});
  testing::add_contact(program, Eigen::RowVector2d(1, 0), {.gap = 0.1, .frictionless = true});
  ContactSolution solution;
  solution.delta = Eigen::Vector2d(-0.1, -1.25);
  solution.force = {{3, 0, 0, 0}};
  solution.ray_multipliers = {3};
  Sensitivity sensitivity;
  sensitivity.factor(program, solution, certify(program, solution).E0_J);
  const ProgramChange change{.gradient = (Eigen::Matrix2d() << 0, 1, 1, 0).finished(),
                             .rows = Eigen::RowVector2d(1, 0),
                             .lower = {},
                             .upper = {}};
  SolutionChange computed;
  sensitivity.solve(program, change, computed);
  EXPECT_TRUE(sensitivity.is_unique());
  EXPECT_FALSE(sensitivity.is_nonsmooth());
  const Eigen::Matrix2d expected = (Eigen::Matrix2d() << -1, 0, -0.25, 0).finished();
  EXPECT_LT((computed.delta - expected).norm(), 1e-14);
  EXPECT_NEAR(computed.force(0, 0), 0, 1e-14);
  EXPECT_NEAR(computed.force(0, 1), 1, 1e-14);
}

TEST(Sensitivity, OfAStickingConeThatMovesInOneDirectionOnly) {
  // The tangents move nothing: φ + δ = 0 and f = qδ + b, thus dδ = −dφ and df = −q dφ. With dt ≠ 0 it would have to
  // slide.
  ContactProgram program = testing::diagonal_program({2}, {3});
  testing::add_contact(program, Eigen::Vector3d(1, 0, 0), {.gap = 0.1, .mu = 0.5});
  program.model = FrictionModel::kCone;
  ContactSolution solution;
  solution.delta = VectorXd::Constant(1, -0.1);
  solution.force = {{2.8, 0, 0, 0}};
  Sensitivity sensitivity;
  sensitivity.factor(program, solution, certify(program, solution).E0_J);
  SolutionChange computed;
  for (const bool is_dragged : {false, true}) {
    const ProgramChange change{
        .gradient = MatrixXd::Zero(1, 1), .rows = Eigen::Vector3d(1, is_dragged, 0), .lower = {}, .upper = {}};
    sensitivity.solve(program, change, computed);
    EXPECT_NEAR(computed.delta(0, 0), -1, 1e-14);
    EXPECT_NEAR(computed.force(0, 0), -2, 1e-14);
    EXPECT_EQ(sensitivity.is_nonsmooth(), is_dragged);
  }
}

TEST(Sensitivity, RefusesASolutionOfAnotherProgram) {
  testing::RandomProblems problems(5);
  const ContactProgram program = problems.next({.max_bodies = 2, .max_contacts = 5});
  Sensitivity sensitivity;
  EXPECT_THROW(sensitivity.factor(program, ContactSolution{}, 1.0), std::invalid_argument);
}

}  // namespace sensitivity_test
}  // namespace deft::solvers::contact
