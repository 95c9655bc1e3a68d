#pragma once
// Quasistatic bodies among impedance-controlled robots (Pang & Tedrake 2021, eq. 6), exact Coulomb friction with
// polygons:
//
//   K_a(u − q_a − δ_a) − (D_a/h)δ_a + J_aᵀf + λ_a + τ_a = 0   (robots; the source's 6b and 6c are once exchanged),
//   J_uᵀf + λ_u + τ_u = 0                                       (objects),
//   0 ≤ f_n ⟂ φ + J_nδ ≥ 0,   0 ≤ β ⟂ Γe + (J_tᵀD̂)ᵀδ ≥ 0,   0 ≤ Γ ⟂ μf_n − eᵀβ ≥ 0,
//
// λ the forces of joint limits. K_a ≻ 0 eliminates δ_a; δ_u stays, free: a mixed linear complementarity problem.

#include "deft/dynamics/complementarity/complementarity_step.hpp"

namespace deft::dynamics {

/// The step of this file's head. Momentum plays no part, whatever step.dynamics says: an object that nothing carries
/// leaves no solution. One object per thread: it keeps scratch and the last basis for warm starts.
class ImpedanceLcp final : public ComplementarityStep {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit ImpedanceLcp(const scene::Scene& scene);

 private:
  void add_energy(const StepStart& start, contact::ContactProblem& problem) override;
};

}  // namespace deft::dynamics
