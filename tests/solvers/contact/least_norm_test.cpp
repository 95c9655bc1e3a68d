// Multipliers of least norm: by hand, against the limit of compliance, and the same for every order of the contacts.

#include "deft/solvers/contact/force_choice/least_norm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "support/contact_programs.hpp"
#include "support/random_problems.hpp"

namespace deft::solvers::contact {
namespace least_norm_test {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kWeight = 8;  // N

/// Four contacts at (±0.3, ±0.2, height) between body `top` (six columns) and the body below it or the ground (−1).
void add_legs(ContactProgram& p, int top, int bottom, double height, double height_below, const ContactLaw& law) {
  for (const double sign : {1.0, -1.0}) {
    for (const double other : {sign, -sign}) {
      const Vector3d leg(0.3 * sign, 0.2 * other, height), below(leg.x(), leg.y(), height_below);
      std::vector<int> cols;
      MatrixXd rows(3, bottom < 0 ? 6 : 12);
      for (const int body : {bottom, top}) {
        for (int c = 0; body >= 0 && c < 6; ++c) cols.push_back(6 * body + c);
      }
      for (int r = 0; r < 3; ++r) {
        const Vector3d d = Vector3d::Unit((r + 2) % 3);
        if (bottom >= 0) rows.row(r).head(6) << -below.cross(d).transpose(), -d.transpose();
        rows.row(r).tail(6) << leg.cross(d).transpose(), d.transpose();
      }
      p.J.append(3, cols) = rows;
      p.contacts.push_back(law);
    }
  }
}

/// A table on four legs, loaded with a force at its centre and by a weight at (x, y).
ContactProgram table(FrictionModel model, double mu, double x = 0, double y = 0,
                     const Vector3d& push = Vector3d::Zero(), double height = -0.5) {
  ContactProgram p = testing::diagonal_program(
      {0.5, 0.5, 0.5, 10, 10, 10}, {kWeight * y, -kWeight * x, 0, -push.x(), -push.y(), kWeight - push.z()});
  p.model = model;
  add_legs(p, 0, -1, height, 0, {.mu = mu});
  return p;
}

/// A pile of one to four boxes of random weight, each pushed and twisted at random.
ContactProgram pile(testing::RandomProblems& random) {
  ContactProgram p;
  const int boxes = random.integer(1, 4);
  p.nv = 6 * boxes;
  p.b.resize(p.nv);
  p.model = random.chance(0.5) ? FrictionModel::kPyramid : FrictionModel::kCone;
  for (int k = 0; k < boxes; ++k) {
    const double mass = random.log_uniform(0.1, 10);
    p.Q.append(6 * k, 6).diagonal() << Vector3d::Constant(0.05 * mass), Vector3d::Constant(mass);
    p.b.segment(6 * k, 6) << 0.3 * mass * Vector3d(random.normal(), random.normal(), random.normal()),
        mass * random.normal(), mass * random.normal(), 9.81 * mass;
    add_legs(p, k, k - 1, -0.1, 0.1, {.mu = random.uniform(0.1, 0.8)});
  }
  return p;
}

ContactSolution solved(const ContactProgram& program) {
  ContactSolver solver;
  ContactSolution solution;
  EXPECT_EQ(solver.solve(program, {}, solution).status, Status::kSolved);
  return solution;
}

ContactSolution least(const ContactProgram& program) {
  ContactSolution solution = solved(program);
  const VectorXd delta = solution.delta;
  EXPECT_TRUE(select_least_norm(program, solution));
  EXPECT_EQ(solution.delta, delta);
  EXPECT_LE(certify(program, solution).max_scaled(), 1e-8);
  return solution;
}

/// Σ w²|λ|² of all multipliers.
double norm(const ContactProgram& p, const ContactSolution& x) {
  const RowScales w = row_scales(p);
  double sum = 0;
  std::size_t ray = 0;
  for (int i = 0; i < p.J.size(); ++i) {
    const ContactLaw& law = p.contacts[i];
    const int rows = law.frictionless ? 1 : p.J.rows(i);
    double own = 0;
    if (!is_cone(p, i)) {
      for (int k = 0; k < (rows == 1 ? 1 : rows == 2 ? 2 : p.rays); ++k, ++ray)
        own += x.ray_multipliers[ray] * x.ray_multipliers[ray];
    } else {
      own = x.force[i][0] * x.force[i][0];
      for (int r = 1; r < rows; ++r)
        own += law.mu > 0 ? std::pow(x.force[i][r] / (law.mu * law.ellipsoid[r - 1]), 2) : 0.0;
    }
    sum += w.contacts[i] * w.contacts[i] * own;
  }
  for (int i = 0; i < x.bound_multipliers.size(); ++i) sum += std::pow(w.bounds[i] * x.bound_multipliers[i], 2);
  return sum;
}

TEST(LeastNorm, FourLegsOfATableCarryAQuarterEach) {
  for (const FrictionModel model : {FrictionModel::kPyramid, FrictionModel::kCone}) {
    for (const double mu : {0.0, 0.5}) {
      const ContactSolution x = least(table(model, mu));
      for (const auto& f : x.force) {
        EXPECT_NEAR(f[0], kWeight / 4, 1e-11);
        EXPECT_NEAR(std::hypot(f[1], f[2]), 0, 1e-11);
      }
    }
  }
}

TEST(LeastNorm, AnEccentricLoadIsSharedLinearlyUntilALegLifts) {
  const Vector3d legs[] = {{0.3, 0.2, 0}, {0.3, -0.2, 0}, {-0.3, -0.2, 0}, {-0.3, 0.2, 0}};
  for (const FrictionModel model : {FrictionModel::kPyramid, FrictionModel::kCone}) {
    // Frictionless: f = W/4 (1 + x x_i/a² + y y_i/b²).
    ContactSolution x = least(table(model, 0, 0.06, -0.03));
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(x.force[i][0], kWeight / 4 * (1 + 0.06 * legs[i].x() / 0.09 - 0.03 * legs[i].y() / 0.04), 1e-10) << i;
    }
    // At (0.24, 0.14) that would pull at the leg opposite; the other three are determined by statics.
    x = least(table(model, 0, 0.24, 0.14));
    EXPECT_NEAR(x.force[0][0], kWeight * (0.5 * (0.24 / 0.3 + 0.14 / 0.2)), 1e-10);
    EXPECT_NEAR(x.force[1][0], kWeight * 0.5 * (1 - 0.14 / 0.2), 1e-10);
    EXPECT_NEAR(x.force[2][0], 0, 1e-10);
    EXPECT_NEAR(x.force[3][0], kWeight * 0.5 * (1 - 0.24 / 0.3), 1e-10);
  }
}

TEST(LeastNorm, ASlidingTableKeepsFrictionOnItsCone) {
  // Pushed along (3, 4) at the height of its feet.
  const ContactSolution x = least(table(FrictionModel::kCone, 0.5, 0, 0, {6, 8, 0}, 0));
  for (const auto& f : x.force) {
    EXPECT_NEAR(f[0], x.force[0][0], 1e-7);
    EXPECT_NEAR(f[1], -0.5 * 0.6 * f[0], 1e-7);
    EXPECT_NEAR(f[2], -0.5 * 0.8 * f[0], 1e-7);
  }
}

TEST(LeastNorm, IsTheLimitOfCompliance) {
  testing::RandomProblems random(7);
  int compared = 0;
  for (int k = 0; k < 60; ++k) {
    const ContactProgram p = pile(random);
    const ContactSolution x = solved(p);
    if (x.forces_unique) continue;
    const ContactSolution selected = least(p);
    const RowScales w = row_scales(p);
    const auto distance = [&](double r) {
      ContactProgram soft = p;
      for (std::size_t i = 0; i < soft.contacts.size(); ++i)
        soft.contacts[i].compliance = r * w.contacts[i] * w.contacts[i];
      const ContactSolution y = solved(soft);
      double difference = 0, size = 0;
      for (std::size_t i = 0; i < y.force.size(); ++i) {
        for (int row = 0; row < 3; ++row) {
          difference = std::max(difference, w.contacts[i] * std::abs(y.force[i][row] - selected.force[i][row]));
          size = std::max(size, w.contacts[i] * std::abs(y.force[i][row]));
        }
      }
      return difference / size;
    };
    // The error falls like r, until rounding of the motion, over r, shows in the forces.
    const double coarse = distance(1e-6), fine = distance(1e-7);
    EXPECT_LT(fine, std::max(0.2 * coarse, 1e-3)) << "problem " << k;
    EXPECT_LT(fine, 5e-3) << "problem " << k;
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

TEST(LeastNorm, IsTheSameForEveryOrderOfTheContactsAndNeverLonger) {
  testing::RandomProblems random(11);
  int selected = 0;
  for (int k = 0; k < 200; ++k) {
    const ContactProgram p = pile(random);
    const ContactSolution x = solved(p);
    if (x.forces_unique) continue;
    ++selected;
    const ContactSolution a = least(p);
    EXPECT_LE(norm(p, a), norm(p, x) * (1 + 1e-9)) << k;

    ContactProgram reversed = p;
    reversed.J.clear();
    std::reverse(reversed.contacts.begin(), reversed.contacts.end());
    for (int i = p.J.size() - 1; i >= 0; --i) reversed.J.append(p.J.rows(i), p.J.cols(i)) = p.J.block(i);
    const ContactSolution b = least(reversed);
    double largest = 0;
    for (const auto& f : a.force) largest = std::max(largest, f[0]);
    for (std::size_t i = 0; i < a.force.size(); ++i) {
      for (int row = 0; row < 3; ++row)
        EXPECT_NEAR(a.force[i][row], b.force[a.force.size() - 1 - i][row], 1e-6 * largest) << k;
    }
  }
  EXPECT_GE(selected, 30);
}

TEST(LeastNorm, ContactsAndBoundsShareALoad) {
  // One coordinate pushed with 6 N against a wall of two equal contacts and its own limit: 2 N each.
  ContactProgram p = testing::diagonal_program({1}, {6});
  for (int i = 0; i < 2; ++i) testing::add_contact(p, MatrixXd::Ones(1, 1), {.frictionless = true});
  p.lower = VectorXd::Zero(1);
  p.upper = VectorXd::Constant(1, 1e9);
  const ContactSolution x = least(p);
  EXPECT_NEAR(x.force[0][0], 2, 1e-12);
  EXPECT_NEAR(x.force[1][0], 2, 1e-12);
  EXPECT_NEAR(x.bound_multipliers[0], 2, 1e-12);
}

TEST(LeastNorm, LeavesSmoothedAndCompliantForcesAlone) {
  ContactProgram p = table(FrictionModel::kCone, 0.5, 0.06, -0.03);
  p.kappa = 100;
  ContactSolution x = solved(p);
  const auto force = x.force;
  EXPECT_TRUE(select_least_norm(p, x));
  EXPECT_EQ(x.force, force);
  p.kappa = std::numeric_limits<double>::infinity();
  for (ContactLaw& law : p.contacts) law.compliance = 1e-3;
  x = solved(p);
  const auto compliant = x.force;
  EXPECT_TRUE(select_least_norm(p, x));
  EXPECT_EQ(x.force, compliant);
}

TEST(LeastNorm, RejectsTheSolutionOfAnotherProgram) {
  ContactSolution x = solved(table(FrictionModel::kCone, 0.5));
  EXPECT_THROW(select_least_norm(testing::diagonal_program({1}, {1}), x), std::invalid_argument);
}

}  // namespace least_norm_test
}  // namespace deft::solvers::contact
