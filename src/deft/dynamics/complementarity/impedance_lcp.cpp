#include "deft/dynamics/complementarity/impedance_lcp.hpp"

namespace deft::dynamics {

ImpedanceLcp::ImpedanceLcp(const scene::Scene& scene)
    : ComplementarityStep(scene, Order::kFirst, first_order_layout(scene, false), joint_damping(scene)) {}

void ImpedanceLcp::add_energy(const StepStart& start, contact::ContactProblem& problem) {
  add_quasistatic_terms(start, damping(), layout(), scratch(), problem);
}

}  // namespace deft::dynamics
