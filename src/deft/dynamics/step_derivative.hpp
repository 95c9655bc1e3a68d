#pragma once
// The Jacobians of a step, all along world tangents (bodies: [θ, v]), at q and at q⁺.

#include <Eigen/Core>
#include <vector>

namespace deft::dynamics {

/// How derivatives are taken.
struct DerivativeOptions {
  bool configuration = true;  // false: only ∂/∂u, which needs no geometry
  /// Barrier weight 1/κ [J] ≥ 0 at which the gradient is taken where an exact step has none; 0: 1e-6 of the step's
  /// energy scale.
  double mu_gradient = 0;
  /// Neither forces in the world nor parameters of kind kOffset are asked for: half of the geometry is left out.
  bool motion_only = false;
};

/// The Jacobians of one step. Contacts in the order of StepResult::problem; their rows (n, t₁(, t₂)(, spin)) are
/// stacked.
struct StepDerivative {
  Eigen::MatrixXd A, B;                  // nv × nv, nv × nu
  Eigen::MatrixXd dforce_dq, dforce_du;  // Σ rows × nv, × nu: (f_n, f_t1, f_t2, f_spin) in the contact frame [N, N·m]
  Eigen::MatrixXd dforce_W_dq, dforce_W_du;  // 3 per contact: force on A in the world
  std::vector<int> first_row;                // of each contact in dforce_dq, dforce_du
  Eigen::MatrixXd A_v, dforce_dv;            // second order: ∂q⁺/∂v, ∂force/∂v (contact frame)
  Eigen::MatrixXd dv_dq, dv_dv, dv_du;       // second order: of v⁺
};

}  // namespace deft::dynamics
