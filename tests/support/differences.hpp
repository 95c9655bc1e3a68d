#pragma once
// Sixth-order central differences, the oracle of every derivative.

#include <Eigen/Core>

namespace deft::test {

/// f'(0) of a vector-valued f(ε):  (45 (f₁ − f₋₁) − 9 (f₂ − f₋₂) + f₃ − f₋₃)/(60 η). Truncation O(η⁶), rounding ≈ 1e-16
/// |f|/η.
template <typename Function>
Eigen::VectorXd difference(const Function& f, double eta) {
  const auto pair = [&](int k) -> Eigen::VectorXd { return f(k * eta) - f(-k * eta); };
  return (45.0 * pair(1) - 9.0 * pair(2) + pair(3)) / (60.0 * eta);
}

/// Largest entry of a − b against the largest of b.
inline double relative_error(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const double size = b.cwiseAbs().maxCoeff();
  return (a - b).cwiseAbs().maxCoeff() / (size > 0 ? size : 1.0);
}

}  // namespace deft::test
