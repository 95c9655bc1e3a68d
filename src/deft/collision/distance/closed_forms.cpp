#include "deft/collision/distance/closed_forms.hpp"

#include <algorithm>
#include <cmath>

namespace deft::collision {
namespace {

constexpr double kCornerTouching = 1e-10;  // [m] nearer to an edge than this the normal is that of a face

Vector3d axis_z(const PosedShape& s) { return s.R_WG.col(2); }

/// Sphere A at local point x of B; the nearest surface point y of B and outward normal m there, local, at distance d of
/// x.
Proximity from_local(const PosedShape& a, const PosedShape& b, const Vector3d& y, const Vector3d& m, double d) {
  Proximity p;
  p.n = b.R_WG * m;
  p.distance = d - a.shape->radius;
  p.p_B = b.p_WG + b.R_WG * y;
  p.p_A = p.p_B + p.distance * p.n;
  return p;
}

/// y and t of the nearest point of an ellipsoid to x ≥ 0 (each component), see the header.
Vector3d nearest_on_ellipsoid(const Vector3d& e, const Vector3d& x) {
  int smallest = 0;
  e.minCoeff(&smallest);
  const double e_min2 = e[smallest] * e[smallest];
  const Vector3d ex = e.cwiseProduct(x);
  // g falls from +∞ (or its value without the smallest axis) at t = −e_min² to −1.
  const auto g = [&](double t, double& slope) {
    double value = -1;
    slope = 0;
    for (int i = 0; i < 3; ++i) {
      const double root = e[i] * e[i] + t;
      if (ex[i] == 0 || root <= 0) continue;
      const double q = ex[i] / root;
      value += q * q;
      slope -= 2 * q * q / root;
    }
    return value;
  };
  double slope = 0;
  double low = -e_min2 + ex[smallest];
  double high = -e_min2 + ex.norm();
  if (g(low, slope) < 0) {
    // Only possible with x = 0 along the smallest axis (up to rounding), inside the focal ellipse: t = −e_min².
    Vector3d y = Vector3d::Zero();
    double rest = 1;
    for (int i = 0; i < 3; ++i) {
      const double gap = e[i] * e[i] - e_min2;
      if (i == smallest) continue;
      if (gap > 0) y[i] = e[i] * ex[i] / gap;
      rest -= y[i] * y[i] / (e[i] * e[i]);
    }
    y[smallest] = e[smallest] * std::sqrt(std::max(rest, 0.0));
    return y;
  }
  double t = low;
  for (int iteration = 0; iteration < 200; ++iteration) {
    const double value = g(t, slope);
    (value > 0 ? low : high) = t;
    double next = slope < 0 ? t - value / slope : 0.5 * (low + high);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (next == t || high - low <= 1e-16 * (std::abs(low) + e_min2)) break;
    t = next;
  }
  Vector3d y;
  for (int i = 0; i < 3; ++i) y[i] = e[i] * ex[i] / (e[i] * e[i] + t);
  return y;
}

}  // namespace

Proximity between_points(const Vector3d& x, double r_A, const Vector3d& y, double r_B, const Vector3d& fallback) {
  const Vector3d offset = x - y;
  const double length = offset.norm();
  Proximity p;
  p.n = length > 0 ? Vector3d(offset / length) : fallback;
  p.distance = length - r_A - r_B;
  p.p_A = x - r_A * p.n;
  p.p_B = y + r_B * p.n;
  return p;
}

void add_radii(const PosedShape& a, const PosedShape& b, Proximity& p) {
  p.p_A -= a.shape->radius * p.n;
  p.p_B += b.shape->radius * p.n;
  p.distance -= a.shape->radius + b.shape->radius;
}

Eigen::Vector2d nearest_on_segments(const Vector3d& p0, const Vector3d& p1, const Vector3d& q0, const Vector3d& q1) {
  const Vector3d u = p1 - p0, v = q1 - q0, w = p0 - q0;
  const double uu = u.dot(u), vv = v.dot(v), uv = u.dot(v), uw = u.dot(w), vw = v.dot(w);
  const auto best_on_u = [&](double t) { return uu > 0 ? std::clamp((t * uv - uw) / uu, 0.0, 1.0) : 0.0; };
  const auto best_on_v = [&](double s) { return vv > 0 ? std::clamp((s * uv + vw) / vv, 0.0, 1.0) : 0.0; };
  const double area2 = u.cross(v).squaredNorm();
  if (area2 > 1e-24 * uu * vv && area2 > 0) {
    const Vector3d normal = u.cross(v);
    const double s = -w.cross(v).dot(normal) / area2;
    const double t = -w.cross(u).dot(normal) / area2;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) return {s, t};
  }
  // Otherwise an end is involved; parallel segments take the middle of their overlap.
  Eigen::Vector2d best(0, 0);
  double best_distance = INFINITY;
  Eigen::Vector2d sum(0, 0);
  int ties = 0;
  const Eigen::Vector2d candidates[4] = {{0, best_on_v(0)}, {1, best_on_v(1)}, {best_on_u(0), 0}, {best_on_u(1), 1}};
  for (const auto& c : candidates) {
    const double distance = (w + c.x() * u - c.y() * v).norm();
    if (distance < best_distance - 1e-14) best_distance = distance, best = c, sum.setZero(), ties = 0;
    if (distance < best_distance + 1e-14) sum += c, ++ties;
  }
  return area2 <= 1e-24 * uu * vv ? Eigen::Vector2d(sum / ties) : best;
}

