#include "deft/solvers/contact/contact_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <string>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "support/allocation_counter.hpp"
#include "support/contact_programs.hpp"
#include "support/random_problems.hpp"

namespace deft::solvers::contact {
namespace contact_solver_test {

using deft::testing::RandomProblems;

// The oracle: accelerated projected gradient with restarts on the dual, ½ yᵀWy + yᵀd over the dual cones in the rows
// s = φ + n δ and μ (t δ). Slow, and shares nothing with the solver. @returns δ.
class DualGradient {
 public:
  explicit DualGradient(const ContactProgram& p) : p_(p) {
    Q_ = Eigen::MatrixXd::Zero(p.nv, p.nv);
    for (int k = 0; k < p.Q.num_blocks(); ++k)
      Q_.block(p.Q.start(k), p.Q.start(k), p.Q.size(k), p.Q.size(k)) = p.Q.block(k);
    factor_.compute(Q_);
    for (std::size_t i = 0; i < p.contacts.size(); ++i) add(static_cast<int>(i));
    // Unit diagonal per contact speeds up the descent.
    W_ = G_ * factor_.solve(G_.transpose());
    d_ = g_ - G_ * factor_.solve(p.b);
  }

  Eigen::VectorXd solve(int iterations) {
    const double step = 1 / W_.operatorNorm();
    Eigen::VectorXd y = Eigen::VectorXd::Zero(d_.size()), ahead = y;
    double momentum = 1;
    for (int it = 0; it < iterations; ++it) {
      const Eigen::VectorXd gradient = W_ * ahead + d_;
      const Eigen::VectorXd next = project(ahead - step * gradient);
      if (gradient.dot(next - y) > 0) {
        momentum = 1;
        ahead = next;
      } else {
        const double grown = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
        ahead = next + (momentum - 1) / grown * (next - y);
        momentum = grown;
      }
      y = next;
    }
    return factor_.solve(G_.transpose() * y - p_.b);
  }

  double energy_norm(const Eigen::VectorXd& v) const { return std::sqrt(v.dot(Q_ * v)); }

 private:
  void add(int i) {
    const ContactLaw& law = p_.contacts[i];
    Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(p_.J.rows(i), p_.nv);
    for (std::size_t c = 0; c < p_.J.cols(i).size(); ++c)
      rows.col(p_.J.cols(i)[c]) = p_.J.block(i).col(static_cast<Eigen::Index>(c));
    const bool flat = law.frictionless || law.mu == 0;
    const int rays = p_.rays;
    const int count = flat ? 1 : p_.model == FrictionModel::kCone ? 3 : rays;
    sizes_.push_back(p_.model == FrictionModel::kCone && !flat ? 3 : -count);
    const Eigen::Index first = g_.size();
    G_.conservativeResize(first + count, p_.nv);
    g_.conservativeResize(first + count);
    for (int k = 0; k < count; ++k) {
      G_.row(first + k) = rows.row(0);
      g_[first + k] = law.gap;
      if (flat) continue;
      if (p_.model == FrictionModel::kCone) {
        if (k > 0) G_.row(first + k) = law.mu * rows.row(k), g_[first + k] = 0;
      } else {
        G_.row(first + k) +=
            law.mu * (std::cos(2 * M_PI * k / rays) * rows.row(1) + std::sin(2 * M_PI * k / rays) * rows.row(2));
      }
    }
  }

  Eigen::VectorXd project(Eigen::VectorXd y) const {
    Eigen::Index at = 0;
    for (int size : sizes_) {
      if (size < 0) {
        y.segment(at, -size) = y.segment(at, -size).cwiseMax(0);
        at -= size;
        continue;
      }
      const double tail = y.segment(at + 1, 2).norm();
      if (tail <= -y[at]) {
        y.segment(at, 3).setZero();
      } else if (tail > y[at]) {
        const double half = 0.5 * (y[at] + tail);
        y.segment(at + 1, 2) *= half / tail;
        y[at] = half;
      }
      at += 3;
    }
    return y;
  }

  const ContactProgram& p_;
  Eigen::MatrixXd Q_, W_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::MatrixXd G_;
  Eigen::VectorXd g_, d_;
  std::vector<int> sizes_;
};

TEST(ContactSolver, AgreesWithAProjectedGradientOnTheDual) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const ContactProgram p = RandomProblems(seed).next({.max_bodies = 1, .max_contacts = 3});
    if (p.nv > 10) continue;
    ContactSolver solver;
    ContactSolution x;
    ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved) << seed;
    DualGradient oracle(p);
    const double E0 = certify(p, x).E0_J;
    const Eigen::VectorXd coarse = oracle.solve(4000), fine = oracle.solve(8000);
    const double unsettled = oracle.energy_norm(coarse - fine) / std::sqrt(E0);
    if (unsettled > 1e-9) continue;  // the oracle itself has not converged
    ++compared;
    EXPECT_LT(oracle.energy_norm(x.delta - fine) / std::sqrt(E0), 1e-7) << seed;
  }
  EXPECT_GE(compared, 40);
}

