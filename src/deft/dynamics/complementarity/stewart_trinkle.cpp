#include "deft/dynamics/complementarity/stewart_trinkle.hpp"

#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/convex/convex_solve.hpp"

namespace deft::dynamics {

StewartTrinkle::StewartTrinkle(const scene::Scene& scene)
    : scene_(&scene),
      h_(required_step_length(scene)),
      damping_(joint_damping(scene)),
      layout_(second_order_layout(scene)),
      solve_(scene),
      end_(scene.make_state()),
      at_rest_(Eigen::VectorXd::Zero(scene.nv())),
      scratch_{.forces = Eigen::VectorXd(scene.nv())} {}

void StewartTrinkle::step(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  check_start(*scene_, start, u);
  const Stopwatch watch;
  const Eigen::VectorXd& v = start.v.size() > 0 ? start.v : at_rest_;
  solve_.find_contacts(start.q, result);
  scene_->model().mass_matrix(solve_.state().kinematics, M_);
  add_second_order_terms({*scene_, solve_.state(), v, u, start.t, h_, M_}, damping_, layout_, scratch_, result.problem);
  const double certifying_us = solve_.solve(nullptr, result);
  scene_->model().integrate(start.q, result.delta, result.q_next);
  if (solvers::usable(result.status)) {
    result.v_next = result.delta / h_;
  } else {
    result.v_next = v;
  }
  result.step_us = watch.microseconds() - certifying_us;
  scene_->update(result.q_next, end_);
  result.energy = mechanical_energy(*scene_, end_, result.v_next, u, M_);
}

}  // namespace deft::dynamics
