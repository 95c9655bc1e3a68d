#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <vector>

#include "deft/solvers/contact/active_set/row_islands.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "deft/solvers/linear/delassus_factor.hpp"
#include "support/random_problems.hpp"

namespace deft::solvers::contact {
namespace contact_active_set_test {

using deft::testing::RandomProblems;

double energy_distance(const ContactProgram& p, const Eigen::VectorXd& a, const Eigen::VectorXd& b, double E0) {
  const Eigen::VectorXd difference = a - b;
  double squared = 0;
  for (int k = 0; k < p.Q.num_blocks(); ++k) {
    const Eigen::VectorXd part = difference.segment(p.Q.start(k), p.Q.size(k));
    squared += part.dot(p.Q.block(k) * part);
  }
  return std::sqrt(squared / E0);
}

TEST(ContactActiveSet, AgreesWithTheInteriorPointColdAndWarm) {
  constexpr int kProblems = 1200;
  int active = 0, polyhedral = 0;
  ContactSolver one, other;
  ContactSolution solution, reference;
  for (int i = 0; i < kProblems; ++i) {
    RandomProblems random(7000 + i);
    ContactProgram program = random.next({.max_bodies = 8, .max_contacts = 40});
    for (std::size_t k = 0; k < program.contacts.size(); ++k) program.contacts[k].id = k + 1;
    one.forget();
    other.forget();
    polyhedral += program.model == FrictionModel::kPyramid;
    for (int warm = 0; warm < 3; ++warm) {
      const SolveInfo info = one.solve(program, {.method = SolveMethod::kActiveSet, .tolerance = 1e-13}, solution);
      ASSERT_EQ(info.status, Status::kSolved) << "problem " << i << ", solve " << warm;
      const Certificate certificate = certify(program, solution);
      EXPECT_LE(certificate.max_scaled(), 1e-9) << "problem " << i;
      active += warm == 0 && info.method == SolveMethod::kActiveSet;
      ASSERT_EQ(other.solve(program, {.method = SolveMethod::kInteriorPoint, .tolerance = 1e-13}, reference).status,
                Status::kSolved);
      EXPECT_LE(energy_distance(program, solution.delta, reference.delta, certificate.E0_J), 1e-9)
          << "problem " << i << ", solve " << warm;
      for (int c = 0; c < program.nv; ++c) program.b[c] *= 1 + 0.02 * random.normal();
      for (ContactLaw& law : program.contacts) law.gap += 1e-5 * std::abs(random.normal());
    }
  }
  EXPECT_GE(active, polyhedral * 97 / 100) << "of " << polyhedral << " programs";
}

// A box of unit mass on four corners, some of them lifted a little, and pushed sideways.
ContactProgram table(RandomProblems& random, double push) {
  ContactProgram p;
  p.nv = 6;
  p.Q.append(0, 6) = Eigen::Matrix<double, 6, 6>::Identity();
  p.b.resize(6);
  p.b << random.normal() * 0.01, random.normal() * 0.01, 0, push, 0, 1;
  p.rays = random.chance(0.5) ? 4 : 8;
  const std::vector<int> cols{0, 1, 2, 3, 4, 5};
  for (int k = 0; k < 4; ++k) {
    const Eigen::Vector3d arm(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, random.chance(0.5) ? -0.5 : 0.0);
    auto J = p.J.append(3, cols);
    for (int axis = 0; axis < 3; ++axis) {
      const Eigen::Vector3d e = Eigen::Vector3d::Unit(axis), lever = e.cross(arm);
      for (int r = 0; r < 3; ++r) {
        J(r, axis) = lever[(r + 2) % 3];
        J(r, 3 + axis) = e[(r + 2) % 3];
      }
    }
    p.contacts.push_back({.gap = random.chance(0.3) ? 0.05 : 0.0, .mu = random.chance(0.3) ? 0.0 : 0.5});
  }
  return p;
}

TEST(ContactActiveSet, SaysAsTheInteriorPointWhetherForcesAreUnique) {
  int unique = 0;
  ContactSolution solution, reference;
  for (int i = 0; i < 400; ++i) {
    RandomProblems random(90 + i);
    const ContactProgram program = table(random, random.chance(0.5) ? 0.0 : random.uniform(0, 1));
    ASSERT_EQ(ContactSolver().solve(program, {.method = SolveMethod::kActiveSet}, solution).method,
              SolveMethod::kActiveSet);
    ASSERT_EQ(ContactSolver().solve(program, {.method = SolveMethod::kInteriorPoint}, reference).status,
              Status::kSolved);
    EXPECT_EQ(solution.forces_unique, reference.forces_unique) << "table " << i;
    unique += reference.forces_unique;
  }
  EXPECT_GT(unique, 20);
  EXPECT_LT(unique, 380);
}

TEST(ContactActiveSet, SolvesIslandsAsIfEachWereAlone) {
  constexpr int kTables = 9;
  RandomProblems random(31);
  int unique = 0;
  for (int i = 0; i < 60; ++i) {
    ContactProgram all;
    all.nv = 6 * kTables;
    all.b.resize(all.nv);
    std::vector<ContactProgram> tables;
    ContactSolution solution, alone;
    for (int t = 0; t < kTables; ++t) {
      tables.push_back(table(random, random.uniform(0, 1)));
      all.Q.append(6 * t, 6) = tables[t].Q.block(0);
      all.b.segment(6 * t, 6) = tables[t].b;
    }
    for (int k = 0; k < 4; ++k) {  // the contacts of the islands alternate
      for (int t = 0; t < kTables; ++t) {
        tables[t].rays = all.rays;
        std::vector<int> cols(6);
        for (int c = 0; c < 6; ++c) cols[c] = 6 * t + c;
        all.J.append(3, cols) = tables[t].J.block(k);
        all.contacts.push_back(tables[t].contacts[k]);
      }
    }
    ASSERT_EQ(ContactSolver().solve(all, {}, solution).method, SolveMethod::kActiveSet);
    EXPECT_LE(certify(all, solution).max_scaled(), 1e-10);
    bool all_unique = true;
    for (int t = 0; t < kTables; ++t) {
      ASSERT_EQ(ContactSolver().solve(tables[t], {}, alone).status, Status::kSolved);
      EXPECT_LE((solution.delta.segment(6 * t, 6) - alone.delta).norm(), 1e-10) << "program " << i << ", table " << t;
      all_unique = all_unique && alone.forces_unique;
    }
    EXPECT_EQ(solution.forces_unique, all_unique) << "program " << i;
    unique += all_unique;
  }
  EXPECT_GT(unique, 0);
}

TEST(RowIslands, HoldEveryRowOnceWithAllItsColumns) {
  int islands_seen = 0;
  for (int i = 0; i < 300; ++i) {
    RandomProblems random(500 + i);
    const ContactProgram program = random.next({.max_bodies = 30, .max_contacts = 40});
    ConstraintRows rows;
    MetricInverse inverse;
    RowIslands islands;
    if (!rows.assign(program) || !inverse.update(program)) continue;
    islands.split(rows, inverse);
    std::vector<int> of_column(program.nv, -1), contacts(program.contacts.size(), 0);
    std::vector<RowName> names;
    rows.list_others(names);
    std::size_t others = 0;
    for (int k = 0; k < islands.size(); ++k) {
      for (const int c : islands[k].columns) {
        EXPECT_EQ(of_column[c], -1) << "column " << c << " of program " << i;
        of_column[c] = k;
      }
    }
    for (int k = 0; k < program.Q.num_blocks(); ++k) {
      for (int c = 1; c < program.Q.size(k); ++c)
        EXPECT_EQ(of_column[program.Q.start(k) + c], of_column[program.Q.start(k)]);
    }
    for (int k = 0; k < islands.size(); ++k) {
      for (const int contact : islands[k].contacts) {
        ++contacts[contact];
        for (const int c : program.J.cols(contact)) EXPECT_EQ(of_column[c], k) << "contact " << contact;
      }
      for (const RowName& name : islands[k].others) {
        ++others;
        for (const int c : rows.cols(name)) EXPECT_EQ(of_column[c], k);
      }
    }
    for (const int count : contacts) EXPECT_EQ(count, 1);
    EXPECT_EQ(others, names.size());
    islands_seen = std::max(islands_seen, islands.size());
  }
  EXPECT_GT(islands_seen, 3);
}

}  // namespace contact_active_set_test
}  // namespace deft::solvers::contact
