#pragma once
// The Newton step of a horizon program: quadratic forms in (x, u_{−1}, u) per stage, coupled by dynamics.

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <vector>

#include "deft/solvers/horizon_qp.hpp"

namespace deft::solvers {

/// A vector on the variables of a stage: the state, the input before, the input.
struct StageVector {
  Eigen::VectorXd x, p, u;
};

/// A symmetric form on the variables of a stage. The last stage has none in u.
struct StageForm {
  Eigen::MatrixXd xx, xp, pp, xu, pu, uu;
};

/// Minimises Σ ½zᵀH z + gᵀz over z = (x, p, u) with x⁺ = A x + B u, p⁺ = u and x_0 = 0, p_0 = 0, by the recursion
///   V_t(x, p) = min_u ½zᵀH_t z + g_tᵀz + V_{t+1}(A x + B u, u).
class HorizonRiccati {
 public:
  /// The matrices of the recursion, which do not depend on g. @returns false if a stage is not convex in u.
  bool factor(const HorizonQp& qp, const std::vector<StageForm>& H);
  /// The minimiser for gradients `g`. factor() must have succeeded with the same `qp`.
  void solve(const HorizonQp& qp, const std::vector<StageVector>& g, std::vector<StageVector>& step);
  /// u = … + K x of stage t: nu × nx.
  Eigen::MatrixXd feedback(int t) const { return -K_[static_cast<std::size_t>(t)].leftCols(nx_); }

 private:
  Eigen::Index nx_ = 0;
  std::vector<Eigen::LLT<Eigen::MatrixXd>> uu_;
  std::vector<Eigen::MatrixXd> K_;  // H_uu⁻¹ [H_ux H_up]
  std::vector<Eigen::VectorXd> k_;  // H_uu⁻¹ g_u
  Eigen::MatrixXd Pxx_, Pxp_, Ppp_, AB_, PAB_, right_;
};

}  // namespace deft::solvers
