#include "deft/planning/feasibility/world.hpp"

#include <fmt/format.h>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/planning/feasibility/joint_limits.hpp"

namespace deft::planning {
namespace {

constexpr double kReachPace = 0.8;  // of stated limits, beside objects

}  // namespace

World halved_world(const scene::Scene& planning_scene, int n) {
  scene::Scene fine = planning_scene.with([n](scene::SceneSettings& settings) { *settings.step.h /= n; });
  return {.name = fmt::format("h/{}", n), .scene = std::move(fine), .substeps = n};
}

Ensemble halved_ensemble(const scene::Scene& planning_scene) {
  Ensemble ensemble;
  for (const int n : planning_scene.settings().plan.refine) ensemble.worlds.push_back(halved_world(planning_scene, n));
  const JointSpeeds speeds = joint_speeds(planning_scene);
  if (speeds.any_stated()) {
    ensemble.longest_free = *planning_scene.settings().step.h * speeds.stated;
    ensemble.longest_reach = kReachPace * ensemble.longest_free;
    ensemble.longest_step = kMovingPace * ensemble.longest_free;
  }
  return ensemble;
}

WorldSteps::WorldSteps(const World& world, const Deadline* deadline)
    : world_(&world), deadline_(deadline), model_(dynamics::make_step_model(world.scene)) {}

bool WorldSteps::advance(const Eigen::VectorXd& u_from, const Eigen::VectorXd& u_to, Eigen::VectorXd& q,
                         Eigen::VectorXd& v) {
  const int n = world_->substeps;
  state_.q = q;
  state_.v = v;
  for (int k = 1; k <= n; ++k) {
    const double share = static_cast<double>(k) / n;
    if (k == n)
      u_ = u_to;
    else
      u_ = (1 - share) * u_from + share * u_to;
    if (deadline_ != nullptr && deadline_->due()) return false;
    ++solves_;
    model_->step(state_, u_, result_);
    if (!solvers::usable(result_.status)) return false;
    state_.q.swap(result_.q_next);
    if (world_->second_order) state_.v.swap(result_.v_next);
  }
  q = state_.q;
  if (world_->second_order) v = state_.v;
  return true;
}

}  // namespace deft::planning
