#pragma once

#include <string>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/model.hpp"
#include "deft/scene/description/scene_spec.hpp"

namespace deft::scene {

/// The plane of motion: the scene's `plane`, or the one in which every velocity moves every body (rotation about its
/// normal only). Published q_sys files are planar when they ask for two rays, then yz. kSpace otherwise. Two rays in
/// space are an error.
Plane choose_plane(const WorldSpec& spec, const StepSettings& step, const multibody::Model& model,
                   const Eigen::VectorXd& q, Diagnostics& diagnostics);

/// For messages about scenes in space: the bodies that leave the plane that fewest leave, "'a', 'b'".
std::string bodies_in_space(const multibody::Model& model, const Eigen::VectorXd& q);

/// Unit normal whose cross product with the contact normal gives the tangent: xy → e_z, xz → e_y, yz → e_x.
Eigen::Vector3d plane_normal(Plane plane);

}  // namespace deft::scene
