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
#include "deft/dynamics/energy_terms.hpp"

namespace deft::dynamics {

/// The step of this file's head. Impacts are inelastic along the normal. One object per thread: it keeps scratch and
/// the last basis for warm starts.
class StewartTrinkle final : public StepModel {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit StewartTrinkle(const scene::Scene& scene);

  using StepModel::step;
  void step(const State& start, const Eigen::VectorXd& u, StepResult& result) override;
  bool second_order() const override { return true; }
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
  scene::SceneState end_;
  Eigen::VectorXd at_rest_;  // v = 0
  BlockDiagonal M_;
  TermScratch scratch_;
};

}  // namespace deft::dynamics
