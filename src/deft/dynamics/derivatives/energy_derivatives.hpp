#pragma once
// Derivatives of the energy's gradient Qδ + b at fixed δ, one function per term of the convex step.

#include "deft/dynamics/step_model.hpp"

namespace deft::dynamics {

/// Where the derivatives are taken.
struct EnergyPoint {
  const scene::Scene& scene;     // of the step
  scene::SceneState& state;      // updated at q, the start of the step
  const StepResult& result;      // for Q and b
  const Eigen::VectorXd& u;      // commands (joint targets), size nu
  const Eigen::VectorXd& delta;  // δ, size nv [rad, m]
  double h, t;                   // step length and time at the start [s]
  const Eigen::VectorXd& v;      // size nv in models of second order, otherwise empty
  /// Whether velocities are part of the state.
  bool second_order() const { return v.size() > 0; }
};

/// The factor by which a step of first order multiplies an object's M_u/h²: γh if `step.object_damping` states γ, and
/// by the rule of `unactuated_mass_scale: s` M_u ← M_u · min(K_a)/(γ² s · max diag M_u), γ = 1/h if none is stated.
struct MassRule {
  bool applies = false;  // whether `factor` contains the scale s; otherwise the next two are −1
  int largest = -1;      // velocity index of the largest diagonal entry
  int softest = -1;      // command of the smallest stiffness
  double factor = 1;     // of M_u/h² [-]
};
/// The mass rule of one object. @param M  mass matrix at q, nv × nv.  @param h  step length [s].
MassRule mass_rule(const scene::Scene& scene, const scene::Object& object, const Eigen::MatrixXd& M, double h);

/// Jacobians of the energy's gradient. Keeps scratch: no allocation when what it fills has the right size. One object
/// per thread.
class EnergyDifferentiator {
 public:
  explicit EnergyDifferentiator(const scene::Scene& scene);  // must outlive this object
  /// @param by_q  ∂(Qδ + b)/∂q, nv × nv: springs, rotating inertia (with its scale) or momentum, gravity, wrenches.
  /// @param by_v  ∂(Qδ + b)/∂v, nv × nv: −M/h and what the velocity-dependent forces do; untouched by models of first
  ///              order.
  void jacobians(const EnergyPoint& at, Eigen::MatrixXd& by_q, Eigen::MatrixXd& by_v);

 private:
  void add_inertia(const EnergyPoint& at, Eigen::MatrixXd& out);
  void add_inertia(const EnergyPoint& at, std::span<const scene::Object> objects, Eigen::MatrixXd& out);
  void add_momentum(const EnergyPoint& at, Eigen::MatrixXd& by_q, Eigen::MatrixXd& by_v);
  void add_object_damping(const EnergyPoint& at, Eigen::MatrixXd& out);

  const scene::Scene* scene_;
  bool objects_are_separate_ = true;  // no object carries another
  Eigen::MatrixXd M_, part_;
  Eigen::VectorXd y_;
};

/// −∂(Qδ + b)/∂u along the actuated velocities: the stiffnesses, 1 for joints driven by forces, size nu.
Eigen::VectorXd command_stiffness(const scene::Scene& scene);
/// ∂(Qδ + b)/∂h, size nv.
Eigen::VectorXd energy_step_length_rate(const EnergyPoint& at);
/// ∂(Qδ + b)/∂m of object `object`, whose inertia grows in proportion to its mass, size nv.
Eigen::VectorXd energy_mass_rate(const EnergyPoint& at, int object);
/// ∂(Qδ + b)/∂K of the joint of command `command`, as if its spring did not saturate, size nv.
/// @throws std::invalid_argument for a joint that is driven by forces.
Eigen::VectorXd energy_stiffness_rate(const EnergyPoint& at, int command);

}  // namespace deft::dynamics
