#include "deft/planning/feasibility/command_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "deft/math/dense.hpp"

namespace deft::planning {
namespace {

/// x = Bᵀ (B Bᵀ + λ I)⁻¹ e with λ raised until ‖x‖ ≤ radius:  ‖x‖² = Σ s_i c_i² / (s_i + λ)², c = Vᵀe, B Bᵀ = V S Vᵀ.
Eigen::VectorXd within_ball(const Eigen::MatrixXd& B, const Eigen::VectorXd& e, double lambda, double radius) {
  const SymmetricEigen eigen = symmetric_eigen(Eigen::MatrixXd(B * B.transpose()));
  const Eigen::ArrayXd s = eigen.values.array().max(0.0);
  // Directions that no command moves are left out: without weight on δu rounding would be divided by rounding there.
  const double least = 1e-14 * s.maxCoeff();
  const Eigen::ArrayXd c = (s > least).select((eigen.vectors.transpose() * e).array(), 0.0);
  const double tiny = std::numeric_limits<double>::min();  // 0/0 of those
  const auto norm_at = [&](double l) { return std::sqrt((s * (c / (s + l + tiny)).square()).sum()); };
  double at = lambda;
  if (norm_at(at) > radius) {
    // 1/‖x‖ is nearly linear in λ: Newton on it comes from the left and converges in a few steps.
    for (int i = 0; i < 50; ++i) {
      const double norm = norm_at(at);
      if (norm <= radius * (1 + 1e-9)) break;
      const double slope = -(s * c.square() / (s + at + tiny).cube()).sum() / norm;
      at += (norm / radius - 1) * norm / -slope;
    }
  }
  return B.transpose() * (eigen.vectors * (c / (s + at + tiny)).matrix());
}

}  // namespace

void nearest_command(const Eigen::MatrixXd& B, const Eigen::VectorXd& e, double lambda, const CommandBounds& bounds,
                     Eigen::VectorXd& du) {
  const Eigen::Index nu = B.cols();
  du.setZero(nu);
  std::vector<Eigen::Index> open(nu);
  for (Eigen::Index i = 0; i < nu; ++i) open[i] = i;
  Eigen::VectorXd left = e;
  double radius2 = bounds.norm * bounds.norm;
  while (!open.empty() && radius2 > 0) {
    const Eigen::VectorXd x = within_ball(B(Eigen::all, open), left, lambda, std::sqrt(radius2));
    std::vector<Eigen::Index> rest;
    for (std::size_t k = 0; k < open.size(); ++k) {
      const Eigen::Index i = open[k];
      const double clamped = std::clamp(x(static_cast<Eigen::Index>(k)), bounds.lower(i), bounds.upper(i));
      du(i) = clamped;
      if (clamped == x(static_cast<Eigen::Index>(k))) rest.push_back(i);
    }
    if (rest.size() == open.size()) return;
    // The others start again from zero, beside what is held.
    for (const Eigen::Index i : open) {
      if (std::find(rest.begin(), rest.end(), i) != rest.end()) continue;
      left -= B.col(i) * du(i);
      radius2 -= du(i) * du(i);
    }
    for (const Eigen::Index i : rest) du(i) = 0;
    open = std::move(rest);
  }
}

void clipped_command(const Eigen::MatrixXd& B, const Eigen::VectorXd& e, const CommandBounds& bounds,
                     Eigen::VectorXd& du) {
  du = LeastSquares(B).solve(e);
  const double norm = du.norm();
  if (norm > bounds.norm) du *= bounds.norm / norm;
  du = du.cwiseMax(bounds.lower).cwiseMin(bounds.upper);
}

}  // namespace deft::planning
