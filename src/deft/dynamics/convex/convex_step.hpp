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
#include "deft/dynamics/energy_terms.hpp"

namespace deft::dynamics {

/// The step of this file's head. One object per thread: it keeps scratch and the last solution for warm starts.
class ConvexStep final : public StepModel {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit ConvexStep(const scene::Scene& scene);

  using StepModel::step;
  void step(const State& start, const Eigen::VectorXd& u, StepResult& result) override;
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
  /// Q and b of the energy at `start` for the command u.
  void fill_energy(const State& start, const Eigen::VectorXd& u, contact::ContactProblem& problem);
  /// What M_u/h² is multiplied with: the rule of `unactuated_mass_scale`, and γh.
  double mass_factor(const scene::Object& object) const;

  const scene::Scene* scene_;
  double h_;
  double stiffness_min_ = 0;
  Eigen::VectorXd damping_;  // D_a per robot joint, size nu
  EnergyLayout layout_;
  ConvexSolve solve_;
  std::vector<double> mass_factors_;  // one per object
  BlockDiagonal M_;
  Eigen::VectorXd scratch_;
  std::vector<double> jacobian_;
};

}  // namespace deft::dynamics
