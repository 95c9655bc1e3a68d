#pragma once
// The convex second-order step (Anitescu 2006) on the cones and the solver of convex_step, in displacements δ = h v⁺:
//
//   δ* = argmin ½ δᵀQδ + bᵀδ  s.t. contact constraints and joint limits,
//   Q = M/h² (+ D_a/h + K_a on robots),  b = −(M v/h + τ − C(q, v)v + K_a(u − q_a)),  v⁺ = δ/h,  q⁺ = q ⊕ δ.

#include "deft/dynamics/convex/convex_solve.hpp"
#include "deft/dynamics/energy_terms.hpp"

namespace deft::dynamics {

/// The step of this file's head: state (q, v). One object per thread: it keeps scratch and the last solution for warm
/// starts. `step.dynamics` and `step.unactuated_mass_scale` belong to the model of first order; here masses are true.
class ConvexSecondOrderStep final : public StepModel {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit ConvexSecondOrderStep(const scene::Scene& scene);

  using StepModel::step;
  void step(const State& start, const Eigen::VectorXd& u, StepResult& result) override;
  bool second_order() const override { return true; }
  scene::SceneState* start_state() override { return &solve_.lend_state(); }
  void reset() override { solve_.forget(); }
  double kappa() const override { return solve_.kappa(); }
  void set_kappa(double kappa) override { solve_.set_kappa(kappa); }
  double h() const override { return h_; }
  const scene::Scene& scene() const override { return *scene_; }
  DerivativeReport differentiate(const State& start, const Eigen::VectorXd& u, const StepResult& result,
                                 const DerivativeOptions& options, StepDerivative& out) override {
    return solve_.differentiate(start, u, result, options, out);
  }

 private:
  void fill_energy(const State& start, const Eigen::VectorXd& u, contact::ContactProblem& problem);

  const scene::Scene* scene_;
  double h_;
  Eigen::VectorXd damping_;  // D_a per robot joint, size nu
  EnergyLayout layout_;
  ConvexSolve solve_;
  scene::SceneState end_;
  Eigen::VectorXd at_rest_;  // v = 0
  BlockDiagonal M_;
  TermScratch scratch_;
};

}  // namespace deft::dynamics
