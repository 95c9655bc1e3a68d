#include "deft/dynamics/convex/convex_step.hpp"

#include "deft/core/stopwatch.hpp"
#include "deft/math/block_parts.hpp"

namespace deft::dynamics {

ConvexStep::ConvexStep(const scene::Scene& scene)
    : scene_(&scene),
      h_(required_step_length(scene)),
      damping_(joint_damping(scene)),
      layout_(first_order_layout(scene, scene.settings().step.dynamics == scene::Dynamics::kQuasidynamic)),
      solve_(scene),
      scratch_(scene.nv()) {
  for (const scene::Robot& robot : scene.robots()) {
    const double smallest = robot.stiffness.minCoeff();
    stiffness_min_ = stiffness_min_ > 0 ? std::min(stiffness_min_, smallest) : smallest;
  }
}

double ConvexStep::mass_factor(const scene::Object& object) const {
  // The field's rule: M_u ← M_u · min(K_a) T² / (max diag M_u · s), T = h. None, or s = 0 (solved with the true mass,
  // then not moved): true mass.
  const auto& s = scene_->settings().step.unactuated_mass_scale;
  const double T = object.damping ? 1 / *object.damping : h_;  // γ = 1/T
  if (!s || *s == 0 || stiffness_min_ == 0) return h_ / T;
  double largest = 0;
  for (int i = object.first_v; i < object.first_v + object.nv; ++i) {
    const int k = block_at(M_, i);
    largest = std::max(largest, M_.block(k).diagonal()(i - M_.start(k)));
  }
  return stiffness_min_ * T * h_ / (largest * *s);
}

void ConvexStep::fill_energy(const State& start, const Eigen::VectorXd& u, contact::ContactProblem& problem) {
  const scene::StepSettings& settings = scene_->settings().step;
  scene_->model().mass_matrix(solve_.state().kinematics, M_);
  mass_factors_.clear();
  for (const scene::Object& object : scene_->objects()) mass_factors_.push_back(mass_factor(object));

  layout_.clear(problem);
  const StepStart at{*scene_, solve_.state(), start.v, u, start.t, h_, M_};
  add_springs(at, layout_, problem);
  add_joint_damping(at, damping_, layout_, problem);
  add_object_inertia(at, mass_factors_, settings.dynamics == scene::Dynamics::kQuasistatic, layout_, problem);
  add_gravity(at, settings.robot_gravity, scratch_, problem);
  add_wrenches(at, jacobian_, problem);
}

void ConvexStep::step(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  check_start(*scene_, start, u);
  const Stopwatch watch;
  solve_.find_contacts(start.q, result);
  fill_energy(start, u, result.problem);
  const double certifying_us = solve_.solve(u, result);

  // s = 0: the objects stay where they are.
  const auto& s = scene_->settings().step.unactuated_mass_scale;
  if (s && *s == 0) {
    for (const scene::Object& object : scene_->objects()) result.delta.segment(object.first_v, object.nv).setZero();
  }
  scene_->model().integrate(start.q, result.delta, result.q_next);
  result.v_next.resize(0);
  result.step_us = watch.microseconds() - certifying_us;
  result.energy = quadratic_energy(result.program, result.solution.delta);
}

}  // namespace deft::dynamics
