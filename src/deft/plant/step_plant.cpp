#include "deft/plant/step_plant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "deft/dynamics/energy_step.hpp"
#include "deft/dynamics/energy_terms.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/plant/plant_parts.hpp"

namespace deft::plant {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kMostLengths = 4;  // of inner steps that are kept
constexpr double kRecovery_m_s = 0.02;   // what penetrates at a start is not kicked apart, as in other simulators
constexpr double kSameLength = 1e-9;     // relative: lengths that differ by less are one

/// How the plant steps the scene, but for the length of the step.
scene::SceneSettings plant_settings(PlantKind kind, const scene::Scene& scene, const PlantOptions& options) {
  scene::SceneSettings settings = scene.settings();
  scene::StepSettings& step = settings.step;
  step.kappa = kInfinity;
  step.uniqueness_check = false;
  // Of the limit surface's steps, or of long ones: inner steps are short.
  if (step.relinearize == scene::StepSettings::kUntilSettled || kind == PlantKind::kStewartTrinkle)
    step.relinearize = 0;
  if (kind == PlantKind::kQuasidynamic) {
    step.model = scene::ModelKind::kConvex;
    step.dynamics = scene::Dynamics::kQuasidynamic;
    step.object_damping = {};
    const double rate = 1 / dynamics::required_step_length(scene);
    for (const scene::Object& object : scene.objects())
      step.object_damping.list.push_back(object.damping.value_or(0) > 0 ? *object.damping : rate);
    return settings;
  }
  step.model =
      kind == PlantKind::kStewartTrinkle ? scene::ModelKind::kStewartTrinkle : scene::ModelKind::kConvexSecondOrder;
  if (kind == PlantKind::kStewartTrinkle) step.cone = scene::Cone::kPyramid;
  step.recovery_speed = std::min(step.recovery_speed, kRecovery_m_s);
  const VectorXd joints = inner_loop_damping(scene, options), objects = damping_of_objects(scene, options);
  step.joint_damping = {.list = {joints.data(), joints.data() + joints.size()}};
  step.object_damping = {.list = {objects.data(), objects.data() + objects.size()}};
  return settings;
}

class StepPlant final : public Plant {
 public:
  StepPlant(PlantKind kind, const scene::Scene& scene, const PlantOptions& options)
      : kind_(kind),
        scene_(&scene),
        options_(options),
        settings_(plant_settings(kind, scene, options)),
        start_(scene.make_state()),
        end_(scene.make_state()) {
    stepper(options.step);  // so that what the model refuses is reported at once
    reset({.q = scene.initial_configuration(), .v = scene.initial_velocity()}, VectorXd::Zero(scene.nu()));
  }

  std::string_view name() const override { return to_string(kind_); }
  const scene::Scene& scene() const override { return *scene_; }
  std::vector<std::string> settings() const override;
  void reset(const dynamics::State& start, const VectorXd& u) override;
  PlantStatus advance(const VectorXd& u, double period_s) override;
  const dynamics::State& state() const override { return state_; }
  void contacts(std::vector<dynamics::ContactRecord>& out) const override;
  double energy() const override { return energy_; }
  double residual() const override { return residual_; }

 private:
  /// The model for one length of step, with the copy of the scene that it works on.
  struct Stepper {
    double h = 0;
    std::unique_ptr<scene::Scene> scene;
    std::unique_ptr<dynamics::StepModel> model;
  };
  Stepper& stepper(double h);
  bool second_order() const { return kind_ != PlantKind::kQuasidynamic; }

