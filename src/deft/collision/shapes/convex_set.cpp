#include "deft/collision/shapes/convex_set.hpp"

#include "deft/math/small_dense.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace deft::collision {
namespace {

constexpr double kEquallyFar = 1e-9;        // of the radius
constexpr double kResidual = 1e-13;         // of the direction: what is left of it counts as nothing
constexpr double kLeastMultiplier = 1e-14;  // below it an inequality leaves the passive set
constexpr double kLeastDivisor = 1e-300;    // against 0/0

/// The farthest point of the solid Σ curvature_k x_k² ≤ 1 along d, in the axes that are curved.
Eigen::Vector3d support_quadric(const Eigen::Vector3d& curvature, const Eigen::Vector3d& d) {
  Eigen::Vector3d x = Eigen::Vector3d::Zero();
  double length = 0;
  for (int k = 0; k < 3; ++k)
    if (curvature(k) > 0) length += d(k) * d(k) / curvature(k);
  if (!(length > 0)) return x;
  for (int k = 0; k < 3; ++k)
    if (curvature(k) > 0) x(k) = d(k) / (curvature(k) * std::sqrt(length));
  return x;
}

}  // namespace

Eigen::Vector3d ConvexSet::support(const Eigen::Vector3d& direction) const {
  if (!curved) {
    double farthest = -std::numeric_limits<double>::infinity();
    for (const Eigen::Vector3d& v : vertices) farthest = std::max(farthest, direction.dot(v));
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    int n = 0;
    for (const Eigen::Vector3d& v : vertices) {
      if (direction.dot(v) < farthest - kEquallyFar * radius * direction.norm()) continue;
      sum += v;
      ++n;
    }
    return sum / n;
  }
  Eigen::Vector3d x = support_quadric(curvature, direction);
  const double tilt = kEquallyFar * direction.norm();
  for (const Plane& plane : planes) {
    const double along = plane.normal.dot(direction);
    if (std::abs(along) <= tilt) continue;
    if (along > 0) x += plane.offset * plane.normal;  // a cylinder: planes are perpendicular to the curved axes
  }
  if (!planes.empty()) {
    Eigen::Vector3d across = direction;
    for (int k = 0; k < 3; ++k)
      if (curvature(k) == 0) across(k) = 0;
    if (across.norm() <= tilt) x -= support_quadric(curvature, direction);  // flat on a cap: its centre
  }
  return x;
}

double ConvexSet::normal_cone(const Eigen::Vector3d& x, const Eigen::Vector3d& direction, double activation_distance,
                              double* multipliers) const {
  // Lawson and Hanson's active set for non-negative least squares with three rows. Passive: of a positive multiplier.
  const int n = count();
  std::fill_n(multipliers, n, 0.0);
  std::array<int, 3> passive{};
  int passive_count = 0;
  Eigen::Vector3d rest = direction;
  for (int round = 0; round < 4 * n + 12; ++round) {
    int best = -1;
    double steepest = kResidual * direction.norm();
    for (int i = 0; i < n && passive_count < 3; ++i) {
      if (multipliers[i] > 0 || value(i, x) < -activation_distance) continue;
      const Eigen::Vector3d g = gradient(i, x);
      const double slope = g.dot(rest) / std::max(g.norm(), kLeastDivisor);
      if (slope > steepest &&
          std::find(passive.begin(), passive.begin() + passive_count, i) == passive.begin() + passive_count) {
        best = i;
        steepest = slope;
      }
    }
    if (best < 0) break;
    passive[passive_count++] = best;
    while (passive_count > 0) {
      Columns3 G(3, passive_count);
      for (int k = 0; k < passive_count; ++k) G.col(k) = gradient(passive[k], x);
      const UpTo3 l = least_norm_solve(G, direction);
      double step = 1;
      for (int k = 0; k < passive_count; ++k) {
        const double old = multipliers[passive[k]];
        if (l(k) <= 0) step = std::min(step, old / std::max(old - l(k), kLeastDivisor));
      }
      int kept = 0;
      for (int k = 0; k < passive_count; ++k) {
        const int i = passive[k];
        multipliers[i] += step * (l(k) - multipliers[i]);
        if (multipliers[i] > kLeastMultiplier) {
          passive[kept++] = i;
        } else {
          multipliers[i] = 0;
        }
      }
      passive_count = kept;
      if (step >= 1) break;
    }
    rest = direction;
    for (int k = 0; k < passive_count; ++k) rest -= multipliers[passive[k]] * gradient(passive[k], x);
    if (rest.norm() <= kResidual * direction.norm()) break;
  }
  return rest.norm();
}

}  // namespace deft::collision
