#include "deft/collision/distance/feature_newton.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace deft::collision {
namespace {

using System = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
using Unknowns = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;

constexpr double kCertified = 1e-12;  // [m]
constexpr double kParallel = 1e-7;    // [rad] lines closer to parallel than this share a stretch instead of a point

Matrix3d across(const Vector3d& e) { return Matrix3d::Identity() - e * e.transpose(); }

bool is_line(const Feature& f) { return f.kind == Feature::Kind::kLine; }

/// Parallel lines: n is perpendicular to both, the witness is the middle of the common stretch.
std::optional<Proximity> parallel_lines(const Feature& a, const Feature& b, const Vector3d& guess) {
  const Vector3d offset = a.c - b.c, perpendicular = across(b.e) * offset;
  const double length = perpendicular.norm();
  if (!(length > 1e-9)) return std::nullopt;
  Proximity p;
  p.n = std::copysign(1.0, perpendicular.dot(guess)) * perpendicular / length;
  p.distance = perpendicular.dot(p.n) - a.r - b.r;
  const double middle = offset.dot(b.e);  // of a, along b
  const double low = std::max(-b.half_length, middle - a.half_length),
               high = std::min(b.half_length, middle + a.half_length);
  if (low > high) return std::nullopt;
  p.p_B = b.c + 0.5 * (low + high) * b.e + b.r * p.n;
  p.p_A = p.p_B + p.distance * p.n;
  return p;
}

bool is_certified(const PosedShape& a, const PosedShape& b, const Proximity& p) {
  return std::abs(separation_along(a, b, p.n) - p.distance) < kCertified;
}

}  // namespace

Vector3d Feature::point(const Vector3d& m, double t) const {
  switch (kind) {
    case Kind::kPoint:
      return c;
    case Kind::kLine:
    case Kind::kRim: {
      const Vector3d x = kind == Kind::kLine ? Vector3d(c + t * e) : c;
      if (r == 0) return x;
      return x + r * (across(e) * m).normalized();
    }
    case Kind::kEllipsoid:
      break;
  }
  const Vector3d Mm = M * m;
  return c + Mm / std::sqrt(m.dot(Mm));
}

Matrix3d Feature::derivative(const Vector3d& m) const {
  if (kind == Kind::kEllipsoid) {
    const Vector3d Mm = M * m;
    const double q = m.dot(Mm), root = std::sqrt(q);
    return M / root - Mm * Mm.transpose() / (q * root);
  }
  if (r == 0) return Matrix3d::Zero();
  const Matrix3d P = across(e);
  const Vector3d u = P * m;
  const double length = u.norm();
  return r / length * (P - u * u.transpose() / (length * length));
}

void FeatureList::add(const Feature& feature) {
  if (count == kMaxFeatures) {
    if (items[count - 1].rank >= feature.rank) return;
    --count;
  }
  int i = count++;
  for (; i > 0 && items[i - 1].rank < feature.rank; --i) items[i] = items[i - 1];
  items[i] = feature;
}

void list_features(const PosedShape& s, const Vector3d& m, double angle, FeatureList& list) {
  list.count = 0;
  const double slab = 2 * s.shape->bounding_radius * std::sin(angle);
  switch (s.shape->kind) {
    case Kind::kSphere:
    case Kind::kCapsule:
    case Kind::kBox:
    case Kind::kHull: {
      const double top = support_core(s, m).dot(m);
      for (const auto& v : s.vertices) {
        if (v.dot(m) >= top - slab) list.add({.kind = Feature::Kind::kPoint, .c = v, .rank = v.dot(m)});
      }
      for (const auto& edge : s.shape->core.edges) {
        const Vector3d &from = s.vertices[edge.from], &to = s.vertices[edge.to];
        if (std::min(from.dot(m), to.dot(m)) < top - slab) continue;
        const double length = (to - from).norm();
        list.add({.kind = Feature::Kind::kLine,
                  .c = 0.5 * (from + to),
                  .e = (to - from) / length,
                  .half_length = 0.5 * length,
                  .rank = 0.5 * (from + to).dot(m)});
      }
      return;
    }
    case Kind::kCylinder: {
      const Vector3d axis = s.R_WG.col(2);
      const double along = axis.dot(m), r = s.shape->half.x(), h = s.shape->half.z();
      const Vector3d end = std::copysign(h, along) * axis;
      list.add({.kind = Feature::Kind::kRim, .c = s.p_WG + end, .e = axis, .r = r, .rank = 2});
      if (std::abs(along) < std::sin(angle)) {
        list.add({.kind = Feature::Kind::kLine, .c = s.p_WG, .e = axis, .r = r, .half_length = h, .rank = 1});
        list.add({.kind = Feature::Kind::kRim, .c = s.p_WG - end, .e = axis, .r = r, .rank = 0});
      }
      return;
    }
    case Kind::kEllipsoid: {
      const Vector3d squares = s.shape->half.cwiseAbs2();
      list.add(
          {.kind = Feature::Kind::kEllipsoid, .c = s.p_WG, .M = s.R_WG * squares.asDiagonal() * s.R_WG.transpose()});
      return;
    }
    case Kind::kHalfSpace:
      return;
  }
}

