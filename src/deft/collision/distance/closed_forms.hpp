#pragma once
// Pairs with a formula. In all of them n points from B to A and radii are included.

#include "deft/collision/shapes/shape.hpp"

namespace deft::collision {

/// Signed distance [m], normal and witness points of the named kinds, a of the first and b of the second; exact to
/// rounding, with a fixed normal where every one is right (equal centres). No allocation.
Proximity sphere_sphere(const PosedShape& a, const PosedShape& b);
Proximity sphere_capsule(const PosedShape& a, const PosedShape& b);   // by the nearest point of the axis
Proximity sphere_box(const PosedShape& a, const PosedShape& b);       // a centre inside: by the nearest face
Proximity sphere_cylinder(const PosedShape& a, const PosedShape& b);  // inside: by the side or the nearer cap
/// The nearest point of an ellipsoid: one root of Σ (e_i y_i/(t + e_i²))² = 1 in t > −min e_i², safeguarded Newton.
/// Source: D. Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid, 2013, §3.
Proximity sphere_ellipsoid(const PosedShape& a, const PosedShape& b);
/// By the nearest points of both axes; parallel ones take the middle of their overlap.
Proximity capsule_capsule(const PosedShape& a, const PosedShape& b);
/// B is the half-space, A is any other shape: by A's support point.
Proximity any_half_space(const PosedShape& a, const PosedShape& b);

/// The points of the segments [p0, p1], [q0, q1] nearest to each other, as parameters in [0, 1].
Eigen::Vector2d nearest_on_segments(const Vector3d& p0, const Vector3d& p1, const Vector3d& q0, const Vector3d& q1);

/// The two spheres of radii r_A, r_B [m] at x and y; `fallback` is the normal when x = y.
Proximity between_points(const Vector3d& x, double r_A, const Vector3d& y, double r_B, const Vector3d& fallback);

/// Adds the radii of both shapes to the distance of their cores.
void add_radii(const PosedShape& a, const PosedShape& b, Proximity& p);

/// World normal and offset of a half-space: solid where n · x ≤ offset.
struct WorldPlane {
  Vector3d n;     // unit, outward
  double offset;  // [m]
};
/// The plane of a posed half-space in the world.
WorldPlane world_plane(const PosedShape& half_space);

}  // namespace deft::collision
