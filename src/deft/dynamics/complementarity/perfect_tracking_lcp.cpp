#include "deft/dynamics/complementarity/perfect_tracking_lcp.hpp"

namespace deft::dynamics {

PerfectTrackingLcp::PerfectTrackingLcp(const scene::Scene& scene)
    : ComplementarityStep(scene, Order::kFirst, first_order_layout(scene, false), Eigen::VectorXd::Zero(scene.nu())),
      delta_a_(scene.nu()) {}

void PerfectTrackingLcp::add_energy(const StepStart& start, contact::ContactProblem& problem) {
  add_quasistatic_terms(start, damping(), layout(), scratch(), problem);
}

double PerfectTrackingLcp::solve(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  const auto coordinates = scene().command_coordinates();
  for (int i = 0; i < scene().nu(); ++i) delta_a_(i) = u(i) - start.q(coordinates[i]);
  return solve_.solve(start.q, &delta_a_, result);
}

}  // namespace deft::dynamics
