#include "deft/dynamics/complementarity/impedance_lcp.hpp"

#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/convex/convex_solve.hpp"

namespace deft::dynamics {

ImpedanceLcp::ImpedanceLcp(const scene::Scene& scene)
    : scene_(&scene),
      h_(required_step_length(scene)),
      damping_(joint_damping(scene)),
      layout_(first_order_layout(scene, false)),
      solve_(scene),
      scratch_{.forces = Eigen::VectorXd(scene.nv())} {}

void ImpedanceLcp::step(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  check_start(*scene_, start, u);
  const Stopwatch watch;
  solve_.find_contacts(start.q, result);
  scene_->model().mass_matrix(solve_.state().kinematics, M_);
  add_quasistatic_terms({*scene_, solve_.state(), start.v, u, start.t, h_, M_}, damping_, layout_, scratch_,
                        result.problem);
  const double certifying_us = solve_.solve(nullptr, result);
  scene_->model().integrate(start.q, result.delta, result.q_next);
  result.v_next.resize(0);
  result.step_us = watch.microseconds() - certifying_us;
  result.energy = quadratic_energy(result.program, result.delta);
}

}  // namespace deft::dynamics
