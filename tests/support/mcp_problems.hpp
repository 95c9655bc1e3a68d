#pragma once
// Nonlinear complementarity problems for tests: a problem from a lambda, and a check of its own.

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/solvers/mcp/mcp_solver.hpp"

namespace deft::testing {

/// values(z, F, J): F, and J unless null. @returns whether F is defined.
class LambdaMcp final : public solvers::mcp::McpFunction {
 public:
  using Values = std::function<bool(std::span<const double>, std::span<double>, solvers::mcp::McpJacobian*)>;
  LambdaMcp(int n, Values values, std::vector<int> free = {})
      : values_(std::move(values)), is_free_(to_size(n), 0), variables(to_size(n), 1.0), rows(variables) {
    for (const int i : free) is_free_[i] = 1;
  }
  int size() const override { return static_cast<int>(is_free_.size()); }
  std::span<const char> is_free() const override { return is_free_; }
  std::span<const double> variable_scale() const override { return variables; }
  std::span<const double> row_scale() const override { return rows; }
  bool evaluate(std::span<const double> z, std::span<double> F, solvers::mcp::McpJacobian* jacobian) override {
    ++evaluations;
    return values_(z, F, jacobian);
  }

 private:
  Values values_;
  std::vector<char> is_free_;

 public:
  std::vector<double> variables, rows;
  int evaluations = 0;
};

/// max |F_i| of free rows, |min(z_i, F_i)| of the others, by its definition, in units of one.
inline double mcp_error(LambdaMcp& problem, const std::vector<double>& z) {
  std::vector<double> F(z.size());
  if (!problem.evaluate(z, F, nullptr)) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double error = problem.is_free()[i] ? F[i] : std::min(z[i], F[i]);
    worst = std::max(worst, std::isfinite(error) ? std::abs(error) : std::numeric_limits<double>::infinity());
  }
  return worst;
}

/// F = Mz + q.
inline LambdaMcp linear_mcp(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, std::vector<int> free = {}) {
  return LambdaMcp(
      static_cast<int>(q.size()),
      [M, q](std::span<const double> z, std::span<double> F, solvers::mcp::McpJacobian* J) {
        const auto n = static_cast<Eigen::Index>(z.size());
        const Eigen::Map<const Eigen::VectorXd> at(z.data(), n);
        Eigen::Map<Eigen::VectorXd>(F.data(), n).noalias() = M * at + q;
        if (J != nullptr)
          for (Eigen::Index i = 0; i < n; ++i)
            for (Eigen::Index j = 0; j < n; ++j)
              if (M(i, j) != 0) J->add(static_cast<int>(i), static_cast<int>(j), M(i, j));
        return true;
      },
      std::move(free));
}

// Four quadratic rows: squares of z_0, products z_0 z_1, squares of z_1, then linear and constant terms.
inline LambdaMcp quadratic(const double (&c)[4][8]) {
  std::array<std::array<double, 8>, 4> rows;
  for (std::size_t i = 0; i < 4; ++i) std::copy_n(c[i], 8, rows[i].begin());
  return LambdaMcp(4, [rows](std::span<const double> z, std::span<double> F, solvers::mcp::McpJacobian* J) {
    for (int i = 0; i < 4; ++i) {
      const auto& r = rows[i];
      F[i] = r[0] * z[0] * z[0] + r[1] * z[0] * z[1] + r[2] * z[1] * z[1] + r[3] * z[0] + r[4] * z[1] + r[5] * z[2] +
             r[6] * z[3] + r[7];
      if (J == nullptr) continue;
      J->add(i, 0, 2 * r[0] * z[0] + r[1] * z[1] + r[3]);
      J->add(i, 1, r[1] * z[0] + 2 * r[2] * z[1] + r[4]);
      J->add(i, 2, r[5]);
      J->add(i, 3, r[6]);
    }
    return true;
  });
}

// M. Kojima, S. Shindo (1986): solutions (√6/2, 0, 0, 1/2), which is degenerate, and (1, 0, 3, 0).
inline LambdaMcp kojima_shindo() {
  return quadratic(
      {{3, 2, 2, 0, 0, 1, 3, -6}, {2, 0, 1, 1, 0, 10, 2, -2}, {3, 1, 2, 0, 0, 2, 9, -9}, {1, 0, 3, 0, 0, 2, 3, -3}});
}

// N. H. Josephy (1979): one solution, (√6/2, 0, 0, 1/2).
inline LambdaMcp josephy() {
  return quadratic(
      {{3, 2, 2, 0, 0, 1, 3, -6}, {2, 0, 1, 1, 0, 3, 2, -2}, {3, 1, 2, 0, 0, 2, 3, -1}, {1, 0, 3, 0, 0, 2, 3, -3}});
}

// F = A(z − s) + d (z − s)³ + w, A monotone, s ⟂ w: s is the only solution.
inline LambdaMcp monotone(int n, int free, unsigned seed, std::vector<double>& solution) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Eigen::MatrixXd B(n, n), S(n, n);
  for (Eigen::Index i = 0; i < B.size(); ++i) {
    B.data()[i] = normal(random);
    S.data()[i] = normal(random);
  }
  const Eigen::MatrixXd A = B * B.transpose() / n + S - S.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n);
  Eigen::VectorXd s(n), w = Eigen::VectorXd::Zero(n);
  std::vector<int> is_free;
  for (int i = 0; i < n; ++i) {
    s[i] = normal(random);
    if (i < free) {
      is_free.push_back(i);
    } else {
      w[i] = std::max(0.0, -s[i]);
      s[i] = std::max(0.0, s[i]);
    }
  }
  solution.assign(s.data(), s.data() + n);
  return LambdaMcp(
      n,
      [A, s, w](std::span<const double> z, std::span<double> F, solvers::mcp::McpJacobian* J) {
        const auto size = static_cast<Eigen::Index>(z.size());
        const Eigen::VectorXd d = Eigen::Map<const Eigen::VectorXd>(z.data(), size) - s;
        const Eigen::VectorXd value = A * d + (d.array().cube() * 0.5).matrix() + w;
        std::copy_n(value.data(), size, F.begin());
        if (J == nullptr) return true;
        for (int i = 0; i < size; ++i) {
          for (int j = 0; j < size; ++j) J->add(i, j, A(i, j));
          J->add(i, i, 1.5 * d[i] * d[i]);
        }
        return true;
      },
      is_free);
}

}  // namespace deft::testing
