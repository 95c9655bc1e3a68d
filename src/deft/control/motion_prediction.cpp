#include "deft/control/motion_prediction.hpp"

#include <algorithm>
#include <numeric>

#include "deft/core/index.hpp"
#include "deft/dynamics/energy_step.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/plant/plant.hpp"
#include "deft/plant/step_plant.hpp"

namespace deft::control {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// The scene with exact steps and whatever forces come first, of second order if it is to have momentum.
scene::Scene predicted_scene(const scene::Scene& scene, const scene::TrackSettings& track, bool has_momentum) {
  const scene::Scene exact = scene.with([](scene::SceneSettings& settings) {
    settings.step.kappa = kInfinity;
    settings.step.forces = scene::Forces::kAny;
    settings.step.uniqueness_check = false;
  });
  if (!has_momentum) return exact;
  const double h = dynamics::required_step_length(scene);
  plant::PlantOptions options;
  options.damping_ratio = track.damping_ratio;
  options.joint_lag = track.joint_lag;
  options.object_damping = plant::object_damping(scene, track.object_damping, h);
  return plant::plant_scene(plant::PlantKind::kConvexSecondOrder, exact, options, h);
}

}  // namespace

MotionPrediction::MotionPrediction(const scene::Scene& scene, const scene::TrackSettings& settings, int steps)
    : has_momentum_(settings.prediction == scene::TrackPrediction::kSecondOrder),
      scene_(predicted_scene(scene, settings, has_momentum_)),
      // A limited speed of recovery has no derivatives.
      smooth_scene_(scene_.with([](scene::SceneSettings& changed) { changed.step.recovery_speed = kInfinity; })),
      models_(to_size(steps)),
      beside_(dynamics::make_step_model(scene_)),
      differentiator_(smooth_scene_) {
  for (Models& models : models_) {
    models.exact = dynamics::make_step_model(scene_);
    models.smooth = dynamics::make_step_model(smooth_scene_);
    models.smooth->set_kappa(settings.kappa);
  }
}

void MotionPrediction::begin_at(const VectorXd& q, const VectorXd& v) {
  start_.q = q;
  if (!has_momentum_) return;
  if (v.size() > 0)
    start_.v = v;
  else
    start_.v.setZero(scene_.nv());
}

bool MotionPrediction::linearize(int k, const VectorXd& q, const VectorXd& v, const VectorXd& u, PredictedStep& step) {
  Models& models = models_[to_size(k)];
  begin_at(q, v);
  models.smooth->step(start_, u, smoothed_);
  if (!solvers::usable(smoothed_.status)) return false;
  find_largest_forces();
  differentiator_.linearize(*models.smooth, start_, u, smoothed_, {.motion_only = true});
  differentiator_.jacobians(watched_, derivative_);
  keep(step);
  if (!step.A.allFinite() || !step.B.allFinite() || !step.force_x.allFinite() || !step.force_u.allFinite())
    return false;
  return advance(*models.exact, u, step.q_next, has_momentum_ ? &step.v_next : nullptr);
}

bool MotionPrediction::advance(const VectorXd& q, const VectorXd& v, const VectorXd& u, VectorXd& q_next) {
  begin_at(q, v);
  return advance(*beside_, u, q_next, nullptr);
}

bool MotionPrediction::advance(dynamics::StepModel& exact, const VectorXd& u, VectorXd& q_next, VectorXd* v_next) {
  exact.step(start_, u, exact_);
  const bool ok = solvers::usable(exact_.status);
  q_next = ok ? exact_.q_next : start_.q;
  if (v_next != nullptr) *v_next = ok ? exact_.v_next : start_.v;
  return ok;
}

void MotionPrediction::find_largest_forces() {
  watched_.resize(smoothed_.problem.contacts.size());
  std::iota(watched_.begin(), watched_.end(), 0);
  const auto normal = [this](int i) { return smoothed_.solution.force[i][0]; };
  const auto kept = std::min<std::size_t>(watched_.size(), kWatchedContacts);
  std::partial_sort(watched_.begin(), watched_.begin() + static_cast<std::ptrdiff_t>(kept), watched_.end(),
                    [&](int a, int b) { return normal(a) != normal(b) ? normal(a) > normal(b) : a < b; });
  watched_.resize(kept);
}

void MotionPrediction::keep(PredictedStep& step) const {
  const Index nv = scene_.nv(), nu = scene_.nu(), nx = state_size();
  step.drift.setZero(nx);
  step.contacts = static_cast<int>(smoothed_.problem.contacts.size());
  step.A.resize(nx, nx), step.B.resize(nx, nu);
  step.A.topLeftCorner(nv, nv) = derivative_.A;
  step.B.topRows(nv) = derivative_.B;
  if (has_momentum_) {
    step.A.topRightCorner(nv, nv) = derivative_.A_v;
    step.A.bottomLeftCorner(nv, nv) = derivative_.dv_dq;
    step.A.bottomRightCorner(nv, nv) = derivative_.dv_dv;
    step.B.bottomRows(nv) = derivative_.dv_du;
  }
  step.num_forces = static_cast<Index>(watched_.size());
  step.force.setZero(kWatchedContacts);
  step.force_x.setZero(kWatchedContacts, nx);
  step.force_u.setZero(kWatchedContacts, nu);
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    const auto to = static_cast<Index>(k);
    const int row = derivative_.first_row[k];
    step.force(to) = smoothed_.solution.force[watched_[k]][0];
    step.force_x.row(to).head(nv) = derivative_.dforce_dq.row(row);
    if (has_momentum_) step.force_x.row(to).tail(nv) = derivative_.dforce_dv.row(row);
    step.force_u.row(to) = derivative_.dforce_du.row(row);
  }
}

}  // namespace deft::control
