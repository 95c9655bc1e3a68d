#include "deft/solvers/linear/tile_cholesky.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numeric>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "support/cube_heap.hpp"
#include "support/random_problems.hpp"

namespace deft::solvers::linear {
namespace tile_cholesky_test {

using deft::testing::RandomProblems;

TEST(TileCholesky, SolvesAsADenseFactorDoes) {
  RandomProblems random(11);
  TileCholesky factor;
  for (int round = 0; round < 40; ++round) {
    std::vector<int> sizes, first{0};
    const int tiles = random.integer(1, 30);
    for (int t = 0; t < tiles; ++t) {
      sizes.push_back(random.integer(1, 8));
      first.push_back(first.back() + sizes.back());
    }
    std::vector<std::pair<int, int>> pairs;
    const int edges = random.integer(0, 3 * tiles);
    for (int e = 0; e < edges && tiles > 1; ++e) {
      const int a = random.integer(0, tiles - 1), b = random.integer(0, tiles - 1);
      if (a != b) pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
    const auto coupled = pairs;
    Eigen::MatrixXd H = Eigen::MatrixXd::Zero(first.back(), first.back());
    for (int repeat = 0; repeat < 2; ++repeat) {  // the second time with the pattern kept
      factor.start(sizes, pairs);
      H.setZero();
      const auto add = [&](const std::vector<int>& cols) {
        const int n = static_cast<int>(cols.size());
        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> J(n + 1, n), S;
        for (Eigen::Index k = 0; k < J.size(); ++k) J.data()[k] = random.normal();
        S = J.transpose() * J;
        factor.add(n, cols.data(), S.data(), n);
        for (int r = 0; r < n; ++r) {
          for (int c = 0; c < n; ++c) H(cols[r], cols[c]) += S(r, c);
        }
      };
      const auto columns = [&](int t) {
        std::vector<int> cols(sizes[t]);
        std::iota(cols.begin(), cols.end(), first[t]);
        return cols;
      };
      for (int t = 0; t < tiles; ++t) add(columns(t));
      for (const auto& [a, b] : coupled) {
        std::vector<int> cols = columns(a);
        const std::vector<int> more = columns(b);
        cols.insert(cols.end(), more.begin(), more.end());
        add(cols);
      }
      factor.add_diagonal(0, 2.5);
      H(0, 0) += 2.5;
      Eigen::VectorXd b(first.back());
      for (double& x : b) x = random.normal();
      Eigen::VectorXd x = b;
      EXPECT_EQ(factor.factor(1e-16), 0);
      factor.solve(x.data());
      EXPECT_LE((H * x - b).norm(), 1e-9 * b.norm()) << "round " << round;
    }
  }
}

TEST(SparseIslands, AHeapOfBoxesRestsAndStaysSolvedWhenPushed) {
  contact::ContactProgram program = heap(4);  // one island of 384 columns
  for (const contact::FrictionModel model : {contact::FrictionModel::kPyramid, contact::FrictionModel::kCone}) {
    program.model = model;
    contact::ContactSolver solver;
    contact::ContactSolution solution;
    for (int step = 0; step < 3; ++step) {
      program.b[0 * 6 + 3] = 3.0 * step;
      program.b[40 * 6 + 4] = -2.0 * step;
      const contact::SolveInfo info = solver.solve(program, {}, solution);
      EXPECT_EQ(info.status, Status::kSolved) << "step " << step;
      EXPECT_LE(certify(program, solution).max_scaled(), 1e-8);
      double carried = 0;  // by the ground
      for (std::size_t i = 0; i < program.contacts.size(); ++i) {
        if (program.J.cols(static_cast<int>(i)).size() == 6) carried += solution.force[i][0];
      }
      double weight = 0;
      for (int k = 0; k < 64; ++k) weight += program.b[6 * k + 5];
      if (step == 0) {
        EXPECT_LE(solution.delta.norm(), 1e-9);
        EXPECT_NEAR(carried / weight, 1.0, 1e-8);
      }
    }
  }
}

}  // namespace tile_cholesky_test
}  // namespace deft::solvers::linear
