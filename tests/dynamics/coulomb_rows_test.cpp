// The complementarity problem of a step, against the law written out for one contact after the other.

#include "deft/dynamics/complementarity/coulomb_rows.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

#include "deft/math/block_parts.hpp"

namespace deft::dynamics {
namespace coulomb_rows_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class Numbers {
 public:
  explicit Numbers(int seed) : rng_(static_cast<std::uint64_t>(seed)) {}
  double normal() { return std::normal_distribution<double>()(rng_); }
  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng_); }
  VectorXd vector(Eigen::Index n) {
    VectorXd x(n);
    for (double& value : x) value = normal();
    return x;
  }

 private:
  std::mt19937_64 rng_;
};

/// Velocities 0–2 a block, 3 a spring, 4–6 free, 7 a spring and then prescribed.
contact::ContactProblem energy(Numbers& random) {
  contact::ContactProblem problem;
  problem.nv = 8;
  problem.b = random.vector(8);
  MatrixXd A(3, 3);
  for (double& value : A.reshaped()) value = random.normal();
  problem.Q.append(0, 3) = A * A.transpose() + MatrixXd::Identity(3, 3);
  problem.Q.append(3, 1)(0, 0) = random.uniform(1, 100);
  problem.Q.append(7, 1)(0, 0) = random.uniform(1, 100);
  return problem;
}

TEST(ForceResponse, IsTheInverseOfTheEnergyWhereThereIsOne) {
  Numbers random(1);
  for (int k = 0; k < 50; ++k) {
    const contact::ContactProblem problem = energy(random);
    ForceResponse response;
    ASSERT_TRUE(response.from_energy(problem));
    EXPECT_EQ(response.free, (std::vector<int>{4, 5, 6}));
    MatrixXd mobility = MatrixXd::Zero(8, 8);
    for (const int block : {0, 1, 2}) {
      const int start = problem.Q.start(block), n = problem.Q.size(block);
      mobility.block(start, start, n, n) = problem.Q.block(block).inverse();
    }
    VectorXd x = random.vector(8);
    const VectorXd moved = mobility * x;
    response.apply_mobility(x);
    EXPECT_LT((x - moved).norm(), 1e-12 * (1 + moved.norm()));
    EXPECT_LT((response.drift + mobility * problem.b).norm(), 1e-12 * (1 + response.drift.norm()));
    response.prescribe(7, 0.25);
    EXPECT_EQ(response.drift(7), 0.25);
    x.setOnes(8);
    response.apply_mobility(x);
    EXPECT_EQ(x(7), 0);
  }
}

TEST(ForceResponse, SaysWhereThereIsNone) {
  Numbers random(2);
  contact::ContactProblem problem = energy(random);
  problem.Q.block(1)(0, 0) = 0;
  ForceResponse response;
  EXPECT_FALSE(response.from_energy(problem));
  problem.Q.block(1)(0, 0) = 1;
  problem.Q.block(0) = VectorXd::LinSpaced(3, 1, 3) * VectorXd::LinSpaced(3, 1, 3).transpose();  // rank 1
  EXPECT_FALSE(response.from_energy(problem));
}

/// Contacts of all kinds on the velocities of `energy`: with friction in space, in a plane, without.
solvers::contact::ContactProgram contacts(Numbers& random, int rays, bool plane) {
  solvers::contact::ContactProgram program;
  program.nv = 8;
  program.rays = plane ? 2 : rays;
  const std::vector<std::vector<int>> cols{{0, 1, 2, 4}, {3, 5, 6}, {1, 4, 5, 7}, {0, 6}};
  for (int i = 0; i < 4; ++i) {
    auto block = program.J.append(plane ? 2 : 3, cols[i]);
    for (Eigen::Index r = 0; r < block.rows(); ++r)
      for (Eigen::Index c = 0; c < block.cols(); ++c) block(r, c) = random.normal();
    solvers::contact::ContactLaw law;
    law.gap = 0.1 * random.normal();
    law.mu = i == 2 ? 0 : random.uniform(0.1, 1);
    law.frictionless = i == 3;
    program.contacts.push_back(law);
  }
  program.lower = VectorXd::Constant(8, -INFINITY);
  program.upper = VectorXd::Constant(8, INFINITY);
  program.lower(3) = -0.2, program.upper(3) = 0.4;
  program.upper(5) = 0.1;
  program.lower(7) = -1;  // prescribed: no row
  return program;
}

