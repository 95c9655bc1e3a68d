#pragma once
// Quasistatic bodies among robots that follow their commands perfectly (Pang & Tedrake 2021, eq. 1), exact Coulomb
// friction with polygons. δ_a = u − q_a is given; unknown are the objects' δ_u and the contact forces f:
//
//   J_uᵀf + λ_u + τ_u = 0,   0 ≤ f_n ⟂ φ + J_nδ ≥ 0,   0 ≤ β ⟂ Γe + (J_tᵀD̂)ᵀδ ≥ 0,   0 ≤ Γ ⟂ μf_n − eᵀβ ≥ 0,
//
// λ_u the forces of the objects' joint limits. Ill-posed by nature: a command may leave no motion (Infeasible) or
// several (NotUnique, with step.uniqueness: check).

#include "deft/dynamics/complementarity/complementarity_step.hpp"
#include "deft/dynamics/energy_terms.hpp"

namespace deft::dynamics {

/// The step of this file's head. Momentum plays no part, whatever step.dynamics says; nor do the robots' stiffness,
/// damping, gravity and joint limits. One object per thread: it keeps scratch and the last basis for warm starts.
class PerfectTrackingLcp final : public StepModel {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit PerfectTrackingLcp(const scene::Scene& scene);

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
  EnergyLayout layout_;
  ComplementaritySolve solve_;
  Eigen::VectorXd no_damping_, held_;  // per command
  BlockDiagonal M_;
  TermScratch scratch_;
};

}  // namespace deft::dynamics
