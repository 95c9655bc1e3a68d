#pragma once
// What should become of an object, in a few words.

#include <Eigen/Core>
#include <string_view>

#include "deft/math/rotation.hpp"

namespace deft::authoring {

/// A displacement of a body, in the world.
struct Displacement {
  Eigen::Vector3d rotation_W = Eigen::Vector3d::Zero();     // rotation vector about the body's origin [rad]
  Eigen::Vector3d translation_W = Eigen::Vector3d::Zero();  // of its origin [m]
  /// Where a body at `X_WB` is then.
  RigidTransform of(const RigidTransform& X_WB) const;
};

/// Reads `turn AXIS DEG` (AXIS: x, y or z of the world), `move X Y Z` [m] or `lift H` [m].
/// @throws InputError that says what is wrong and what is valid.
Displacement read_goal_text(std::string_view text);

}  // namespace deft::authoring
