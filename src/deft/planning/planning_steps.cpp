#include "deft/planning/planning_steps.hpp"

#include <limits>

namespace deft::planning {

scene::Scene planning_scene(const scene::Scene& scene) {
  scene::SceneSpec spec = scene.spec();
  spec.step.kappa = std::numeric_limits<double>::infinity();
  spec.step.forces = scene::Forces::kAny;
  Diagnostics repeated;  // what it warns of was said when `scene` was built
  return scene::Scene::build(std::move(spec), repeated);
}

PlanningSteps::PlanningSteps(const scene::Scene& scene)
    : scene_(&scene),
      exact_(dynamics::make_step_model(scene)),
      smooth_(dynamics::make_step_model(scene)),
      differentiator_(scene) {
  if (exact_->second_order())
    throw InputError({scene.spec().file, 0, 0}, "planning needs a model of first order; step.model: convex is one");
  if (scene.spec().step.friction_law == scene::FrictionLaw::kCoulomb)
    throw InputError({scene.spec().file, 0, 0},
                     "planning needs gradients, which step.friction_law: coulomb has not; valid: associated");
  for (const scene::Wrench& wrench : scene.wrenches()) {
    if (wrench.impulse || wrench.from > 0 || wrench.to < scene::kInfinity)
      throw InputError({scene.spec().file, 0, 0},
                       "planning takes wrenches that act all the time only: no impulses, no `from:` above 0, no `to:`");
  }
}

bool PlanningSteps::step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, Eigen::VectorXd& q_next) {
  ++solves_;
  exact_->step(q, u, result_);
  const bool usable = solvers::usable(result_.status);
  q_next = usable ? result_.q_next : q;
  return usable;
}

bool PlanningSteps::smoothed_step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, double kappa,
                                  Eigen::VectorXd& q_next) {
  ++solves_;
  smooth_->set_kappa(kappa);
  smooth_->step(q, u, smoothed_);
  const bool usable = solvers::usable(smoothed_.status);
  q_next = usable ? smoothed_.q_next : q;
  return usable;
}

bool PlanningSteps::linearize(const Eigen::VectorXd& q, const Eigen::VectorXd& u, double kappa, Eigen::VectorXd& q_next,
                              Eigen::MatrixXd& B) {
  if (!smoothed_step(q, u, kappa, q_next)) return false;
  differentiator_.linearize(*smooth_, dynamics::State{.q = q}, u, smoothed_, {.configuration = false});
  differentiator_.jacobians(derivative_);
  B = derivative_.B;
  return true;
}

void PlanningSteps::reset() {
  exact_->reset();
  smooth_->reset();
}

}  // namespace deft::planning
