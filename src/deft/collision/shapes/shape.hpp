#pragma once
// Shapes as the narrow phase needs them: a core (point, segment, polytope, cylinder, ellipsoid, half-space) and a
// radius around it.

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deft/collision/shapes/convex_set.hpp"
#include "deft/collision/shapes/geometry.hpp"
#include "deft/math/rotation.hpp"

namespace deft::collision {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Order matters: the pair functions are written for kind(A) ≤ kind(B).
enum class Kind : std::uint8_t { kSphere, kCapsule, kBox, kHull, kCylinder, kEllipsoid, kHalfSpace };
inline constexpr int kKinds = 7;  // number of kinds

/// A convex polytope with merged (polygonal) faces in the geometry's frame. A point has 1 vertex, a segment 2 vertices
/// and 1 edge.
struct Polytope {
  /// A polygon of the surface.
  struct Face {
    Vector3d normal = Vector3d::UnitZ();  // outward, unit
    double offset = 0;                    // the highest vertex along it
    int first = 0, count = 0;             // its corners, counter-clockwise seen from outside, in `corners`
  };
  /// The side that two faces share.
  struct Edge {
    int from = 0, to = 0;       // vertices
    int left = -1, right = -1;  // faces; −1 for a segment
  };
  std::vector<Vector3d> vertices;  // [m]
  std::vector<Face> faces;         // none for points and segments
  std::vector<Edge> edges;         // in the order in which the faces name them first
  std::vector<int> corners;        // vertex indices, face after face
  std::vector<int> corner_edges;   // the edge from this corner to the next one of the same face
};

/// Fills `edges` and `corner_edges` from `faces` and `corners`. @throws std::invalid_argument if an edge does not
/// belong to exactly two faces.
void connect_edges(Polytope& polytope);
/// The box of half sizes `half` [m]: 8 vertices, 12 edges, 6 faces −x, +x, −y, +y, −z, +z.
Polytope make_box_polytope(const Vector3d& half);
/// A convex polygon (counter-clockwise) extruded to ±half_height along z [m].
Polytope make_prism_polytope(const std::vector<Eigen::Vector2d>& polygon, double half_height);

/// A built geometry in its own frame; lengths in m.
struct Shape {
  Kind kind = Kind::kSphere;            // of the core with its radius
  double radius = 0;                    // added around the core: sphere, capsule
  Vector3d half = Vector3d::Zero();     // box: half sizes; capsule: (0, 0, half length); cylinder: (r, r, half length);
                                        // ellipsoid: radii
  Vector3d normal = Vector3d::UnitZ();  // half-space
  double offset = 0;                    // half-space: solid where normal · x ≤ offset
  Polytope core;                        // point, segment, box, hull; empty otherwise
  Vector3d centre = Vector3d::Zero();   // of the bounding sphere (with the radius)
  double bounding_radius = 0;           // infinite for a half-space
  Vector3d box_centre = Vector3d::Zero();  // of the bounding box in the geometry's frame (with the radius)
  Vector3d box_half = Vector3d::Zero();    // its half sizes; infinite for a half-space
};

/// Whether the core is a polytope (a point and a segment count).
inline bool has_polytope_core(Kind kind) { return kind <= Kind::kHull; }

/// Builds the shape of a description, reporting what is wrong with it; `info` gets kind, hull vertices and volumes.
/// The result is unusable if errors were reported.
Shape build_shape(const GeometryDescription& geometry, GeometryInfo& info, Diagnostics& diagnostics);

/// The shape as the intersection of convex inequalities; none for capsules and points.
std::optional<ConvexSet> make_convex_set(const Shape& shape);

/// A shape at a pose. `vertices` and `normals` are in the world and valid after transform_core only.
struct PosedShape {
  const Shape* shape = nullptr;          // not owned
  Matrix3d R_WG = Matrix3d::Identity();  // its frame in the world
  Vector3d p_WG = Vector3d::Zero();      // origin of that frame [m]
  std::vector<Vector3d> vertices;        // of the core polytope
  std::vector<Vector3d> normals;         // of its faces
  std::uint64_t stamp = 0;               // when vertices and normals were computed
  Vector3d centre = Vector3d::Zero();    // centre_W(), kept by the broad phase

  /// Vertices and normals keep the former pose until transform_core.
  void set_pose(const RigidTransform& X_WG) {
    R_WG = X_WG.linear();
    p_WG = X_WG.translation();
  }
  /// Computes `vertices` and `normals` at the pose. Allocates only to grow.
  void transform_core();
  /// Centre of the bounding sphere in the world [m].
  Vector3d centre_W() const { return p_WG + R_WG * shape->centre; }
};

/// The point of the core farthest along `direction` (world, any length > 0). Not for half-spaces.
Vector3d support_core(const PosedShape& posed, const Vector3d& direction);

/// Lower bound of the cores' signed distance:  s(n) = min_{x∈A} n·x − max_{y∈B} n·y  for any unit n from B to A; the
/// signed distance is its maximum over n.
double separation_along(const PosedShape& a, const PosedShape& b, const Vector3d& n);

/// What a pair function finds: signed distance and witness points of A and B (radii included), n from B to A.
struct Proximity {
  double distance = 0;                                      // [m], negative: penetration
  Vector3d n = Vector3d::UnitZ();                           // unit, world
  Vector3d p_A = Vector3d::Zero(), p_B = Vector3d::Zero();  // world [m], p_A − p_B = distance · n
};

}  // namespace deft::collision
