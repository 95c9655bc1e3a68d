#include "deft/dynamics/convex/convex_second_order_step.hpp"

namespace deft::dynamics {

ConvexSecondOrderStep::ConvexSecondOrderStep(const scene::Scene& scene)
    : ConvexEnergyStep(scene, Order::kSecond, second_order_layout(scene)) {}

void ConvexSecondOrderStep::add_energy(const StepStart& start, contact::ContactProblem& problem) {
  add_second_order_terms(start, damping(), layout(), scratch(), problem);
}

}  // namespace deft::dynamics