  PlantKind kind_;
  const scene::Scene* scene_;
  PlantOptions options_;
  scene::SceneSettings settings_;
  std::vector<Stepper> steppers_;  // the last one used is the last
  dynamics::State state_;
  VectorXd u_last_, u_now_, q_before_;
  dynamics::StepResult result_, trial_;  // of the last step that succeeded, and of the one at work
  bool has_stepped_ = false;
  double energy_ = 0, residual_ = 0;
  mutable scene::SceneState start_, end_;  // of the last step, for its contacts
};

StepPlant::Stepper& StepPlant::stepper(double h) {
  const auto same = [h](const Stepper& s) { return std::abs(s.h - h) <= kSameLength * h; };
  const auto found = std::find_if(steppers_.begin(), steppers_.end(), same);
  if (found != steppers_.end()) {
    std::rotate(found, found + 1, steppers_.end());
    return steppers_.back();
  }
  if (steppers_.size() == kMostLengths) steppers_.erase(steppers_.begin());
  Stepper next{.h = h};
  scene::SceneSettings settings = settings_;
  settings.step.h = h;
  next.scene = std::make_unique<scene::Scene>(scene_->with(std::move(settings)));
  next.model = dynamics::make_step_model(*next.scene);
  steppers_.push_back(std::move(next));
  return steppers_.back();
}

void StepPlant::reset(const dynamics::State& start, const VectorXd& u) {
  check_state(*scene_, start);
  check_targets(*scene_, u);
  state_.q = start.q;
  state_.t = 0;
  if (!second_order())
    state_.v.resize(0);
  else if (start.v.size() > 0)
    state_.v = start.v;
  else
    state_.v.setZero(scene_->nv());
  u_last_ = u;
  has_stepped_ = false;
  residual_ = 0;
  for (Stepper& s : steppers_) s.model->reset();
  energy_ = std::numeric_limits<double>::quiet_NaN();
  if (!second_order()) return;
  BlockDiagonal M;
  scene_->update(state_.q, end_);
  energy_ = dynamics::mechanical_energy(*scene_, end_, state_.v, u, M);
}

PlantStatus StepPlant::advance(const VectorXd& u, double period_s) {
  check_targets(*scene_, u);
  const int n = inner_steps(period_s, options_.step);
  const double h = period_s / n, t0 = state_.t;
  dynamics::StepModel& model = *stepper(h).model;
  residual_ = 0;
  for (int k = 1; k <= n; ++k) {
    interpolate_targets(u_last_, u, k, n, u_now_);
    model.step(state_, u_now_, trial_);
    if (options_.on_step) options_.on_step(trial_, model);
    const bool good = solvers::usable(trial_.status) && trial_.q_next.allFinite() && trial_.v_next.allFinite();
    residual_ = std::max(residual_, trial_.certificate.max_scaled());
    if (!good) {
      u_last_ = u_now_;
      return PlantStatus::kStepFailed;
    }
    std::swap(result_, trial_);
    has_stepped_ = true;
    q_before_ = state_.q;
    state_.q = result_.q_next;
    state_.v = result_.v_next;
    state_.t = k == n ? t0 + period_s : t0 + k * h;
    if (second_order()) energy_ = result_.energy;
  }
  u_last_ = u;
  return PlantStatus::kOk;
}

void StepPlant::contacts(std::vector<dynamics::ContactRecord>& out) const {
  out.clear();
  if (!has_stepped_) return;
  scene_->update(q_before_, start_);
  scene_->update(state_.q, end_);
  steppers_.back().model->record_contacts(result_, start_.X_WB(), end_.X_WB(), out);
}

std::vector<std::string> StepPlant::settings() const {
  const scene::StepSettings& step = settings_.step;
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("inner step: {} s at most, model {}, exact contact", options_.step, scene::to_string(step.model)));
  if (step.cone != scene_->settings().step.cone)
    lines.push_back(fmt::format("friction: polygon of {} rays (the scene's is the cone)", step.rays));
  if (!second_order()) {
    lines.push_back(
        fmt::format("objects: resist motion by g M v, g = [{:.6g}] 1/s", fmt::join(step.object_damping.list, ", ")));
    return lines;
  }
  lines.push_back(fmt::format("joints: damping [{:.6g}] N s/m, N m s/rad", fmt::join(step.joint_damping.list, ", ")));
  lines.push_back(
      fmt::format("objects: damping [{:.6g}] 1/s, force -g M v", fmt::join(step.object_damping.list, ", ")));
  return lines;
}

}  // namespace

scene::Scene plant_scene(PlantKind kind, const scene::Scene& scene, const PlantOptions& options, double h) {
  check_options(scene, options);
  scene::SceneSettings settings = plant_settings(kind, scene, options);
  settings.step.h = h;
  return scene.with(std::move(settings));
}

std::unique_ptr<Plant> make_step_plant(PlantKind kind, const scene::Scene& scene, const PlantOptions& options) {
  check_options(scene, options);
  return std::make_unique<StepPlant>(kind, scene, options);
}

}  // namespace deft::plant
