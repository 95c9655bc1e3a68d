#pragma once
// Collision geometries in plain data: what is to be built, and what is told of it afterwards.

#include <Eigen/Core>
#include <string>

#include "deft/core/diagnostics.hpp"
#include "deft/math/rotation.hpp"
#include "deft/multibody/description/shape_spec.hpp"

namespace deft::collision {

/// One collision geometry before it is built: shape, body, and its pose in the body frame.
struct GeometryDescription {
  std::string name;  // "hand/link_3#collision_0"
  int body = -1;     // 0 = world
  RigidTransform X_BG = RigidTransform::Identity();
  multibody::ShapeSpec shape;
  SourceLocation where;
};

/// Facts about a built geometry, for reports.
struct GeometryInfo {
  std::string name;
  int body = -1;
  std::string kind;                         // "sphere", "box", …, "convex hull"
  int hull_vertices = 0;                    // meshes and prisms
  double mesh_volume = 0, hull_volume = 0;  // meshes
};

/// A point of a surface and the outward unit normal there.
struct SurfacePoint { Eigen::Vector3d p = Eigen::Vector3d::Zero(), n = Eigen::Vector3d::UnitZ(); };

}  // namespace deft::collision
