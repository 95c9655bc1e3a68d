#pragma once
// The convex quasistatic / quasidynamic step (Pang & Tedrake 2021, eq. 10; smoothed as in Pang 2022), in energy form:
//
//   δ* = argmin ½ δᵀQδ + bᵀδ  s.t. contact constraints and joint limits,
//   Q = blkdiag(Q_u, K_a (+ D_a/h)),  b = −[τ_u; K_a(u − q_a) + τ_a],  Q_u = M_u/h² · scale (quasidynamic) or 0
//   (quasistatic).
//
// Q_uδ = h · (M_u/h²)(δ/h): objects move as if −γ M_u v, γ = 1/h, resisted them. `step.object_damping` states another
// γ, and then steps of any length move them alike: Q_u = γ M_u/h · scale, with 1/γ for h in the rule of
// `unactuated_mass_scale`.

#include "deft/dynamics/convex/convex_solve.hpp"

namespace deft::dynamics {

/// The step of this file's head. One object per thread: it keeps scratch and the last solution for warm starts.
class ConvexStep final : public ConvexEnergyStep {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit ConvexStep(const scene::Scene& scene);

 private:
  void add_energy(const StepStart& start, contact::ContactProblem& problem) override;
  double solve(const State& start, const Eigen::VectorXd& u, StepResult& result) override;
  /// What M_u/h² is multiplied with: the rule of `unactuated_mass_scale`, and γh.
  double mass_factor(const StepStart& start, const scene::Object& object) const;

  double stiffness_min_ = 0;
};

}  // namespace deft::dynamics
