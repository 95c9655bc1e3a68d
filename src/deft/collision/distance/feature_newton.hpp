#pragma once
// Nearest points of two features (vertex, edge, side line, rim, ellipsoid) to rounding, by Newton's method on the
// normal.

#include <optional>

#include "deft/collision/shapes/shape.hpp"

namespace deft::collision {

/// A feature's point with outward normal along m (any length):  p(m, t) = c + t e + r u/‖u‖ with u = P m, or c + M
/// m/√(mᵀM m).
struct Feature {
  /// A vertex; an edge, or a side line of a cylinder; the rim of a cap; a whole ellipsoid.
  enum class Kind : std::uint8_t { kPoint, kLine, kRim, kEllipsoid };
  Kind kind = Kind::kPoint;        // which formula holds
  Vector3d c = Vector3d::Zero();   // the point, or the centre, in the world
  Vector3d e = Vector3d::UnitZ();  // axis of lines and rims
  double r = 0;                    // radius [m] of rims, and of the side lines of cylinders; 0 for edges
  double half_length = 0;          // lines: |t| ≤ half_length
  Matrix3d M = Matrix3d::Zero();   // ellipsoids: R diag(radii²) Rᵀ
  double rank = 0;                 // height along m at which it was found, for ordering

  /// Number of directions in which the feature determines its normal: 0 vertex, 1 edge or rim, 2 side line or
  /// ellipsoid.
  int stiffness() const { return kind == Kind::kEllipsoid ? 2 : (kind == Kind::kLine ? 1 : 0) + (r > 0 ? 1 : 0); }
  Vector3d point(const Vector3d& m, double t) const;  // p(m, t); t [m] counts for lines only
  Matrix3d derivative(const Vector3d& m) const;       // ∂p/∂m
};

/// At most this many features of a shape are tried.
inline constexpr int kMaxFeatures = 16;
/// Features of a shape, the highest ranks first.
struct FeatureList {
  std::array<Feature, kMaxFeatures> items;  // the first `count` are valid
  int count = 0;                            // ≤ kMaxFeatures
  void add(const Feature& feature);         // keeps the highest ranks, in falling order
};

/// The vertices, edges, rims, side lines, or the ellipsoid, whose normals may lie within `angle` [rad] of m (unit).
/// Needs the core's world vertices.
void list_features(const PosedShape& posed, const Vector3d& m, double angle, FeatureList& features);

/// Solves  p_A(−n, t_A) − p_B(n, t_B) = d n,  ½(nᵀn − 1) = 0,  n·e_A = 0,  n·e_B = 0  for (n, d, t_A, t_B) from the
/// guess n.
/// @returns nothing if it does not converge, leaves a line, or s(n) ≠ d (to 1e-12 m),
/// or if n turns by more than `cone` [rad] from the guess.
std::optional<Proximity> polish(const PosedShape& a, const Feature& feature_a, const PosedShape& b,
                                const Feature& feature_b, const Vector3d& n, double cone);

}  // namespace deft::collision
