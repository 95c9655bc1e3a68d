#include "deft/dynamics/convex/convex_step.hpp"

#include <algorithm>

#include "deft/math/block_parts.hpp"

namespace deft::dynamics {

ConvexStep::ConvexStep(const scene::Scene& scene)
    : ConvexEnergyStep(scene, Order::kFirst,
                       first_order_layout(scene, scene.settings().step.dynamics == scene::Dynamics::kQuasidynamic)) {
  for (const scene::Robot& robot : scene.robots()) {
    const double smallest = robot.stiffness.minCoeff();
    stiffness_min_ = stiffness_min_ > 0 ? std::min(stiffness_min_, smallest) : smallest;
  }
}

double ConvexStep::mass_factor(const StepStart& start, const scene::Object& object) const {
  const auto& s = scene().settings().step.unactuated_mass_scale;
  const double T = object.damping ? 1 / *object.damping : h();  // γ = 1/T
  if (!s || stiffness_min_ == 0) return h() / T;
  double largest = 0;
  for (int i = object.first_v; i < object.first_v + object.nv; ++i) {
    const int k = block_at(start.M, i);
    largest = std::max(largest, start.M.block(k).diagonal()(i - start.M.start(k)));
  }
  return stiffness_min_ * T * h() / (largest * *s);
}

void ConvexStep::add_energy(const StepStart& start, contact::ContactProblem& problem) {
  const scene::StepSettings& settings = scene().settings().step;
  std::vector<double>& mass_factors = scratch().factors;
  mass_factors.clear();
  for (const scene::Object& object : scene().objects()) mass_factors.push_back(mass_factor(start, object));

  layout().clear(problem);
  add_springs(start, layout(), problem);
  add_joint_springs(start, layout(), problem);
  add_joint_damping(start, damping(), layout(), problem);
  add_object_inertia(start, mass_factors, settings.dynamics == scene::Dynamics::kQuasistatic, layout(), problem);
  add_gravity(start, settings.robot_gravity, scratch().forces, problem);
  add_wrenches(start, scratch().jacobian, problem);
}

double ConvexStep::solve(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  const double certifying_us = ConvexEnergyStep::solve(start, u, result);
  if (scene().settings().step.objects_move) return certifying_us;
  for (const scene::Object& object : scene().objects()) result.delta.segment(object.first_v, object.nv).setZero();
  return certifying_us;
}

}  // namespace deft::dynamics
