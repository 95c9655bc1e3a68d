#include "deft/solvers/linear/delassus_factor.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <vector>

#include "support/random_problems.hpp"

namespace deft::solvers::linear {
namespace delassus_factor_test {

using deft::testing::RandomProblems;

TEST(DelassusFactor, FollowsRowsThatJoinAndLeave) {
  RandomProblems random(3);
  constexpr int n = 12;
  Eigen::MatrixXd G(40, n);
  for (Eigen::Index k = 0; k < G.size(); ++k) G.data()[k] = random.normal();
  for (int r = 1; r < 40; r += 7) G.row(r) = 2 * G.row(r - 1);  // dependent
  const Eigen::MatrixXd W = G * G.transpose();
  const Eigen::VectorXd a = W.col(3) + Eigen::VectorXd::Ones(40);
  DelassusFactor factor;
  factor.clear(n);
  std::vector<int> rows;
  int refused = 0;
  for (int step = 0; step < 1000; ++step) {
    if (!rows.empty() && (factor.full() || random.chance(0.45))) {
      const int k = random.integer(0, factor.size() - 1);
      factor.remove(k);
      rows.erase(rows.begin() + k);
    } else {
      const int r = random.integer(0, 39);
      if (std::find(rows.begin(), rows.end(), r) != rows.end()) continue;
      std::vector<double> w;
      for (const int other : rows) w.push_back(W(other, r));
      if (factor.independent(w.data(), 0, W(r, r))) {
        factor.append(a[r]);
        rows.push_back(r);
      } else {
        ++refused;
        Eigen::VectorXd p(factor.size()), combination = G.row(r);
        factor.null_direction(p.data());
        for (int k = 0; k < factor.size(); ++k) combination += p[k] * G.row(rows[k]);
        EXPECT_LE(combination.norm(), 1e-9);
      }
    }
    const int size = factor.size();
    Eigen::MatrixXd W_AA(size, size);
    Eigen::VectorXd a_A(size), lambda(size);
    for (int k = 0; k < size; ++k) {
      a_A[k] = a[rows[k]];
      for (int j = 0; j < size; ++j) W_AA(k, j) = W(rows[k], rows[j]);
    }
    factor.solve(lambda.data());
    EXPECT_LE((W_AA * lambda - a_A).norm(), 1e-8 * (1 + a_A.norm())) << "step " << step;
    factor.solve_for(a_A.data());
    EXPECT_LE((a_A - lambda).norm(), 1e-7 * (1 + lambda.norm()));
  }
  EXPECT_GE(refused, 3);
}

}  // namespace delassus_factor_test
}  // namespace deft::solvers::linear