TEST(ContactSolver, SolvesAndCertifiesRandomProblems) {
  ContactSolver solver;
  ContactSolution x;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const ContactProgram p = RandomProblems(seed).next({.max_bodies = 4, .max_contacts = 20});
    const SolveInfo info = solver.solve(p, {.warm_start = false}, x);
    ASSERT_EQ(info.status, Status::kSolved) << seed;
    ASSERT_LE(certify(p, x).max_scaled(), 1e-8) << seed;
  }
}

TEST(ContactSolver, SolvesAndCertifiesSmoothedRandomProblems) {
  ContactSolver solver;
  ContactSolution x;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    ContactProgram p = RandomProblems(seed).next({.max_bodies = 4, .max_contacts = 20});
    p.kappa = std::pow(10.0, 1 + static_cast<double>(seed % 8));
    const SolveInfo info = solver.solve(p, {.warm_start = false}, x);
    ASSERT_EQ(info.status, Status::kSolved) << seed;
    ASSERT_LE(certify(p, x).max_scaled(), 1e-8) << seed;
  }
}

TEST(ContactSolver, JammedProblemsGetAStatus) {
  ContactSolver solver;
  ContactSolution x;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const SolveInfo info = solver.solve(RandomProblems(seed).next_jammed(), {}, x);
    EXPECT_EQ(to_string(info.status), "Infeasible") << seed;
    EXPECT_TRUE(x.delta.allFinite());
  }
}

// A sequence: loads and gaps drift, contacts come and go.
ContactProgram step_of_sequence(std::uint64_t seed, int step) {
  ContactProgram base = RandomProblems(seed).next({.max_bodies = 3, .max_contacts = 12});
  ContactProgram p = base;
  p.J.clear();
  p.contacts.clear();
  for (int i = 0; i < base.J.size(); ++i) {
    if ((i + step) % 7 == 0) continue;
    const std::vector<int> cols(base.J.cols(i).begin(), base.J.cols(i).end());
    p.J.append(base.J.rows(i), cols) = base.J.block(i);
    p.contacts.push_back(base.contacts[i]);
    p.contacts.back().id = static_cast<std::uint64_t>(i + 1);
    p.contacts.back().gap += 1e-4 * step;
  }
  p.b *= 1 + 0.02 * step;
  return p;
}

TEST(ContactSolver, AWarmStartDoesNotChangeTheAnswer) {
  for (double kappa : {double(INFINITY), 1e3}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      ContactSolver warm, cold;
      ContactSolution x, y;
      for (int step = 0; step < 8; ++step) {
        ContactProgram p = step_of_sequence(seed, step);
        p.kappa = kappa;
        ASSERT_EQ(warm.solve(p, {}, x).status, Status::kSolved) << seed << " " << step;
        ASSERT_EQ(cold.solve(p, {.warm_start = false}, y).status, Status::kSolved) << seed << " " << step;
        const double E0 = certify(p, x).E0_J;
        double squared = 0;
        const Eigen::VectorXd error = x.delta - y.delta;
        for (int k = 0; k < p.Q.num_blocks(); ++k)
          squared +=
              error.segment(p.Q.start(k), p.Q.size(k)).dot(p.Q.block(k) * error.segment(p.Q.start(k), p.Q.size(k)));
        EXPECT_LE(std::sqrt(squared / E0), 1e-7) << seed << " " << step;
      }
    }
  }
}

TEST(ContactSolver, WarmSolvesOfTheSameSizesDoNotAllocate) {
  if (!kCountsAllocations) GTEST_SKIP() << "a sanitizer owns malloc";
  for (double kappa : {double(INFINITY), 1e3}) {
    for (std::uint64_t seed : {3u, 5u, 8u, 11u}) {
      ContactSolver solver;
      ContactSolution x;
      ContactProgram p = RandomProblems(seed).next({.max_bodies = 3, .max_contacts = 12});
      for (std::size_t i = 0; i < p.contacts.size(); ++i) p.contacts[i].id = i + 1;
      p.lower = Eigen::VectorXd::Constant(p.nv, -10);
      p.upper = Eigen::VectorXd::Constant(p.nv, 10);
      p.kappa = kappa;
      for (bool warm_start : {true, false}) {
        const SolverSettings settings{.warm_start = warm_start};
        for (int warm_up = 0; warm_up < 3; ++warm_up) ASSERT_EQ(solver.solve(p, settings, x).status, Status::kSolved);
        p.b *= 1.01;
        EXPECT_EQ(testing_support::allocations_during([&] { solver.solve(p, settings, x); }), 0) << seed;
      }
    }
  }
}

