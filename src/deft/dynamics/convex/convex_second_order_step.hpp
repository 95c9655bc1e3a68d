#pragma once
// The convex second-order step (Anitescu 2006) on the cones and the solver of convex_step, in displacements δ = h v⁺:
//
//   δ* = argmin ½ δᵀQδ + bᵀδ  s.t. contact constraints and joint limits,
//   Q = M/h² (+ D_a/h + K_a on robots),  b = −(M v/h + τ − C(q, v)v + K_a(u − q_a)),  v⁺ = δ/h,  q⁺ = q ⊕ δ.

#include "deft/dynamics/convex/convex_solve.hpp"

namespace deft::dynamics {

/// The step of this file's head: state (q, v). One object per thread: it keeps scratch and the last solution for warm
/// starts. `step.dynamics` and `step.unactuated_mass_scale` belong to the model of first order; here masses are true.
class ConvexSecondOrderStep final : public ConvexEnergyStep {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit ConvexSecondOrderStep(const scene::Scene& scene);

 private:
  void add_energy(const StepStart& start, contact::ContactProblem& problem) override;
};

}  // namespace deft::dynamics