std::optional<Proximity> polish(const PosedShape& a, const Feature& fa, const PosedShape& b, const Feature& fb,
                                const Vector3d& guess, double cone) {
  constexpr int kMaxIterations = 20;
  if (is_line(fa) && is_line(fb) && fa.e.cross(fb.e).norm() < kParallel) {
    const auto p = parallel_lines(fa, fb, guess);
    return p && is_certified(a, b, *p) ? p : std::nullopt;
  }
  const int size = 4 + is_line(fa) + is_line(fb);
  const int row_a = 4, row_b = 4 + is_line(fa);
  const double scale = a.shape->bounding_radius + b.shape->bounding_radius;
  Vector3d n = guess;
  double t_a = 0, t_b = 0;
  double d = n.dot(fa.point(-n, 0) - fb.point(n, 0));
  System J(size, size);
  Unknowns F(size);
  double previous = INFINITY;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    const Vector3d gap = fa.point(-n, t_a) - fb.point(n, t_b);
    F.head<3>() = gap - d * n;
    F[3] = 0.5 * (n.squaredNorm() - 1);
    if (is_line(fa)) F[row_a] = n.dot(fa.e);
    if (is_line(fb)) F[row_b] = n.dot(fb.e);
    const double norm = F.cwiseAbs().maxCoeff();
    if (!std::isfinite(norm) || norm > 10 * (1 + scale)) return std::nullopt;
    if (norm < 1e-13 && norm >= 0.5 * previous) break;  // as small as rounding allows
    if (iteration >= 8 && norm > 1e-4 * scale) return std::nullopt;
    previous = norm;
    J.setZero();
    J.topLeftCorner<3, 3>() = -fa.derivative(-n) - fb.derivative(n) - d * Matrix3d::Identity();
    J.block<3, 1>(0, 3) = -n;
    J.block<1, 3>(3, 0) = n.transpose();
    if (is_line(fa)) J.block<3, 1>(0, row_a) = fa.e, J.block<1, 3>(row_a, 0) = fa.e.transpose();
    if (is_line(fb)) J.block<3, 1>(0, row_b) = -fb.e, J.block<1, 3>(row_b, 0) = fb.e.transpose();
    const Unknowns step = J.partialPivLu().solve(-F);
    if (!step.allFinite()) return std::nullopt;
    n += step.head<3>();
    if (n.dot(guess) < std::cos(cone) * n.norm()) return std::nullopt;
    d += step[3];
    if (is_line(fa)) t_a += step[row_a];
    if (is_line(fb)) t_b += step[row_b];
  }
  if (!(previous < 1e-9)) return std::nullopt;
  if ((is_line(fa) && std::abs(t_a) > fa.half_length + kCertified) ||
      (is_line(fb) && std::abs(t_b) > fb.half_length + kCertified))
    return std::nullopt;
  Proximity p;
  p.n = n.normalized();
  p.p_B = fb.point(p.n, t_b);
  p.distance = p.n.dot(fa.point(-p.n, t_a) - p.p_B);
  p.p_A = p.p_B + p.distance * p.n;
  return is_certified(a, b, p) ? std::optional(p) : std::nullopt;
}

}  // namespace deft::collision
