#include "deft/dynamics/convex/convex_second_order_step.hpp"

#include "deft/core/stopwatch.hpp"

namespace deft::dynamics {

ConvexSecondOrderStep::ConvexSecondOrderStep(const scene::Scene& scene)
    : scene_(&scene),
      h_(required_step_length(scene)),
      damping_(joint_damping(scene)),
      layout_(second_order_layout(scene)),
      solve_(scene),
      end_(scene.make_state()),
      at_rest_(Eigen::VectorXd::Zero(scene.nv())),
      scratch_{.forces = Eigen::VectorXd(scene.nv())} {}

void ConvexSecondOrderStep::fill_energy(const State& start, const Eigen::VectorXd& u,
                                        contact::ContactProblem& problem) {
  scene_->model().mass_matrix(solve_.state().kinematics, M_);
  const StepStart at{*scene_, solve_.state(), start.v.size() > 0 ? start.v : at_rest_, u, start.t, h_, M_};
  add_second_order_terms(at, damping_, layout_, scratch_, problem);
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
  scene_->update(result.q_next, end_);
  result.energy = mechanical_energy(*scene_, end_, result.v_next, u, M_);
}

}  // namespace deft::dynamics
