#include "deft/dynamics/complementarity/stewart_trinkle.hpp"

namespace deft::dynamics {

StewartTrinkle::StewartTrinkle(const scene::Scene& scene)
    : ComplementarityStep(scene, Order::kSecond, second_order_layout(scene), joint_damping(scene)) {}

void StewartTrinkle::add_energy(const StepStart& start, contact::ContactProblem& problem) {
  add_second_order_terms(start, damping(), layout(), scratch(), problem);
}

}  // namespace deft::dynamics
