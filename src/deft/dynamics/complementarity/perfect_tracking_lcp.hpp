#pragma once
// Quasistatic bodies among robots that follow their commands perfectly (Pang & Tedrake 2021, eq. 1), exact Coulomb
// friction with polygons. δ_a = u − q_a is given; unknown are the objects' δ_u and the contact forces f:
//
//   J_uᵀf + λ_u + τ_u = 0,   0 ≤ f_n ⟂ φ + J_nδ ≥ 0,   0 ≤ β ⟂ Γe + (J_tᵀD̂)ᵀδ ≥ 0,   0 ≤ Γ ⟂ μf_n − eᵀβ ≥ 0,
//
// λ_u the forces of the objects' joint limits. Ill-posed by nature: a command may leave no motion (Infeasible) or
// several (NotUnique, with step.uniqueness: check).

#include "deft/dynamics/complementarity/complementarity_step.hpp"

namespace deft::dynamics {

/// The step of this file's head. Momentum plays no part, whatever step.dynamics says; nor do the robots' stiffness,
/// damping, gravity and joint limits. One object per thread: it keeps scratch and the last basis for warm starts.
class PerfectTrackingLcp final : public ComplementarityStep {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit PerfectTrackingLcp(const scene::Scene& scene);

 private:
  void add_energy(const StepStart& start, contact::ContactProblem& problem) override;
  double solve(const State& start, const Eigen::VectorXd& u, StepResult& result) override;

  Eigen::VectorXd delta_a_;  // u − q_a, size nu
};

}  // namespace deft::dynamics
