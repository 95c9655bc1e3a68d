#include "deft/dynamics/body_poses.hpp"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

namespace deft::dynamics {

std::vector<std::array<double, 7>> body_poses(std::span<const RigidTransform> X_WB) {
  std::vector<std::array<double, 7>> poses;
  poses.reserve(X_WB.size());
  for (const RigidTransform& X : X_WB) {
    const Eigen::Vector4d quat = quat_wxyz_from_rotation(X.linear());
    const Eigen::Vector3d p = X.translation();
    poses.push_back({quat(0), quat(1), quat(2), quat(3), p.x(), p.y(), p.z()});
  }
  return poses;
}

std::vector<std::array<double, 7>> poses_after(const scene::Scene& scene, const Eigen::VectorXd& q, const Eigen::VectorXd& delta,
                                               scene::SceneState& state) {
  Eigen::VectorXd q_next;
  scene.model().integrate(q, delta, q_next);
  scene.update(q_next, state);
  return body_poses(state.X_WB());
}

void add_second_poses(const scene::Scene& scene, Trajectory& trajectory) {
  const auto require = [](const char* what, std::size_t run, int of_scene) {
    if (run != static_cast<std::size_t>(of_scene))
      throw std::invalid_argument(fmt::format("the run has {} {}, its scene {}", run, what, of_scene));
  };
  require("coordinates", trajectory.names_q.size(), scene.nq());
  require("velocities", trajectory.names_v.size(), scene.nv());
  require("bodies", trajectory.names_bodies.size(), static_cast<int>(scene.names_bodies().size()));
  scene::SceneState state = scene.make_state();
  trajectory.second_X_WB.assign(trajectory.second_delta.size(), {});
  for (std::size_t k = 0; k < trajectory.second_delta.size(); ++k) {
    const std::vector<double>&q = trajectory.q[k], &delta = trajectory.second_delta[k];
    if (delta.empty() || std::isnan(delta[0])) continue;
    trajectory.second_X_WB[k] = poses_after(scene, Eigen::Map<const Eigen::VectorXd>(q.data(), scene.nq()),
                                            Eigen::Map<const Eigen::VectorXd>(delta.data(), scene.nv()), state);
  }
}

}  // namespace deft::dynamics
