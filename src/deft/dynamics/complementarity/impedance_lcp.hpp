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
#include "deft/dynamics/energy_terms.hpp"

namespace deft::dynamics {

/// The step of this file's head. Momentum plays no part, whatever step.dynamics says: an object that nothing carries
/// leaves no solution. One object per thread: it keeps scratch and the last basis for warm starts.
class ImpedanceLcp final : public StepModel {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit ImpedanceLcp(const scene::Scene& scene);

  using StepModel::step;
  void step(const State& start, const Eigen::VectorXd& u, StepResult& result) override;
  scene::SceneState* start_state() override { return &solve_.lend_state(); }
  void reset() override { solve_.forget(); }
  double kappa() const override { return kInfinity; }
  void set_kappa(double kappa) override { require_exact(*scene_, kappa); }
  double h() const override { return h_; }
  const scene::Scene& scene() const override { return *scene_; }

 private:
  const scene::Scene* scene_;
  double h_;
  Eigen::VectorXd damping_;  // D_a per robot joint, size nu
  EnergyLayout layout_;
  ComplementaritySolve solve_;
  BlockDiagonal M_;
  TermScratch scratch_;
};

}  // namespace deft::dynamics
