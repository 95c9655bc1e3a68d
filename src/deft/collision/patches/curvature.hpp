#pragma once
// The shape of a body around a witness point: its radii of curvature.

#include "deft/collision/patches/contact_motion.hpp"
#include "deft/collision/shapes/shape.hpp"

namespace deft::collision {

/// Radii of curvature on the tangent plane: the Hessian of the support function at the outward normal. 0 is a corner;
/// directions of infinite radius (along an edge, in a face) are listed instead.
struct Curvature {
  Matrix3d R = Matrix3d::Zero();    // finite radii [m], world; zero along the normal and along flat directions
  int flat = 0;                     // number of infinite radii
  std::array<Vector3d, 2> along{};  // their directions, unit, world; the first `flat` are valid
  NonsmoothPoint nonsmooth = NonsmoothPoint::kNone;  // kBorder: the feature ends at the witness point

  /// Adds the radius [m] of the layer around a core with the unit normal `normal`.
  void offset(double radius, const Vector3d& normal);
};

/// Curvature of the posed core (without its radius) where its outward unit normal is m and the witness point of the
/// core is x. The feature is read off m: a face, an edge, a side line or a cap within 1e-9 rad of being perpendicular
/// to it. `x` only decides whether that feature ends there (kBorder). `posed` needs its vertices and normals.
Curvature core_curvature(const PosedShape& posed, const Vector3d& m, const Vector3d& x);

/// Curvature of a point.
inline Curvature point_curvature() { return {}; }
/// Curvature of a straight line along `direction` (any length > 0).
Curvature line_curvature(const Vector3d& direction);

/// A flat feature of a contact set by its number: what of it is fixed in the body, and how it slides along it.
struct FlatFeature {
  int dimension = 0;                                 // 0 point, 1 line, 2 plane
  Vector3d direction = Vector3d::UnitZ();            // of the line, or normal of the plane
  Matrix3d slide = Matrix3d::Zero();                 // motion over the body per (dm − θ × m), m the outward normal
  NonsmoothPoint nonsmooth = NonsmoothPoint::kNone;  // kUpright: a side line seen along the axis
};

/// The feature numbered as in patch.hpp and pieces.hpp; m is the outward unit normal of the contact on this shape.
FlatFeature flat_feature(const PosedShape& posed, int feature, const Vector3d& m);

}  // namespace deft::collision
