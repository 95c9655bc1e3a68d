// The sensitivity of programs whose gaps follow their own solution, against differences of a fixed point that is found
// without derivatives, and its transpose.

#include "deft/solvers/contact/derivative/gap_feedback.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "support/contact_programs.hpp"
#include "support/differences.hpp"
#include "support/random_problems.hpp"

namespace deft::solvers::contact {
namespace gap_feedback_test {

using Eigen::MatrixXd;
using Eigen::Vector4d;
using Eigen::VectorXd;

constexpr double kShare = 0.3;  // of x_i: small enough that x ← x(δ) converges

/// A combination g of the rows of contact i; x_i = kShare sin(gᵀs).
Vector4d combination(int i) { return {0, std::cos(3.0 * i), std::sin(5.0 * i), 0.3}; }

VectorXd rows_of(const ContactProgram& program, int i, const VectorXd& delta) {
  const auto block = program.J.block(i);
  const auto cols = program.J.cols(i);
  VectorXd s = VectorXd::Zero(block.rows());
  for (std::size_t c = 0; c < cols.size(); ++c) s += block.col(static_cast<Eigen::Index>(c)) * delta(cols[c]);
  return s;
}

double argument(const ContactProgram& program, int i, const VectorXd& delta) {
  const VectorXd s = rows_of(program, i, delta);
  return combination(i).head(s.size()).dot(s);
}

/// The solution of the program whose gaps are raised by its own motion: x ← x(δ) until it stands still.
bool solve_fixed_point(ContactProgram& program, ContactSolution& solution) {
  const ContactProgram plain = program;
  VectorXd x = VectorXd::Zero(plain.J.size());
  ContactSolver solver;
  for (int k = 0; k < 200; ++k) {
    for (int i = 0; i < plain.J.size(); ++i) program.contacts[i].gap = plain.contacts[i].gap + x(i);
    if (solver.solve(program, {.tolerance = 1e-13, .screening = false}, solution).status != Status::kSolved)
      return false;
    VectorXd next(x.size());
    for (int i = 0; i < plain.J.size(); ++i) next(i) = kShare * std::sin(argument(plain, i, solution.delta));
    const double change = (next - x).lpNorm<Eigen::Infinity>();
    x = next;
    if (change < 1e-14) return true;
  }
  return false;
}

TEST(GapFeedback, OfRandomProgramsFollowsDifferencesOfTheFixedPoint) {
  testing::RandomProblems problems(5);
  int checked = 0;
  for (int trial = 0; trial < 120 && checked < 30; ++trial) {
    const ContactProgram plain = problems.next({.max_bodies = 2, .max_contacts = 6});
    ContactProgram program = plain;
    if (trial % 2 == 0) program.kappa = 1e4;
    ContactSolution solution;
    if (!solve_fixed_point(program, solution)) continue;

    std::vector<Vector4d> rates;
    for (int i = 0; i < program.J.size(); ++i)
      rates.push_back(kShare * std::cos(argument(program, i, solution.delta)) * combination(i));
    Sensitivity sensitivity;
    sensitivity.factor(program, solution, certify(program, solution).E0_J);
    GapFeedback feedback;
    if (!feedback.factor(program, solution, rates, sensitivity)) continue;
    ProgramChange change{.gradient = program.b.cwiseProduct(VectorXd::Random(program.nv)),
                         .rows = VectorXd::Zero(sensitivity.num_rows()),
                         .lower = {},
                         .upper = {}};
    for (int i = 0; i < program.J.size(); ++i)
      change.rows(sensitivity.first_row(i), 0) = plain.contacts[i].gap * std::sin(3.0 * i + trial);
    ProgramChange fed = change;
    feedback.feed(program, sensitivity, fed);
    SolutionChange computed;
    sensitivity.solve(program, fed, computed);
    if (sensitivity.is_nonsmooth()) continue;

    double best = 1;
    for (const double eta : {1e-3, 1e-4, 1e-5, 1e-6}) {
      bool is_solved = true;
      const VectorXd expected = test::difference(
          [&](double step) {
            ContactProgram moved = plain;
            moved.kappa = program.kappa;
            moved.b += step * change.gradient.col(0);
            for (int i = 0; i < moved.J.size(); ++i)
              moved.contacts[i].gap += step * change.rows(sensitivity.first_row(i), 0);
            ContactSolution other;
            is_solved &= solve_fixed_point(moved, other);
            return other.delta;
          },
          eta);
      if (is_solved) best = std::min(best, test::relative_error(computed.delta, expected));
    }
    EXPECT_LT(best, 1e-6) << "trial " << trial << " contacts " << program.J.size();
    ++checked;

    // ⟨w, S c⟩ = ⟨Sᵀw, c⟩
    const MatrixXd w = VectorXd::Random(program.nv), w_force = VectorXd::Random(sensitivity.num_rows());
    ProgramChange back;
    feedback.solve_transposed(program, w, w_force, sensitivity, back);
    const double forward = (w.transpose() * computed.delta)(0) + (w_force.transpose() * computed.force)(0);
    const double backward = (back.gradient.transpose() * change.gradient)(0) + (back.rows.transpose() * change.rows)(0);
    const double size = w.norm() * computed.delta.norm() + w_force.norm() * computed.force.norm();
    EXPECT_NEAR(forward, backward, 1e-8 * size) << trial;
  }
  EXPECT_GE(checked, 25);
}

TEST(GapFeedback, OfASingleContactIsTheGeometricSeries) {
  // δ₁ is held at the gap: δ₁ = −(φ + x), x = g₂ δ₂, and δ₂ follows its own force: the gap moves with dφ + g₂ dδ₂.
  ContactProgram program = testing::diagonal_program({2, 4}, {3, -1});
  MatrixXd rows(3, 2);
  rows << 1, 0.5, 0, 1, 0, 0;
  testing::add_contact(program, rows, {.gap = 0.1, .mu = 0});
  program.model = FrictionModel::kCone;
  ContactSolution solution;
  ContactSolver solver;
  ASSERT_EQ(solver.solve(program, {}, solution).status, Status::kSolved);
  Sensitivity sensitivity;
  sensitivity.factor(program, solution, certify(program, solution).E0_J);
  ProgramChange gap{.gradient = MatrixXd::Zero(2, 1), .rows = MatrixXd::Zero(3, 1), .lower = {}, .upper = {}};
  gap.rows(0, 0) = 1;
  SolutionChange alone, fed;
  sensitivity.solve(program, gap, alone);
  const double g = 0.8, loop = g * alone.delta(1, 0);
  GapFeedback feedback;
  const std::vector<Vector4d> rates{Vector4d(0, g, 0, 0)};
  ASSERT_TRUE(feedback.factor(program, solution, rates, sensitivity));
  feedback.feed(program, sensitivity, gap);
  EXPECT_NEAR(gap.rows(0, 0), 1 / (1 - loop), 1e-12);
  sensitivity.solve(program, gap, fed);
  EXPECT_NEAR(fed.delta(0, 0), alone.delta(0, 0) / (1 - loop), 1e-12);
  EXPECT_THROW(feedback.factor(program, solution, {}, sensitivity), std::invalid_argument);
}

}  // namespace gap_feedback_test
}  // namespace deft::solvers::contact
