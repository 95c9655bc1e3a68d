#include "deft/dynamics/body_poses.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/solvers/status.hpp"

namespace deft::dynamics {

Trajectory named_trajectory(const scene::Scene& scene) {
  Trajectory trajectory;
  trajectory.names_q = scene.names_q();
  trajectory.names_v = scene.names_v();
  trajectory.names_u = scene.names_u();
  trajectory.names_bodies = scene.names_bodies();
  for (int i = 0; i < solvers::kNumStatuses; ++i)
    trajectory.status_words.emplace_back(solvers::to_string(static_cast<solvers::Status>(i)));
  if (!scene.velocity_commands())
    trajectory.u_index_q.assign(scene.command_coordinates().begin(), scene.command_coordinates().end());
  for (const scene::Robot& robot : scene.robots())
    if (robot.drive == scene::Drive::kForce && !trajectory.u_index_q.empty())
      std::fill_n(trajectory.u_index_q.begin() + robot.first_u, robot.nu, -1);
  return trajectory;
}

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

std::vector<std::array<double, 7>> poses_after(const scene::Scene& scene, const Eigen::VectorXd& q,
                                               const Eigen::VectorXd& delta, scene::SceneState& state) {
  Eigen::VectorXd q_next;
  scene.model().integrate(q, delta, q_next);
  scene.update(q_next, state);
  return body_poses(state.X_WB());
}

void add_second_poses(const scene::Scene& scene, Trajectory& trajectory) {
  const auto require = [](const char* what, std::size_t run, int of_scene) {
    if (run != to_size(of_scene))
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