double scaled_distance(const ContactProgram& p, const Eigen::VectorXd& error, double E0) {
  double squared = 0;
  for (int k = 0; k < p.Q.num_blocks(); ++k) {
    const auto part = error.segment(p.Q.start(k), p.Q.size(k));
    squared += part.dot(p.Q.block(k) * part);
  }
  return std::sqrt(squared / E0);
}

// One screened and one full solve: same motion and layout, a certificate, and force only where the slack is closed.
void expect_screening_does_not_matter(const ContactProgram& p, ContactSolver& screened, ContactSolver& full,
                                      const SolverSettings& settings) {
  ContactSolution x, y;
  SolverSettings without = settings;
  without.screening = false;
  ASSERT_EQ(screened.solve(p, settings, x).status, Status::kSolved);
  ASSERT_EQ(full.solve(p, without, y).status, Status::kSolved);
  const Certificate certificate = certify(p, x);
  EXPECT_LE(certificate.max_scaled(), 1e-8);
  EXPECT_LE(scaled_distance(p, x.delta - y.delta, certificate.E0_J), 1e-9);
  ASSERT_EQ(x.slack.size(), y.slack.size());
  ASSERT_EQ(x.ray_multipliers.size(), y.ray_multipliers.size());
  const double length = std::max(1e-3, y.delta.cwiseAbs().maxCoeff());
  for (std::size_t k = 0; k < x.slack.size(); ++k) EXPECT_NEAR(x.slack[k], y.slack[k], 1e-6 * length);
  for (std::size_t i = 0; i < x.gap.size(); ++i) EXPECT_NEAR(x.gap[i], y.gap[i], 1e-6 * length);
  EXPECT_EQ(x.motion_unique, y.motion_unique);
  EXPECT_EQ(x.forces_unique, y.forces_unique);
}

TEST(ContactSolver, ScreeningDoesNotChangeTheAnswer) {
  for (const SolverSettings& settings : {SolverSettings{.warm_start = false}, SolverSettings{}}) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      ContactSolver screened, full;
      for (int step = 0; step < 6; ++step) {
        SCOPED_TRACE(std::to_string(seed) + " " + std::to_string(step));
        expect_screening_does_not_matter(step_of_sequence(seed, step), screened, full, settings);
      }
    }
  }
}

TEST(ContactSolver, ImpliedContactsAreLeftWithoutForce) {
  // A body of six columns on nine points of a square, pushed and turned: its corners are numbers 0, 2, 6, 8.
  std::vector<char> redundant(9, 1);
  for (const int corner : {0, 2, 6, 8}) redundant[corner] = 0;
  for (const double push : {0.0, 0.2, 2.0}) {
    ContactProgram p = deft::testing::diagonal_program({1, 1, 1, 10, 10, 10}, {0.05 * push, 0, 0.1, -push, 0, 1});
    p.model = FrictionModel::kCone;
    for (int i = 0; i < 9; ++i) {
      const double x = i / 3 - 1, y = i % 3 - 1;
      auto J = p.J.append(3, std::vector<int>{0, 1, 2, 3, 4, 5});
      J.row(0) << y, -x, 0, 0, 0, 1;
      J.row(1) << 0, 0, -y, 1, 0, 0;
      J.row(2) << 0, 0, x, 0, 1, 0;
      p.contacts.push_back({.gap = 0, .mu = 0.5, .id = static_cast<std::uint64_t>(i + 1)});
    }
    ContactSolver solver, plain;
    ContactSolution x, y;
    SolverSettings settings;
    settings.redundant = redundant;
    ASSERT_EQ(solver.solve(p, settings, x).status, Status::kSolved);
    ASSERT_EQ(plain.solve(p, {}, y).status, Status::kSolved);
    const Certificate certificate = certify(p, x);
    EXPECT_LE(certificate.max_scaled(), 1e-8);
    EXPECT_LE(scaled_distance(p, x.delta - y.delta, certificate.E0_J), 1e-8);
    for (std::size_t i = 0; i < 9; ++i) {
      if (redundant[i] == 0) continue;
      EXPECT_EQ(x.force[i], (std::array<double, 4>{}));
    }
    EXPECT_FALSE(x.forces_unique);
    const std::vector<char> wrong(8, 0);
    settings.redundant = wrong;
    EXPECT_THROW(solver.solve(p, settings, x), std::invalid_argument);
  }
}

