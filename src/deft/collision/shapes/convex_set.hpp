#pragma once
// A shape as the intersection of convex inequalities, for models that take the contact point as an unknown.

#include <Eigen/Core>
#include <vector>

namespace deft::collision {

/// { x : normal·x ≤ offset for all planes, ½ size (Σ curvature_k x_k² − 1) ≤ 0 if curved } in the geometry's frame [m].
/// Values of the inequalities are lengths, with gradients of about unit length on the surface. Box, prism, convex hull:
/// planes. Cylinder: two planes and a quadric without curvature along z. Sphere, ellipsoid: a quadric. Half-space: one
/// plane.
struct ConvexSet {
  /// The inequality normal·x ≤ offset.
  struct Plane {
    Eigen::Vector3d normal;  // unit
    double offset = 0;       // [m]
  };
  std::vector<Plane> planes;                            // the first inequalities
  bool curved = false;                                  // whether the quadric is the last one
  Eigen::Vector3d curvature = Eigen::Vector3d::Zero();  // of the quadric [1/m²], ≥ 0; zero along the axis of a cylinder
  double size = 1;                                      // of the quadric [m], makes its values lengths
  std::vector<Eigen::Vector3d> vertices;                // of a polytope
  bool bounded = true;                                  // false: a half-space
  double radius = 0;  // largest distance of its points from the frame's origin [m]; infinite if not bounded

  /// Number of inequalities; the quadric is the last one.
  int count() const { return static_cast<int>(planes.size()) + (curved ? 1 : 0); }
  /// Whether the i-th inequality is the quadric.
  bool is_quadric(int i) const { return i == static_cast<int>(planes.size()); }
  /// The i-th one at x [m].
  double value(int i, const Eigen::Vector3d& x) const {
    if (!is_quadric(i)) return planes[i].normal.dot(x) - planes[i].offset;
    return 0.5 * size * (curvature.dot(x.cwiseAbs2()) - 1);
  }
  /// Its gradient.
  Eigen::Vector3d gradient(int i, const Eigen::Vector3d& x) const {
    if (!is_quadric(i)) return planes[i].normal;
    return size * curvature.cwiseProduct(x);
  }
  /// A point farthest along `direction`; the mean of those that are equally far to rounding (1e-9 of the radius). @pre
  /// bounded.
  Eigen::Vector3d support(const Eigen::Vector3d& direction) const;
  /// λ ≥ 0 with Σ λ_i ∇f_i(x) nearest to `direction`, over the inequalities with f_i(x) ≥ −activation_distance [m];
  /// zero for the others. `multipliers` has count() entries. @returns the distance left. Method: Lawson and Hanson's
  /// active set for non-negative least squares. No allocation.
  double normal_cone(const Eigen::Vector3d& x, const Eigen::Vector3d& direction, double activation_distance,
                     double* multipliers) const;
};

}  // namespace deft::collision
