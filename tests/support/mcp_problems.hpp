#pragma once
// Nonlinear complementarity problems for tests: a problem from a lambda, and a judge of its own.

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "deft/solvers/mcp_newton.hpp"

namespace deft::testing {

/// values(z, F, J): F, and J unless null. @returns whether F is defined.
class LambdaMcp final : public solvers::McpFunction {
 public:
  using Values = std::function<bool(std::span<const double>, std::span<double>, solvers::McpJacobian*)>;
  LambdaMcp(int n, Values values, std::vector<int> free = {})
      : values_(std::move(values)), is_free_(static_cast<std::size_t>(n), 0), variables(static_cast<std::size_t>(n), 1.0), rows(variables) {
    for (const int i : free) is_free_[static_cast<std::size_t>(i)] = 1;
  }
  int size() const override { return static_cast<int>(is_free_.size()); }
  std::span<const char> is_free() const override { return is_free_; }
  std::span<const double> variable_scale() const override { return variables; }
  std::span<const double> row_scale() const override { return rows; }
  bool evaluate(std::span<const double> z, std::span<double> F, solvers::McpJacobian* jacobian) override {
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

/// max |F_i| of free rows, |min(z_i, F_i)| of the others, by its definition, in natural units of one.
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
      [M, q](std::span<const double> z, std::span<double> F, solvers::McpJacobian* J) {
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

}  // namespace deft::testing