TEST(ContactSolver, AContactThatWasFarAwayIsFoundWhenTheLoadJumps) {
  // Ten planes below a point, of which the first is the nearest; the warm guess is at rest, then the load is 1e6 times.
  for (FrictionModel model : {FrictionModel::kPyramid, FrictionModel::kCone}) {
    ContactProgram p = deft::testing::diagonal_program({1, 1, 1}, {0, 0, 1e-6});
    p.model = model;
    for (int i = 0; i < 10; ++i) {
      const std::vector<int> cols{0, 1, 2};
      auto J = p.J.append(3, cols);
      J.row(0) << 0, 0, 1;
      J.row(1) << 1, 0, 0;
      J.row(2) << 0, 1, 0;
      p.contacts.push_back({.gap = 0.1 + 0.05 * i, .mu = 0.5, .id = static_cast<std::uint64_t>(i + 1)});
    }
    ContactSolver solver;
    ContactSolution x;
    ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved);
    EXPECT_NEAR(x.delta[2], -1e-6, 1e-12);
    p.b[2] = 1;
    ASSERT_EQ(solver.solve(p, {}, x).status, Status::kSolved);
    EXPECT_NEAR(x.delta[2], -0.1, 1e-9);
    EXPECT_NEAR(x.force[0][0], 0.9, 1e-8);
    EXPECT_NEAR(x.gap[9], 0.45, 1e-9);
  }
}

TEST(ContactSolver, IslandsAndColumnOrderDoNotMatter) {
  // Two copies of one problem, columns interleaved: each half must move as the problem alone.
  const ContactProgram alone = deft::testing::point_on_plane({0.4, 0.2, -1}, -0.01, 0.3, FrictionModel::kCone);
  ContactProgram both = deft::testing::diagonal_program({1, 1, 1, 1, 1, 1}, {-0.4, -0.4, -0.2, -0.2, 1, 1});
  both.model = FrictionModel::kCone;
  for (int copy = 0; copy < 2; ++copy) {
    const std::vector<int> cols{copy, 2 + copy, 4 + copy};
    both.J.append(3, cols) = alone.J.block(0);
    both.contacts.push_back(alone.contacts[0]);
  }
  ContactSolver solver;
  ContactSolution x, y;
  ASSERT_EQ(solver.solve(alone, {}, x).status, Status::kSolved);
  ASSERT_EQ(solver.solve(both, {}, y).status, Status::kSolved);
  for (int copy = 0; copy < 2; ++copy) {
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(y.delta[2 * k + copy], x.delta[k], 1e-12);
      EXPECT_NEAR(y.force[copy][k], x.force[0][k], 1e-11);
    }
  }
}

TEST(ContactSolver, SolvesTheEmptyProgramAndOneWithoutContacts) {
  ContactSolver solver;
  ContactSolution x;
  ContactProgram empty;
  EXPECT_EQ(solver.solve(empty, {}, x).status, Status::kSolved);
  const ContactProgram free = deft::testing::diagonal_program({2, 4}, {1, -2});
  EXPECT_EQ(solver.solve(free, {}, x).status, Status::kSolved);
  EXPECT_NEAR((x.delta - Eigen::Vector2d(-0.5, 0.5)).norm(), 0, 1e-12);
}

TEST(ContactSolver, WithoutUnknownsContactsAreOpenOrInfeasible) {
  for (FrictionModel model : {FrictionModel::kPyramid, FrictionModel::kCone}) {
    for (double kappa : {double(INFINITY), 1e3}) {
      ContactProgram p;
      p.b.resize(0);
      p.model = model;
      p.kappa = kappa;
      p.J.append(3, {});
      p.contacts.push_back({.gap = 0.2, .mu = 0.5});
      ContactSolver solver;
      ContactSolution x;
      EXPECT_EQ(to_string(solver.solve(p, {}, x).status), "Solved");
      EXPECT_EQ(x.delta.size(), 0);
      EXPECT_EQ(x.gap[0], 0.2);
      p.contacts[0].gap = -0.1;
      EXPECT_EQ(to_string(solver.solve(p, {}, x).status), "Infeasible");
      EXPECT_EQ(x.delta.size(), 0);
    }
  }
}

TEST(ContactSolver, AVanishingBarrierIsNone) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ContactProgram p = RandomProblems(seed).next({.max_bodies = 2, .max_contacts = 8});
    ContactSolver solver;
    ContactSolution exact, x;
    ASSERT_EQ(solver.solve(p, {.warm_start = false}, exact).status, Status::kSolved) << seed;
    const double E0 = certify(p, exact).E0_J;
    for (double kappa : {1e21, 1e34, 1e100, 1e300}) {
      p.kappa = kappa / E0;
      ASSERT_EQ(to_string(solver.solve(p, {.warm_start = false}, x).status), "Solved") << seed << " " << kappa;
      EXPECT_LE(scaled_distance(p, x.delta - exact.delta, E0), 1e-9) << seed;
    }
  }
}

}  // namespace contact_solver_test
}  // namespace deft::solvers::contact