Proximity sphere_sphere(const PosedShape& a, const PosedShape& b) {
  return between_points(a.p_WG, a.shape->radius, b.p_WG, b.shape->radius, Vector3d::UnitZ());
}

Proximity sphere_capsule(const PosedShape& a, const PosedShape& b) {
  const double h = b.shape->half.z();
  const double along = std::clamp(axis_z(b).dot(a.p_WG - b.p_WG), -h, h);
  return between_points(a.p_WG, a.shape->radius, b.p_WG + along * axis_z(b), b.shape->radius, b.R_WG.col(0));
}

Proximity sphere_box(const PosedShape& a, const PosedShape& b) {
  const Vector3d& half = b.shape->half;
  const Vector3d x = b.R_WG.transpose() * (a.p_WG - b.p_WG);
  const Vector3d y = x.cwiseMax(-half).cwiseMin(half);
  const double distance = (x - y).norm();
  if (distance > kCornerTouching) return from_local(a, b, y, (x - y) / distance, distance);
  int axis = 0;
  const double depth = (x.cwiseAbs() - half).maxCoeff(&axis);
  const Vector3d m = std::copysign(1.0, x[axis]) * Vector3d::Unit(axis);
  return from_local(a, b, x - depth * m, m, depth);
}

Proximity sphere_cylinder(const PosedShape& a, const PosedShape& b) {
  const double r = b.shape->half.x(), h = b.shape->half.z();
  const Vector3d x = b.R_WG.transpose() * (a.p_WG - b.p_WG);
  const double across = std::hypot(x.x(), x.y());
  const Vector3d u = across > 0 ? Vector3d(x.x() / across, x.y() / across, 0) : Vector3d::UnitX();
  const Vector3d e = std::copysign(1.0, x.z()) * Vector3d::UnitZ();
  const double out_side = across - r, out_end = std::abs(x.z()) - h;
  if (out_side > 0 && out_end > 0 && std::hypot(out_side, out_end) > kCornerTouching) {
    const double distance = std::hypot(out_side, out_end);
    return from_local(a, b, r * u + h * e, (out_side * u + out_end * e) / distance, distance);
  }
  return out_side > out_end ? from_local(a, b, x - out_side * u, u, out_side)
                            : from_local(a, b, x - out_end * e, e, out_end);
}

Proximity sphere_ellipsoid(const PosedShape& a, const PosedShape& b) {
  const Vector3d& e = b.shape->half;
  const Vector3d x = b.R_WG.transpose() * (a.p_WG - b.p_WG);
  const Vector3d sign = x.unaryExpr([](double v) { return std::copysign(1.0, v); });
  const Vector3d y = nearest_on_ellipsoid(e, x.cwiseAbs()).cwiseProduct(sign);
  const Vector3d m = y.cwiseQuotient(e.cwiseProduct(e)).normalized();
  return from_local(a, b, y, m, m.dot(x - y));
}

Proximity capsule_capsule(const PosedShape& a, const PosedShape& b) {
  const Vector3d half_a = a.shape->half.z() * axis_z(a), half_b = b.shape->half.z() * axis_z(b);
  const Vector3d p0 = a.p_WG - half_a, q0 = b.p_WG - half_b;
  const Eigen::Vector2d t = nearest_on_segments(p0, a.p_WG + half_a, q0, b.p_WG + half_b);
  Vector3d fallback = half_a.cross(half_b);
  if (fallback.squaredNorm() > 0) {
    fallback.normalize();
  } else {
    fallback = b.R_WG.col(0);
  }
  return between_points(p0 + 2 * t.x() * half_a, a.shape->radius, q0 + 2 * t.y() * half_b, b.shape->radius, fallback);
}

WorldPlane world_plane(const PosedShape& half_space) {
  const Vector3d n = half_space.R_WG * half_space.shape->normal;
  return {n, half_space.shape->offset + n.dot(half_space.p_WG)};
}

Proximity any_half_space(const PosedShape& a, const PosedShape& b) {
  const WorldPlane plane = world_plane(b);
  Proximity p;
  p.n = plane.n;
  p.p_A = support_core(a, -plane.n) - a.shape->radius * plane.n;
  p.distance = plane.n.dot(p.p_A) - plane.offset;
  p.p_B = p.p_A - p.distance * plane.n;
  return p;
}

}  // namespace deft::collision
