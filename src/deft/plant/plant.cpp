#include "deft/plant/plant.hpp"

#include <algorithm>
namespace deft::plant {

std::string_view to_string(PlantKind kind) {
  switch (kind) {
    case PlantKind::kQuasidynamic:
      return "quasidynamic";
    case PlantKind::kConvexSecondOrder:
      return "convex-second-order";
    case PlantKind::kStewartTrinkle:
      return "stewart-trinkle";
    case PlantKind::kMujoco:
      return "mujoco";
    case PlantKind::kDrake:
      return "drake";
  }
  return "";
}

std::string_view to_string(PlantStatus status) {
  switch (status) {
    case PlantStatus::kOk:
      return "Ok";
    case PlantStatus::kStepFailed:
      return "StepFailed";
    case PlantStatus::kDiverged:
      return "Diverged";
  }
  return "";
}

PlantOptions tracked_options(PlantKind kind, const scene::Scene& world, const scene::TrackSettings& settings,
                             double h) {
  return {
      .step = kind == PlantKind::kMujoco ? std::min(settings.plant_step, settings.mujoco_step) : settings.plant_step,
      .damping_ratio = settings.damping_ratio,
      .joint_lag = settings.joint_lag,
      .object_damping = object_damping(world, settings.object_damping, h)};
}

Eigen::VectorXd object_damping(const scene::Scene& scene, std::optional<double> stated, double h) {
  const auto objects = scene.objects();
  Eigen::VectorXd damping(static_cast<Eigen::Index>(objects.size()));
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  Eigen::VectorXd weight(scene.nv());
  scene.model().gravity_force(state.kinematics, scene.spec().gravity_W, weight);
  for (std::size_t k = 0; k < objects.size(); ++k) {
    const scene::Object& object = objects[k];
    const bool weighs =
        weight.segment(object.first_v, object.nv).norm() > 1e-9 * object.mass * scene.spec().gravity_W.norm();
    damping(static_cast<Eigen::Index>(k)) = stated.value_or(object.damping.value_or(weighs ? 0.0 : 1 / h));
  }
  return damping;
}

}  // namespace deft::plant
