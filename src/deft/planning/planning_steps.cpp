#include "deft/planning/planning_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deft::planning {

scene::Scene planning_scene(const scene::Scene& scene) {
  scene::SceneSpec spec = scene.spec();
  spec.step.kappa = std::numeric_limits<double>::infinity();
  spec.step.forces = scene::Forces::kAny;
  Diagnostics repeated;  // what it warns of was said when `scene` was built
  return scene::Scene::build(std::move(spec), repeated);
}

Instant start_instant(const scene::Scene& scene, const Eigen::VectorXd& q, const Eigen::VectorXd& u) {
  return {q, u, std::vector<Eigen::VectorXd>(scene.spec().plan.refine.size(), q)};
}

double object_motion(const scene::Scene& scene, const Eigen::VectorXd& q_from, const Eigen::VectorXd& q_to) {
  constexpr double kTurn = 0.1;  // [m/rad]
  const multibody::Model& model = scene.model();
  const Eigen::VectorXd way = model.difference(q_from, q_to);
  double sum = 0;
  for (const scene::Object& object : scene.objects()) {
    for (int v = object.first_v; v < object.first_v + object.nv; ++v) {
      const double part = way(v) * (model.velocities()[v].unit == "m" ? 1 : kTurn);
      sum += part * part;
    }
  }
  return std::sqrt(sum);
}

double object_motion(const scene::Scene& scene, const Instant& from, const Instant& to) {
  double furthest = object_motion(scene, from.q, to.q);
  for (std::size_t i = 0; i < from.finer.size(); ++i)
    furthest = std::max(furthest, object_motion(scene, from.finer[i], to.finer[i]));
  return furthest;
}

scene::Scene PlanningSteps::with_h(const scene::Scene& scene, double h) {
  scene::SceneSpec spec = scene.spec();
  spec.step.h = h;
  Diagnostics repeated;
  return scene::Scene::build(std::move(spec), repeated);
}

PlanningSteps::Finer::Finer(const scene::Scene& base, int n)
    : substeps(n), scene(with_h(base, *base.spec().step.h / n)), model(dynamics::make_step_model(scene)) {}

PlanningSteps::PlanningSteps(const scene::Scene& scene)
    : scene_(&scene),
      resting_(scene.spec().plan.refine.empty()
                   ? nullptr
                   : std::make_unique<scene::Scene>(with_h(scene, kRest * *scene.spec().step.h))),
      exact_(dynamics::make_step_model(scene)),
      smooth_(dynamics::make_step_model(resting_ ? *resting_ : scene)),
      differentiator_(resting_ ? *resting_ : scene) {
  for (const int substeps : scene.spec().plan.refine) finer_.push_back(std::make_unique<Finer>(scene, substeps));
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

bool PlanningSteps::advance(const Instant& from, const Eigen::VectorXd& u, Instant& to) {
  if (!step(from.q, u, to.q)) return false;
  to.finer.resize(finer_.size());
  for (std::size_t i = 0; i < finer_.size(); ++i) {
    const int n = finer_[i]->substeps;
    to.finer[i] = from.finer[i];
    for (int k = 1; k <= n; ++k) {
      const double share = static_cast<double>(k) / n;
      ++solves_;
      finer_[i]->model->step(to.finer[i], k == n ? u : Eigen::VectorXd((1 - share) * from.u + share * u),
                             finer_result_);
      if (!solvers::usable(finer_result_.status)) return false;
      to.finer[i] = finer_result_.q_next;
    }
  }
  to.u = u;
  return true;
}

bool PlanningSteps::rest(Motion& motion) {
  constexpr double kRest_m = 1e-4;                    // motion of the objects per step below which they rest
  const int longest = refines() ? kLongestRest : 10;  // finer steps take longer, by the damper M/h
  Instant next;
  for (int k = 0; k < longest; ++k) {
    if (!advance(motion, motion.u, next)) return false;
    const double way = object_motion(*scene_, motion, next);
    if (way < kRest_m && k == 0) return true;  // nothing happens: that step is not needed
    static_cast<Instant&>(motion) = next;
    motion.commands.push_back(motion.u);
    if (way < kRest_m) return true;
  }
  return true;
}

bool PlanningSteps::smoothed_step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, double kappa,
                                  Eigen::VectorXd& q_next) {
  ++solves_;
  smooth_->set_kappa(resting_ ? kRest * kRest * kappa : kappa);
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
  for (const auto& finer : finer_) finer->model->reset();
}

}  // namespace deft::planning
