// Which optimal motions are the only ones, and the forces of compliant frictionless contacts.

#include <gtest/gtest.h>

#include <cmath>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "support/contact_programs.hpp"

namespace deft::solvers::contact {
namespace optimal_face_test {

struct Answer {
  Status status;
  ContactSolution solution;
  double residual;
};

Answer solve(const ContactProgram& program) {
  ContactSolver solver;
  Answer answer;
  answer.status = solver.solve(program, {}, answer.solution).status;
  answer.residual = certify(program, answer.solution).max_scaled();
  return answer;
}

TEST(Uniqueness, ACurvedConeHasOneFarthestPoint) {
  // min x over the disk ½‖δ‖ ≤ 1: the boundary is curved, (−2, 0) is alone.
  ContactProgram disk = testing::diagonal_program({0, 0}, {1, 0});
  disk.model = FrictionModel::kCone;
  Eigen::MatrixXd rows(3, 2);
  rows << 0, 0, 1, 0, 0, 1;
  testing::add_contact(disk, rows, {.gap = 1, .mu = 0.5});
  const Answer answer = solve(disk);
  EXPECT_EQ(answer.status, Status::kSolved);
  EXPECT_TRUE(answer.solution.motion_unique);
  EXPECT_NEAR(answer.solution.delta[0], -2, 1e-8);
  EXPECT_NEAR(answer.solution.delta[1], 0, 1e-6);
  EXPECT_LE(answer.residual, 1e-8);
}

TEST(Uniqueness, ASquareHasAWholeFarthestSide) {
  // The same with a pyramid of 4 rays: max(|x|, |y|) ≤ 2 has the side x = −2; pulled along (−1, −1) its corner is
  // alone.
  ContactProgram square = testing::diagonal_program({0, 0}, {1, 0});
  Eigen::MatrixXd rows(3, 2);
  rows << 0, 0, 1, 0, 0, 1;
  testing::add_contact(square, rows, {.gap = 1, .mu = 0.5});
  const Answer side = solve(square);
  EXPECT_EQ(side.status, Status::kNotUnique);
  EXPECT_FALSE(side.solution.motion_unique);
  EXPECT_NEAR(side.solution.delta[0], -2, 1e-8);
  EXPECT_LE(std::abs(side.solution.delta[1]), 2 + 1e-8);
  square.b << 1, 1;
  const Answer corner = solve(square);
  EXPECT_EQ(corner.status, Status::kSolved);
  EXPECT_NEAR(corner.solution.delta[0], -2, 1e-8);
  EXPECT_NEAR(corner.solution.delta[1], -2, 1e-8);
}

TEST(Compliance, RaysOfAFrictionlessPyramidShareTheForce) {
  // Without friction the n_d coinciding rays carry f/n_d each, s = φ + δ + R f/n_d = 0; the limit μ → 0 agrees.
  for (const double mu : {0.0, 1e-9}) {
    ContactProgram program = testing::point_on_plane({0, 0, 0}, -0.1, mu, FrictionModel::kPyramid);
    program.contacts[0].compliance = 0.1;
    const Answer answer = solve(program);
    ASSERT_EQ(answer.status, Status::kSolved) << mu;
    const double f = 0.1 / (1 + 0.1 / 4);  // δ = f (unit Q) and −0.1 + f + R f/4 = 0
    EXPECT_NEAR(answer.solution.force[0][0], f, 1e-9) << mu;
    EXPECT_NEAR(answer.solution.delta[2], f, 1e-9) << mu;
    EXPECT_LE(answer.residual, 1e-8) << mu;
  }
}

}  // namespace optimal_face_test
}  // namespace deft::solvers::contact
