#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace deft::collision {

/// One contact candidate between geometries A and B: one witness point on each, a common normal, a signed gap.
/// n points from B to A;  p_WA − p_WB = gap · nhat_BA_W for unreduced witness pairs;  gap < 0 is penetration.
struct ContactPair {
  int geometry_a = -1, geometry_b = -1;                  // indices into CollisionWorld::geometries()
  int body_a = -1, body_b = -1;                          // body_a < body_b is not guaranteed
  double gap = 0;                                        // [m]
  Eigen::Vector3d nhat_BA_W = Eigen::Vector3d::UnitZ();  // unit normal from B to A, world
  Eigen::Vector3d p_WA = Eigen::Vector3d::Zero(), p_WB = Eigen::Vector3d::Zero();  // witness points, world [m]
  std::uint64_t id = 0;  // stable across steps while the same features touch (pair and feature indices)
  double weight = 1.0;   // share of this point in its patch (sums to 1 per pair), for smoothed steps
};

}  // namespace deft::collision
