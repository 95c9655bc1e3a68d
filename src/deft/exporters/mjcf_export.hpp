#pragma once
// A scene as a model of MuJoCo.

#include <string>

#include "deft/exporters/exported.hpp"
#include "deft/scene/scene.hpp"

namespace deft::exporters {

/// Writes FOLDER/NAME.xml (MJCF; NAME is the scene's) and its meshes into FOLDER/assets: one body for each link, joints
/// with limits, armature and springs, what collides (group 3) and what is drawn (group 2), friction, position
/// actuators with the robots' stiffness K and the damping of plant::inner_loop_damping, force drives as motors, joints
/// that follow others, and the start as keyframe `start`. Pairs of geometries that MuJoCo's own rules would let collide
/// with another friction, or not, are excluded and stated. Contacts have the settings of plant::mujoco_contact at the
/// time step track.mujoco_step. Bodies without a mass, or with moments of inertia that no rigid body has, get those of
/// plant::principal_inertia.
/// @throws InputError naming what MuJoCo cannot hold: a half-space on a body that moves; files that cannot be written
/// as std::runtime_error.
Exported export_mjcf(const scene::Scene& scene, const std::string& folder);

}  // namespace deft::exporters
