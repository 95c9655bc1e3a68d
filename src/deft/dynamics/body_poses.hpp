#pragma once

#include <Eigen/Core>
#include <array>
#include <span>
#include <vector>

#include "deft/dynamics/trajectory.hpp"
#include "deft/scene/scene.hpp"

namespace deft::dynamics {

/// A trajectory without states, with what does not depend on the motion: names, words of statuses, and per command the
/// coordinate that it is a target of (−1 for forces; none for velocities).
Trajectory named_trajectory(const scene::Scene& scene);

/// Poses as records hold them: [qw, qx, qy, qz, x, y, z] of each body in the world [m].
std::vector<std::array<double, 7>> body_poses(std::span<const RigidTransform> X_WB);

/// Poses of all bodies at q ⊕ δ, as body_poses gives them. @param state  scratch; it is updated to that configuration.
std::vector<std::array<double, 7>> poses_after(const scene::Scene& scene, const Eigen::VectorXd& q,
                                               const Eigen::VectorXd& delta, scene::SceneState& state);

/// Fills Trajectory::second_X_WB from second_delta, for runs that were recorded without it.
/// @throws std::invalid_argument if the scene is not that of the run (sizes of q and v, number of bodies).
void add_second_poses(const scene::Scene& scene, Trajectory& trajectory);

}  // namespace deft::dynamics