/// w for any z, by the law written out: δ from the balance of forces, then gaps and slips.
VectorXd law_of(const solvers::contact::ContactProgram& program, const contact::ContactProblem& problem,
                const VectorXd& z) {
  const auto cos = [&](int j) { return std::cos(2 * M_PI * j / program.rays); };
  const auto sin = [&](int j) { return program.rays == 2 ? 0.0 : std::sin(2 * M_PI * j / program.rays); };
  VectorXd pushed = VectorXd::Zero(8), w(z.size());
  Eigen::Index at = 3;
  const auto slides = [&](int i) { return i < 2; };
  for (int i = 0; i < 4; ++i) {
    const auto J = program.J.block(i);
    Eigen::Vector3d f(z(at++), 0, 0);
    for (int j = 0; slides(i) && j < program.rays; ++j, ++at) f += z(at) * Eigen::Vector3d(0, cos(j), sin(j));
    if (slides(i)) ++at;
    for (Eigen::Index c = 0; c < J.cols(); ++c) pushed(program.J.cols(i)[c]) += J.col(c).dot(f.head(J.rows()));
  }
  pushed(3) += z(at) - z(at + 1);
  pushed(5) -= z(at + 2);
  VectorXd delta = VectorXd::Zero(8);
  for (const int block : {0, 1}) {
    const int start = problem.Q.start(block), n = problem.Q.size(block);
    delta.segment(start, n) = problem.Q.block(block).inverse() * (pushed - problem.b).segment(start, n);
  }
  delta.segment(4, 3) = z.head(3);
  delta(7) = 0.3;
  w.head(3) = (problem.b - pushed).segment(4, 3);
  at = 3;
  for (int i = 0; i < 4; ++i) {
    const auto J = program.J.block(i);
    Eigen::Vector3d s = Eigen::Vector3d::Zero();
    for (Eigen::Index c = 0; c < J.cols(); ++c) s.head(J.rows()) += J.col(c) * delta(program.J.cols(i)[c]);
    const Eigen::Index first = at;
    w(at++) = program.contacts[i].gap + s(0);
    if (!slides(i)) continue;
    const Eigen::Index slip = first + 1 + program.rays;
    for (int j = 0; j < program.rays; ++j, ++at) w(at) = z(slip) + cos(j) * s(1) + sin(j) * s(2);
    w(at++) = program.contacts[i].mu * z(first) - z.segment(first + 1, program.rays).sum();
  }
  w(at) = delta(3) - program.lower(3);
  w(at + 1) = program.upper(3) - delta(3);
  w(at + 2) = program.upper(5) - delta(5);
  return w;
}

TEST(CoulombRows, AreTheLawForAnyForces) {
  Numbers random(3);
  for (int k = 0; k < 60; ++k) {
    const contact::ContactProblem problem = energy(random);
    const solvers::contact::ContactProgram program = contacts(random, k % 2 == 0 ? 4 : 6, k % 3 == 0);
    ForceResponse response;
    ASSERT_TRUE(response.from_energy(problem));
    response.prescribe(7, 0.3);
    CoulombRows rows;
    solvers::lcp::ComplementarityProgram lcp;
    rows.build(program, response, true, lcp);
    ASSERT_EQ(rows.size(), 3 + 2 * (program.rays + 2) + 2 + 3);
    EXPECT_EQ(lcp.free, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(rows.contact_of(0), -1);
    EXPECT_EQ(rows.contact_of(3), 0);
    EXPECT_EQ(rows.limit_of(rows.size() - 1), 5);

    const VectorXd z = random.vector(rows.size()).cwiseAbs();
    const VectorXd w = lcp.M * z + lcp.q, expected = law_of(program, problem, z);
    EXPECT_LT((w - expected).lpNorm<Eigen::Infinity>(), 1e-11 * (1 + expected.norm())) << k;

    // P z and δ move alike.
    VectorXd delta, moved;
    const VectorXd other = random.vector(rows.size()).cwiseAbs();
    rows.motion(response, z, delta);
    rows.motion(response, other, moved);
    const VectorXd change = lcp.motion * (other - z);
    EXPECT_NEAR(change.norm(), (moved - delta).norm(), 1e-11 * (1 + change.norm()));
  }
}

TEST(CoulombRows, ForcesAreThoseOfAPyramid) {
  Numbers random(4);
  const contact::ContactProblem problem = energy(random);
  const solvers::contact::ContactProgram program = contacts(random, 8, false);
  ForceResponse response;
  ASSERT_TRUE(response.from_energy(problem));
  CoulombRows rows;
  solvers::lcp::ComplementarityProgram lcp;
  rows.build(program, response, false, lcp);
  EXPECT_EQ(lcp.motion.size(), 0);
  VectorXd z = VectorXd::Zero(rows.size());
  z(3) = 10;  // f_n of contact 0, and two rays
  z(5) = 0.2 * program.contacts[0].mu;
  z(9) = 0.5 * program.contacts[0].mu;
  const auto f = rows.force(0, z);
  std::vector<double> beta;
  rows.append_pyramid(0, z, beta);
  ASSERT_EQ(beta.size(), 8u);
  double sum[3] = {};
  for (int j = 0; j < 8; ++j) {
    EXPECT_GE(beta[j], 0);
    sum[0] += beta[j];
    sum[1] += program.contacts[0].mu * std::cos(M_PI * j / 4) * beta[j];
    sum[2] += program.contacts[0].mu * std::sin(M_PI * j / 4) * beta[j];
  }
  for (std::size_t r = 0; r < 3; ++r) EXPECT_NEAR(sum[r], f[r], 1e-12);
}

}  // namespace coulomb_rows_test
}  // namespace deft::dynamics
