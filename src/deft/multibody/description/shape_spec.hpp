#pragma once
// Geometry as files state it: plain data. `collision` builds shapes from it, the viewer draws it.

#include <Eigen/Core>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace deft::multibody {

/// A ball; a point if its radius is 0.
struct SphereSpec {
  double radius = 0;  // [m] ≥ 0
};
/// A cuboid about its centre.
struct BoxSpec {
  Eigen::Vector3d size;  // full edge lengths [m]
};
/// A capsule along z.
struct CapsuleSpec {
  double radius = 0, length = 0;  // [m], length of the cylindrical part
};
/// A cylinder along z.
struct CylinderSpec {
  double radius = 0, length = 0;  // [m]
};
/// An ellipsoid.
struct EllipsoidSpec {
  Eigen::Vector3d radii;  // half axes along x, y, z [m]
};
/// A half-space, solid where normal·x ≤ offset.
struct HalfSpaceSpec {
  Eigen::Vector3d normal;  // unit, outward
  double offset = 0;       // [m]
};
/// A convex polygon in xy, extruded by ±height/2 along z.
struct PrismSpec {
  std::vector<Eigen::Vector2d> vertices;  // [m]
  double height = 0;                      // [m]
};
/// How a concave mesh becomes a union of convex parts.
struct DecompositionSpec {
  int parts = 0;            // at most so many ≥ 1; 0: as many as the concavity asks for
  double concavity = 0.05;  // of a part that is not cut again, in (0, 1]: the mesh is scaled to a cube of edge 2 for it
};
/// A mesh in a file (STL, OBJ, DAE). It collides as its convex hull unless it is decomposed.
struct MeshSpec {
  std::string path;                              // resolved
  Eigen::Vector3d scale{1, 1, 1};                // of the file's coordinates, along x, y, z; the result is in metres
  std::optional<DecompositionSpec> decompose{};  // collides as a union of convex parts
  bool is_convex = false;                        // or is meant to be: nothing is said where its hull is larger
};

/// Any of them.
using ShapeSpec =
    std::variant<SphereSpec, BoxSpec, CapsuleSpec, CylinderSpec, EllipsoidSpec, HalfSpaceSpec, PrismSpec, MeshSpec>;

}  // namespace deft::multibody
