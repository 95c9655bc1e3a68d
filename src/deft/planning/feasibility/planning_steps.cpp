#include "deft/planning/feasibility/planning_steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "deft/dynamics/energy_step.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/planning/feasibility/fingers.hpp"

namespace deft::planning {
namespace {

scene::Scene with_h(const scene::Scene& scene, double h) {
  return scene.with([h](scene::SceneSettings& settings) { settings.step.h = h; });
}

/// D/(hK) per joint; empty if no joint has damping.
Eigen::VectorXd lateness_of(const scene::Scene& scene, double h) {
  Eigen::VectorXd lateness = dynamics::joint_damping(scene);
  if (lateness.isZero(0)) return {};
  for (const scene::Robot& robot : scene.robots())
    lateness.segment(robot.first_u, robot.nu).array() /= h * robot.stiffness.array();
  return lateness;
}

}  // namespace

scene::Scene planning_scene(const scene::Scene& scene) {
  return scene.with([](scene::SceneSettings& settings) {
    settings.step.kappa = kInfinity;
    settings.step.forces = scene::Forces::kAny;
  });
}

Instant start_instant(const scene::Scene& scene, const Eigen::VectorXd& q, const Eigen::VectorXd& u) {
  return {q, u, std::vector<Eigen::VectorXd>(scene.settings().plan.refine.size(), q)};
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
  for (std::size_t i = 0; i < from.q_halved.size(); ++i)
    furthest = std::max(furthest, object_motion(scene, from.q_halved[i], to.q_halved[i]));
  return furthest;
}

PlanningSteps::HalvedSteps::HalvedSteps(const scene::Scene& base, int n)
    : substeps(n), scene(with_h(base, *base.settings().step.h / n)), model(dynamics::make_step_model(scene)) {}

PlanningSteps::PlanningSteps(const scene::Scene& scene, const Deadline* deadline)
    : scene_(&scene),
      deadline_(deadline),
      resting_(scene.settings().plan.refine.empty()
                   ? nullptr
                   : std::make_unique<scene::Scene>(with_h(scene, kRest * *scene.settings().step.h))),
      exact_(dynamics::make_step_model(scene)),
      smooth_(dynamics::make_step_model(resting_ ? *resting_ : scene)),
      differentiator_(resting_ ? *resting_ : scene) {
  for (const int substeps : scene.settings().plan.refine)
    halved_.push_back(std::make_unique<HalvedSteps>(scene, substeps));
  if (exact_->second_order())
    throw InputError({scene.spec().file, 0, 0}, "planning needs a model of first order; step.model: convex is one");
  if (scene.settings().step.model != scene::ModelKind::kConvex)
    throw InputError({scene.spec().file, 0, 0},
                     fmt::format("planning needs gradients, which step.model: {} has not; valid: convex",
                                 to_string(scene.settings().step.model)));
  if (scene.settings().step.friction_law == scene::FrictionLaw::kCoulomb)
    throw InputError({scene.spec().file, 0, 0},
                     "planning needs gradients, which step.friction_law: coulomb has not; valid: associated");
  for (const scene::Wrench& wrench : scene.wrenches()) {
    if (wrench.impulse || wrench.when || wrench.from > 0 || wrench.to < kInfinity)
      throw InputError(
          {scene.spec().file, 0, 0},
          "planning takes wrenches that act all the time only: no impulses, no `when:`, no `from:` above 0, no `to:`");
  }
  lateness_ = lateness_of(scene, h());
}

bool PlanningSteps::step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, Eigen::VectorXd& q_next) {
  if (is_over()) {
    q_next = q;
    return false;
  }
  ++solves_;
  exact_->step(q, u, result_);
  const bool usable = solvers::usable(result_.status);
  q_next = usable ? result_.q_next : q;
  return usable;
}

bool PlanningSteps::advance(const Instant& from, const Eigen::VectorXd& u, Instant& to) {
  if (!step(from.q, u, to.q)) return false;
  to.q_halved.resize(halved_.size());
  for (std::size_t i = 0; i < halved_.size(); ++i) {
    const int n = halved_[i]->substeps;
    to.q_halved[i] = from.q_halved[i];
    for (int k = 1; k <= n; ++k) {
      const double share = static_cast<double>(k) / n;
      if (is_over()) return false;
      ++solves_;
      halved_[i]->model->step(to.q_halved[i], k == n ? u : Eigen::VectorXd((1 - share) * from.u + share * u),
                              halved_result_);
      if (!solvers::usable(halved_result_.status)) return false;
      to.q_halved[i] = halved_result_.q_next;
    }
  }
  to.u = u;
  return true;
}

bool PlanningSteps::rest(Motion& motion) {
  constexpr double kRest_m = 1e-4;   // motion of the objects per step below which they rest
  constexpr double kArrived = 1e-4;  // [rad, m], what joints with damping may have left to go
  const int longest = checks_step_halving() ? kLongestRest : 10;  // shorter steps take longer to rest, by the damper
                                                                  // M/h
  Instant next;
  for (int k = 0; k < kLongestRest; ++k) {
    if (!advance(motion, motion.u, next)) return false;
    const bool arrived = left_to_go(motion, next) < kArrived;
    const bool rests = arrived && object_motion(*scene_, motion, next) < kRest_m;
    if (rests && k == 0) return true;  // nothing happens: that step is not needed
    static_cast<Instant&>(motion) = next;
    motion.commands.push_back(motion.u);
    if (rests || (arrived && k + 1 >= longest)) return true;
  }
  return true;
}

double PlanningSteps::left_to_go(const Instant& from, const Instant& to) const {
  if (!follows_late()) return 0;
  const auto left = [this](const Eigen::VectorXd& q_from, const Eigen::VectorXd& q_to) {
    const Eigen::VectorXd way = joint_positions(*scene_, q_to) - joint_positions(*scene_, q_from);
    return way.cwiseAbs().cwiseProduct(lateness_).maxCoeff();
  };
  double longest = left(from.q, to.q);
  for (std::size_t i = 0; i < from.q_halved.size(); ++i)
    longest = std::max(longest, left(from.q_halved[i], to.q_halved[i]));
  return longest;
}

bool PlanningSteps::smoothed_step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, double kappa,
                                  Eigen::VectorXd& q_next) {
  if (is_over()) {
    q_next = q;
    return false;
  }
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
  for (const auto& halved : halved_) halved->model->reset();
}

}  // namespace deft::planning
