#pragma once
// The convex quasistatic / quasidynamic step (Pang & Tedrake 2021, eq. 10; smoothed as in Pang 2022), in energy form:
//
//   δ* = argmin ½ δᵀQδ + bᵀδ  s.t. contact constraints and joint limits,
//   Q = blkdiag(Q_u, K_a (+ D_a/h)),  b = −[τ_u; K_a(u − q_a) + τ_a],  Q_u = M_u/h² · scale (quasidynamic) or 0 (quasistatic).

#include "deft/contact/assemble.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/solvers/contact_solver.hpp"

namespace deft::dynamics {

/// The step of this file's head. One object per thread: it keeps scratch and the last solution for warm starts.
class ConvexStep final : public StepModel {
 public:
  /// @throws InputError when the scene has no step length or asks for an option that this model does not have.
  explicit ConvexStep(const scene::Scene& scene);

  void step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, StepResult& result) override;
  void reset() override { solver_.forget(); }
  double h() const override { return h_; }
  const scene::Scene& scene() const override { return *scene_; }

 private:
  /// Q and b of the waist at q for the command u.
  void fill_energy(const Eigen::VectorXd& q, const Eigen::VectorXd& u, contact::ContactProblem& problem);
  /// Object blocks of the mass matrix, scaled by the rule of `unactuated_mass_scale`.
  double mass_factor(const scene::Object& object) const;
  /// The solver's program from the waist.
  void make_program(const Eigen::VectorXd& q, const contact::ContactProblem& problem, solvers::ContactProgram& program) const;

  const scene::Scene* scene_;
  scene::StepSettings settings_;
  double h_;
  double stiffness_min_;
  Eigen::VectorXd damping_;          // D_a per robot joint, size nu
  contact::Assembler assembler_;
  scene::SceneState state_;
  solvers::ContactSolver solver_;
  solvers::SolverSettings solver_settings_;
  Eigen::MatrixXd M_;
  Eigen::VectorXd tau_gravity_;
};

}  // namespace deft::dynamics
