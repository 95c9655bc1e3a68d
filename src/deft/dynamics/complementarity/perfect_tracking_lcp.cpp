#include "deft/dynamics/complementarity/perfect_tracking_lcp.hpp"

#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/convex/convex_solve.hpp"

namespace deft::dynamics {

PerfectTrackingLcp::PerfectTrackingLcp(const scene::Scene& scene)
    : scene_(&scene),
      h_(required_step_length(scene)),
      layout_(first_order_layout(scene, false)),
      solve_(scene),
      no_damping_(Eigen::VectorXd::Zero(scene.nu())),
      held_(scene.nu()),
      scratch_{.forces = Eigen::VectorXd(scene.nv())} {}

void PerfectTrackingLcp::step(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  check_start(*scene_, start, u);
  const Stopwatch watch;
  solve_.find_contacts(start.q, result);
  scene_->model().mass_matrix(solve_.state().kinematics, M_);
  add_quasistatic_terms({*scene_, solve_.state(), start.v, u, start.t, h_, M_}, no_damping_, layout_, scratch_,
                        result.problem);
  const auto coordinates = scene_->command_coordinates();
  for (int i = 0; i < scene_->nu(); ++i) held_(i) = u(i) - start.q(coordinates[i]);
  const double certifying_us = solve_.solve(&held_, result);
  scene_->model().integrate(start.q, result.delta, result.q_next);
  result.v_next.resize(0);
  result.step_us = watch.microseconds() - certifying_us;
  result.energy = quadratic_energy(result.program, result.delta);
}

}  // namespace deft::dynamics
