#include "deft/solvers/status.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "support/contact_programs.hpp"

namespace deft::solvers {
namespace status_test {

using deft::testing::add_contact;
using deft::testing::add_linear;
using deft::testing::diagonal_program;
using deft::testing::point_on_plane;

Status status_of(const contact::ContactProgram& program, contact::ContactSolution* out = nullptr,
                 contact::SolverSettings settings = {}) {
  contact::ContactSolver solver;
  contact::ContactSolution solution;
  const contact::SolveInfo info = solver.solve(program, settings, solution);
  EXPECT_TRUE(solution.delta.allFinite());
  if (out) *out = solution;
  return info.status;
}

TEST(Status, EveryOneHasItsOwnWordAndSentence) {
  std::set<std::string_view> words, sentences;
  for (int k = 0; k < kNumStatuses; ++k) {
    words.insert(to_string(static_cast<Status>(k)));
    sentences.insert(sentence(static_cast<Status>(k)));
  }
  EXPECT_EQ(words.size(), kNumStatuses);
  EXPECT_EQ(sentences.size(), kNumStatuses);
  EXPECT_EQ(to_string(Status::kNotUnique), "NotUnique");
  EXPECT_EQ(to_string(Status::kRayTermination), "RayTermination");
}

TEST(Status, LowerAboveUpperIsInfeasible) {
  contact::ContactProgram p = diagonal_program({1}, {0});
  p.lower = Eigen::VectorXd::Constant(1, 1);
  p.upper = Eigen::VectorXd::Constant(1, -1);
  EXPECT_EQ(status_of(p), Status::kInfeasible);
}

TEST(Status, ContradictingEqualitiesAreInfeasible) {
  contact::ContactProgram p = diagonal_program({1, 1}, {0, 1});
  add_linear(p.equality, Eigen::RowVector2d(1, 1), 1);
  add_linear(p.equality, Eigen::RowVector2d(2, 2), 1);
  EXPECT_EQ(status_of(p), Status::kInfeasible);
  p.equality.rhs[1] = 2;
  EXPECT_EQ(status_of(p), Status::kSolved);
}

TEST(Status, ABodyBetweenTwoPenetratingWallsIsInfeasible) {
  for (const contact::FrictionModel model : {contact::FrictionModel::kPyramid, contact::FrictionModel::kCone}) {
    for (double mu : {0.0, 0.5}) {
      for (double depth : {1e-6, 1e-3, 0.1}) {
        contact::ContactProgram p = point_on_plane({0.1, 0, -1}, -depth, mu, model);
        Eigen::Matrix3d rows = -Eigen::Matrix3d(p.J.block(0));
        add_contact(p, rows, {.gap = -depth, .mu = mu});
        contact::ContactSolution x;
        EXPECT_EQ(to_string(status_of(p, &x)), "Infeasible") << mu << " " << depth;
        EXPECT_LT(std::abs(x.delta[2]), 2 * depth);  // the elastic motion shares the penetration
        p.kappa = 1e3;
        EXPECT_EQ(to_string(status_of(p)), "Infeasible") << mu << " " << depth;
      }
    }
  }
}

TEST(Status, AViolatedContactThatNothingMovesIsInfeasible) {
  contact::ContactProgram p = point_on_plane({0, 0, -1}, 0, 0.5, contact::FrictionModel::kPyramid);
  add_contact(p, Eigen::Matrix3d::Zero(), {.gap = 0.1, .mu = 0.5});
  EXPECT_EQ(status_of(p), Status::kSolved);
  p.contacts[1].gap = -0.1;
  EXPECT_EQ(status_of(p), Status::kInfeasible);
}

TEST(Status, AWeightThatNothingCarriesIsUnbounded) {
  // Quasistatic: the object (columns 1, 2) has no stiffness; gravity pulls along −y.
  contact::ContactProgram p = diagonal_program({10}, {0});
  p.nv = 3;
  p.b = Eigen::Vector3d(0, 0, 1);
  EXPECT_EQ(to_string(status_of(p)), "Unbounded");
  auto M = p.masses.append(1, 2);
  M = 0.3 * Eigen::Matrix2d::Identity();
  EXPECT_EQ(to_string(status_of(p)), "Unbounded");
  p.kappa = 100;
  EXPECT_EQ(to_string(status_of(p)), "Unbounded");
}

TEST(Status, SmoothingAnOpenFeasibleSetWithoutInertiaIsUnbounded) {
  contact::ContactProgram p = diagonal_program({10}, {0});
  p.nv = 2;
  p.b = Eigen::Vector2d(-1, 0);
  add_contact(p, Eigen::RowVector2d(-1, 1), {.gap = 0.1, .frictionless = true});
  p.kappa = 100;
  EXPECT_EQ(to_string(status_of(p)), "Unbounded");
}

TEST(Status, AnObjectThatMayRestAnywhereIsNotUniqueAndStays) {
  // A finger (spring) pushes an object that has neither inertia nor support: it may stop anywhere ahead.
  contact::ContactProgram p = diagonal_program({10}, {-10});
  p.nv = 3;
  p.b = Eigen::Vector3d(-10, 0, 0);
  p.masses.append(1, 2) = 0.2 * Eigen::Matrix2d::Identity();
  add_contact(p, (Eigen::Matrix<double, 2, 3>() << -1, 1, 0, 0, 0, 1).finished(), {.gap = 0.25, .mu = 0.3});
  p.rays = 2;
  contact::ContactSolution x;
  EXPECT_EQ(to_string(status_of(p, &x)), "NotUnique");
  EXPECT_FALSE(x.motion_unique);
  // Least ½δ_uᵀMδ_u: pushed by exactly what the finger advances, and not sideways.
  EXPECT_NEAR((x.delta - Eigen::Vector3d(1, 0.75, 0)).norm(), 0, 1e-8);
}

TEST(Status, AnObjectHeldFromBothSidesIsUniqueWithoutInertia) {
  contact::ContactProgram p = diagonal_program({10, 10}, {-1, 1});
  p.nv = 3;
  p.b = Eigen::Vector3d(-1, 1, 0);
  add_contact(p, Eigen::RowVector3d(-1, 0, 1), {.gap = 0, .frictionless = true});
  add_contact(p, Eigen::RowVector3d(0, 1, -1), {.gap = 0, .frictionless = true});
  contact::ContactSolution x;
  EXPECT_EQ(to_string(status_of(p, &x)), "Solved");
  EXPECT_TRUE(x.motion_unique);
  EXPECT_NEAR(x.force[0][0], 1, 1e-8);
  EXPECT_NEAR(x.delta.norm(), 0, 1e-8);
}

TEST(Status, ForcesOfFourCornersAreNotUniqueThoseOfThreeAre) {
  // A plate: height and two tilts; unit inertia; frictionless corners.
  const double corners[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  for (int count : {3, 4}) {
    contact::ContactProgram p = diagonal_program({1, 1, 1}, {1, 0.05, 0.02});
    for (int k = 0; k < count; ++k)
      add_contact(p, Eigen::RowVector3d(1, corners[k][0], corners[k][1]), {.frictionless = true});
    contact::ContactSolution x;
    EXPECT_EQ(status_of(p, &x), Status::kSolved);
    EXPECT_EQ(x.forces_unique, count == 3);
    EXPECT_TRUE(x.motion_unique);
  }
}

TEST(Status, TheIterationLimitReturnsAFiniteIterate) {
  const contact::ContactProgram p = point_on_plane({0.3, 0.2, -1}, 0.01, 0.5, contact::FrictionModel::kCone);
  EXPECT_EQ(to_string(status_of(p, nullptr, {.max_iterations = 1, .compliance_fallback = false})), "IterationLimit");
}

TEST(Status, BadInputIsRefusedWithItsPlace) {
  const contact::ContactProgram good = point_on_plane({0, 0, -1}, 0, 0.5, contact::FrictionModel::kPyramid);
  const auto message_of = [&](auto spoil) -> std::string {
    contact::ContactProgram p = good;
    spoil(p);
    contact::ContactSolver solver;
    contact::ContactSolution x;
    try {
      solver.solve(p, {}, x);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(message_of([](auto& p) { p.b = Eigen::VectorXd::Zero(2); }).find("b has size 2"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.b[1] = NAN; }).find("b: a value is not finite"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.contacts[0].mu = -0.1; }).find("contact 0: mu"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.contacts[0].gap = INFINITY; }).find("contact 0: the gap"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.contacts.clear(); }).find("0 contacts but 1 row blocks"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.rays = 5; }).find("rays = 5"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.kappa = 0; }).find("kappa = 0"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.J.block(0)(0, 0) = NAN; }).find("J[0]"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.Q.block(0)(0, 0) = NAN; }).find("Q block 0"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.Q.block(0)(0, 0) = -1; }).find("positive semidefinite"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.contacts[0].ellipsoid = {1, 2, 1}; }).find("cone model"), std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.lower = Eigen::VectorXd::Zero(2); }).find("lower has size 2"),
            std::string::npos);
  EXPECT_NE(message_of([](auto& p) { p.linear.rhs.push_back(1); }).find("linear: 1 right-hand sides"),
            std::string::npos);
}

}  // namespace status_test
}  // namespace deft::solvers
