#include "deft/solvers/contact_ipm.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "deft/solvers/certificate.hpp"
#include "support/allocation_counter.hpp"
#include "support/contact_programs.hpp"
#include "support/random_problems.hpp"

namespace deft::solvers {
namespace {

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

TEST(ContactIpm, AgreesWithAProjectedGradientOnTheDual) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const ContactProgram p = RandomProblems(seed).next({.max_bodies = 1, .max_contacts = 3});
    if (p.nv > 10) continue;
    ContactIpm solver;
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

TEST(ContactIpm, SolvesAndCertifiesRandomProblems) {
  ContactIpm solver;
  ContactSolution x;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const ContactProgram p = RandomProblems(seed).next({.max_bodies = 4, .max_contacts = 20});
    const SolveInfo info = solver.solve(p, {.warm_start = false}, x);
    ASSERT_EQ(info.status, Status::kSolved) << seed;
    ASSERT_LE(certify(p, x).max_scaled(), 1e-8) << seed;
  }
}

TEST(ContactIpm, SolvesAndCertifiesSmoothedRandomProblems) {
  ContactIpm solver;
  ContactSolution x;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    ContactProgram p = RandomProblems(seed).next({.max_bodies = 4, .max_contacts = 20});
    p.kappa = std::pow(10.0, 1 + static_cast<double>(seed % 8));
    const SolveInfo info = solver.solve(p, {.warm_start = false}, x);
    ASSERT_EQ(info.status, Status::kSolved) << seed;
    ASSERT_LE(certify(p, x).max_scaled(), 1e-8) << seed;
  }
}

TEST(ContactIpm, JammedProblemsGetAStatus) {
  ContactIpm solver;
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

TEST(ContactIpm, AWarmStartDoesNotChangeTheAnswer) {
  for (double kappa : {double(INFINITY), 1e3}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      ContactIpm warm, cold;
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

TEST(ContactIpm, WarmSolvesOfTheSameSizesDoNotAllocate) {
  if (!kCountsAllocations) GTEST_SKIP() << "a sanitizer owns malloc";
  for (double kappa : {double(INFINITY), 1e3}) {
    for (std::uint64_t seed : {3u, 5u, 8u, 11u}) {
      ContactIpm solver;
      ContactSolution x;
      ContactProgram p = RandomProblems(seed).next({.max_bodies = 3, .max_contacts = 12});
      for (std::size_t i = 0; i < p.contacts.size(); ++i) p.contacts[i].id = i + 1;
      p.lower = Eigen::VectorXd::Constant(p.nv, -10);
      p.upper = Eigen::VectorXd::Constant(p.nv, 10);
      p.kappa = kappa;
      for (bool warm_start : {true, false}) {
        const IpmSettings settings{.warm_start = warm_start};
        for (int warm_up = 0; warm_up < 3; ++warm_up) ASSERT_EQ(solver.solve(p, settings, x).status, Status::kSolved);
        p.b *= 1.01;
        EXPECT_EQ(testing_support::allocations_during([&] { solver.solve(p, settings, x); }), 0) << seed;
      }
    }
  }
}

TEST(ContactIpm, IslandsAndColumnOrderDoNotMatter) {
  // Two copies of one problem, columns interleaved: each half must move as the problem alone.
  const ContactProgram alone = deft::testing::point_on_plane({0.4, 0.2, -1}, -0.01, 0.3, FrictionModel::kCone);
  ContactProgram both = deft::testing::diagonal_program({1, 1, 1, 1, 1, 1}, {-0.4, -0.4, -0.2, -0.2, 1, 1});
  both.model = FrictionModel::kCone;
  for (int copy = 0; copy < 2; ++copy) {
    const std::vector<int> cols{copy, 2 + copy, 4 + copy};
    both.J.append(3, cols) = alone.J.block(0);
    both.contacts.push_back(alone.contacts[0]);
  }
  ContactIpm solver;
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

TEST(ContactIpm, SolvesTheEmptyProgramAndOneWithoutContacts) {
  ContactIpm solver;
  ContactSolution x;
  ContactProgram empty;
  EXPECT_EQ(solver.solve(empty, {}, x).status, Status::kSolved);
  const ContactProgram free = deft::testing::diagonal_program({2, 4}, {1, -2});
  EXPECT_EQ(solver.solve(free, {}, x).status, Status::kSolved);
  EXPECT_NEAR((x.delta - Eigen::Vector2d(-0.5, 0.5)).norm(), 0, 1e-12);
}

}  // namespace
}  // namespace deft::solvers
