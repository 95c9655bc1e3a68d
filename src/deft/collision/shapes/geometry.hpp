#pragma once
// Collision geometries in plain data: what is to be built, and what is reported of it afterwards.

#include <Eigen/Core>
#include <string>

#include "deft/core/diagnostics.hpp"
#include "deft/math/rotation.hpp"
#include "deft/multibody/description/shape_spec.hpp"

namespace deft::collision {

/// One collision geometry before it is built: shape, body, and its pose in the body frame.
struct GeometryDescription {
  std::string name;                                  // "hand/link_3#collision_0"
  int body = -1;                                     // 0 = world
  RigidTransform X_BG = RigidTransform::Identity();  // pose in the body frame
  multibody::ShapeSpec shape;                        // as the file states it
  SourceLocation where;                              // in the file, for messages
};

/// Facts about a built geometry, for reports.
struct GeometryInfo {
  std::string name;                         // of its description
  int body = -1;                            // 0 = world
  std::string kind;                         // "sphere", "box", …, "convex hull"
  int hull_vertices = 0;                    // meshes and prisms: number of corners
  double mesh_volume = 0, hull_volume = 0;  // meshes [m³]
};

/// A point of a surface and the outward unit normal there.
struct SurfacePoint {
  Eigen::Vector3d p = Eigen::Vector3d::Zero();   // [m]
  Eigen::Vector3d n = Eigen::Vector3d::UnitZ();  // outward, unit
};

}  // namespace deft::collision
