#pragma once
// Masses as MuJoCo needs them: one inertia per group of welded links, along its principal axes, never zero.

#include <Eigen/Core>
#include <string>

#include "deft/multibody/kinematic_tree.hpp"
#include "deft/scene/scene.hpp"

namespace deft::plant {

/// Mass, centre of mass and inertia about it of a group of welded links, in the group's frame [kg, m, kg m²].
multibody::InertialSpec group_inertial(const multibody::KinematicTree& tree, int group);

/// Mass and principal moments at X_GI: axes along the moments, origin in the centre of mass.
struct PrincipalInertia {
  double mass = 0;                                    // [kg]
  Eigen::Vector3d moments = Eigen::Vector3d::Zero();  // [kg m²]
  RigidTransform X_GI = RigidTransform::Identity();   // principal frame in the group's
  std::string note;                                   // what was raised, as a note; empty: nothing
};

/// Of a group that moves, with lower bounds on what MuJoCo divides by (1e-9 kg, 1e-12 kg m²). Where the group turns
/// about one fixed direction n at most, only nᵀIn has a part in the motion, and all three moments become that: files
/// state inertias of planar bodies that no solid has.
/// @param start  updated at a configuration.
PrincipalInertia principal_inertia(const scene::Scene& scene, const scene::SceneState& start,
                                   const multibody::KinematicTree& tree, int group,
                                   const multibody::InertialSpec& inertial);

/// The diagonal of an object's own mass matrix, size nv, if it is diagonal and the same in all configurations; else
/// empty. Axis joints only.
Eigen::VectorXd constant_inertia(const scene::Scene& scene, const scene::Object& object);

}  // namespace deft::plant
