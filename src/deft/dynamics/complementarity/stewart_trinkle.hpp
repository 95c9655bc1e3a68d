#pragma once
// The second-order step of Stewart and Trinkle (1996), exact Coulomb friction with polygons, state (q, v):
//
//   M(v⁺ − v) = J_nᵀc_n + J_tᵀD̂β + h(τ − C(q, v)v),   q⁺ = q ⊕ h v⁺,
//   0 ≤ c_n ⟂ φ + J_n h v⁺ ≥ 0,   0 ≤ β ⟂ λe + (J_tᵀD̂)ᵀv⁺ ≥ 0,   0 ≤ λ ⟂ μc_n − eᵀβ ≥ 0,
//
// (with step.compliance R: 0 ≤ c_n ⟂ φ + J_n h v⁺ + R c_n/h ≥ 0)
// with τ the springs, forces and dampers of the robots at the end of the step, gravity and wrenches. In δ = h v⁺ and
// forces c/h it is the energy of convex_second_order_step under Coulomb's law; v⁺ is eliminated (Delassus form).

#include "deft/dynamics/complementarity/complementarity_step.hpp"

namespace deft::dynamics {

/// The step of this file's head. Impacts are inelastic along the normal. One object per thread: it keeps scratch and
/// the last basis for warm starts.
class StewartTrinkle final : public ComplementarityStep {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit StewartTrinkle(const scene::Scene& scene);

 private:
  void add_energy(const StepStart& start, contact::ContactProblem& problem) override;
};

}  // namespace deft::dynamics
