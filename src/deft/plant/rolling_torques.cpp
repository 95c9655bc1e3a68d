#include "deft/plant/rolling_torques.hpp"

#include <utility>

namespace deft::plant {

RollingTorques::RollingTorques(const scene::Scene& scene, Eigen::VectorXd joint_damping)
    : scene_(&scene),
      joint_damping_(std::move(joint_damping)),
      rolling_(scene),
      layout_(dynamics::second_order_layout(scene)),
      scratch_{.forces = Eigen::VectorXd(scene.nv())} {}

std::span<const dynamics::BodyTorque> RollingTorques::at(scene::SceneState& state, const Eigen::VectorXd& v,
                                                         const Eigen::VectorXd& u, double h) {
  torques_.clear();
  if (loads_.empty()) {
    rolling_.forget();
    return torques_;
  }
  scene_->model().mass_matrix(state.kinematics, M_);
  const dynamics::StepStart start{*scene_, state, v, u, 0, h, M_};
  layout_.clear(energy_);
  dynamics::add_springs(start, layout_, energy_);
  dynamics::add_joint_damping(start, joint_damping_, layout_, energy_);
  dynamics::add_momentum(start, scratch_.forces, layout_, energy_);
  rolling_.torques(loads_, state, v, h, energy_.Q, torques_);
  return torques_;
}

}  // namespace deft::plant
