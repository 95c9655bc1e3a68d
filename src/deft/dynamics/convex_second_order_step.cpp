#include "deft/dynamics/convex_second_order_step.hpp"

#include "deft/core/stopwatch.hpp"
#include "deft/math/block_parts.hpp"

namespace deft::dynamics {

ConvexSecondOrderStep::ConvexSecondOrderStep(const scene::Scene& scene)
    : scene_(&scene),
      h_(required_step_length(scene)),
      damping_(joint_damping(scene)),
      layout_(second_order_layout(scene)),
      solve_(scene),
      end_(scene.make_state()),
      at_rest_(Eigen::VectorXd::Zero(scene.nv())),
      scratch_(scene.nv()) {}

void ConvexSecondOrderStep::fill_energy(const State& start, const Eigen::VectorXd& u,
                                        contact::ContactProblem& problem) {
  scene_->model().mass_matrix(solve_.state().kinematics, M_);
  layout_.clear(problem);
  const StepStart at{*scene_, solve_.state(), start.v.size() > 0 ? start.v : at_rest_, u, start.t, h_, M_};
  add_springs(at, layout_, problem);
  add_joint_damping(at, damping_, layout_, problem);
  add_gravity(at, scene_->spec().step.robot_gravity, scratch_, problem);
  add_wrenches(at, jacobian_, problem);
  add_momentum(at, scratch_, layout_, problem);
}

void ConvexSecondOrderStep::step(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  check_start(*scene_, start, u);
  const Stopwatch watch;
  solve_.find_contacts(start.q, result);
  fill_energy(start, u, result.problem);
  const double certifying_us = solve_.solve(u, result);
  scene_->model().integrate(start.q, result.delta, result.q_next);
  if (solvers::usable(result.status)) {
    result.v_next = result.delta / h_;
  } else {
    result.v_next = start.v.size() > 0 ? start.v : at_rest_;
  }
  result.step_us = watch.microseconds() - certifying_us;
  result.energy = total_energy(result, u);
}

double ConvexSecondOrderStep::total_energy(const StepResult& result, const Eigen::VectorXd& u) {
  const multibody::Model& model = scene_->model();
  const Eigen::Vector3d& gravity_W = scene_->spec().gravity_W;
  scene_->update(result.q_next, end_);
  model.mass_matrix(end_.kinematics, M_);
  double energy = 0.5 * quadratic_form(M_, result.v_next);
  for (const scene::Object& object : scene_->objects()) {
    if (!object.frozen) energy += model.gravity_energy(end_.kinematics, gravity_W, object.model);
  }
  for (const scene::Robot& robot : scene_->robots()) {
    if (scene_->spec().step.robot_gravity) energy += model.gravity_energy(end_.kinematics, gravity_W, robot.model);
    const bool saturate = scene_->spec().step.effort_limits;
    for (int i = 0; i < robot.nu; ++i) {
      const double limit = saturate ? robot.effort_limit(i) : scene::kInfinity;
      energy += spring_energy(robot.stiffness(i), limit, u(robot.first_u + i) - result.q_next(robot.first_q + i));
    }
  }
  return energy;
}

}  // namespace deft::dynamics
