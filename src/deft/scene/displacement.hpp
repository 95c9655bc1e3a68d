#pragma once
// Displacements between configurations for loops that must not allocate.

#include <Eigen/Core>

#include "deft/multibody/model.hpp"

namespace deft::scene {

/// δ with q0 ⊕ δ = q1, rotations by Log: multibody::Model::difference into a vector that is there.
/// @param q0, q1  size nq, quaternions of unit norm.  @param delta  becomes size nv [rad, m]; no allocation when it has
/// that size.  @throws std::invalid_argument for a wrong size.
void difference(const multibody::Model& model, const Eigen::VectorXd& q0, const Eigen::VectorXd& q1,
                Eigen::VectorXd& delta);

}  // namespace deft::scene
