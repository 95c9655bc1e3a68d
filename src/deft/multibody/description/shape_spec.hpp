#pragma once
// Geometry as files state it: plain data. `collision` builds shapes from it, the viewer draws it.

#include <Eigen/Core>
#include <string>
#include <variant>
#include <vector>

namespace deft::multibody {

struct SphereSpec { double radius = 0; };                               // radius 0 is a point
struct BoxSpec { Eigen::Vector3d size; };                               // full edge lengths
struct CapsuleSpec { double radius = 0, length = 0; };                  // along z, length of the cylindrical part
struct CylinderSpec { double radius = 0, length = 0; };                 // along z
struct EllipsoidSpec { Eigen::Vector3d radii; };                        // half axes along x, y, z
struct HalfSpaceSpec { Eigen::Vector3d normal; double offset = 0; };    // solid where normal·x ≤ offset
struct PrismSpec { std::vector<Eigen::Vector2d> vertices; double height = 0; };  // convex polygon in xy, extruded by ±height/2 along z
struct MeshSpec { std::string path; Eigen::Vector3d scale{1, 1, 1}; };  // resolved file path (STL, OBJ, DAE)

using ShapeSpec = std::variant<SphereSpec, BoxSpec, CapsuleSpec, CylinderSpec, EllipsoidSpec, HalfSpaceSpec, PrismSpec, MeshSpec>;

}  // namespace deft::multibody
