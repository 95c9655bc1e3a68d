// One rule for nearest points of all pairs of shapes: only the radii of curvature differ.

#include <Eigen/LU>
#include <cmath>

#include "deft/collision/patches/pair_motion.hpp"
#include "deft/core/index.hpp"

namespace deft::collision {
namespace {

using Eigen::Matrix2d;
using Map = ContactMotion::Map;
using PlaneMap = Eigen::Matrix<double, 2, 12>;  // into the tangent plane

constexpr double kParallelSine = 1e-6;  // flat directions closer than this are one
constexpr double kNoRadius = 1e-12;     // [m] below it the normal has nothing to turn about

/// A flat direction in the tangent plane and e·dn along it.
struct FlatDirection {
  Vector2d e;
  Eigen::Matrix<double, 1, 12> rate;
};

double cross(const Vector2d& p, const Vector2d& q) { return p.x() * q.y() - p.y() * q.x(); }

/// dn from S dn = w in the directions that are not flat, and e·dn = rate along those that are.
PlaneMap solve_normal(const Matrix2d& S, const PlaneMap& w, std::span<const FlatDirection> flat,
                      NonsmoothPoint& nonsmooth) {
  if (flat.size() == 2) {
    const double sine = cross(flat[0].e, flat[1].e);
    if (std::abs(sine) >= kParallelSine) {
      PlaneMap Y;
      Y.row(0) = (flat[1].e.y() * flat[0].rate - flat[0].e.y() * flat[1].rate) / sine;
      Y.row(1) = (flat[0].e.x() * flat[1].rate - flat[1].e.x() * flat[0].rate) / sine;
      return Y;
    }
    nonsmooth = NonsmoothPoint::kParallel;  // parallel edges: as if one edge turned with the mean of both
    const double sign = flat[0].e.dot(flat[1].e) > 0 ? 1 : -1;
    const FlatDirection mean{flat[0].e, 0.5 * (flat[0].rate + sign * flat[1].rate)};
    return solve_normal(S, w, {&mean, 1}, nonsmooth);
  }
  if (flat.size() == 1) {
    const Vector2d &e = flat[0].e, z(-e.y(), e.x());
    const double stiffness = z.dot(S * z);
    PlaneMap Y = e * flat[0].rate;
    if (stiffness <= kNoRadius) {
      nonsmooth = NonsmoothPoint::kDegenerate;
      return Y;
    }
    return Y + z / stiffness * (z.transpose() * w - (z.dot(S * e)) * flat[0].rate);
  }
  const double size = S.norm();
  if (S.determinant() <= kNoRadius * size || S.trace() <= 0) {
    nonsmooth = NonsmoothPoint::kDegenerate;
    return PlaneMap::Zero();
  }
  return S.inverse() * w;
}

}  // namespace

std::string_view to_string(NonsmoothPoint nonsmooth) {
  switch (nonsmooth) {
    case NonsmoothPoint::kNone:
      return "none";
    case NonsmoothPoint::kParallel:
      return "parallel";
    case NonsmoothPoint::kBorder:
      return "border";
    case NonsmoothPoint::kDegenerate:
      return "degenerate";
    case NonsmoothPoint::kUpright:
      return "upright";
  }
  return "unknown";
}

ContactMotion witness_motion(const Vector3d& n, double gap, const Curvature& A, const Curvature& B) {
  const TangentFrame frame(Vector3d::Zero(), n);
  Eigen::Matrix<double, 3, 2> E;
  E << frame.t1, frame.t2;
  const Matrix2d R_A = E.transpose() * A.R * E, R_B = E.transpose() * B.R * E;
  PlaneMap a = PlaneMap::Zero(), b = PlaneMap::Zero(), v = PlaneMap::Zero();  // θ_A × n, θ_B × n, η_A − η_B
  a.leftCols<3>() = -E.transpose() * skew(n);
  b.middleCols<3>(6) = a.leftCols<3>();
  v.middleCols<3>(3) = E.transpose();
  v.middleCols<3>(9) = -E.transpose();

  ContactMotion motion;
  motion.nonsmooth = A.nonsmooth != NonsmoothPoint::kNone ? A.nonsmooth : B.nonsmooth;
  std::array<FlatDirection, 2> flat;
  int count = 0;
  const auto add = [&](const Curvature& side, const PlaneMap& turn) {
    for (int k = 0; k < side.flat && count < 2; ++k) {
      const Vector2d e = E.transpose() * side.along[k];
      flat[count++] = {e, e.transpose() * turn};
    }
  };
  // A face leads the normal whatever else is flat.
  const bool B_first = B.flat == 2 && A.flat < 2;
  if (B_first) add(B, b);
  add(A, a);
  if (!B_first) add(B, b);
  const Matrix2d S = gap * Matrix2d::Identity() + R_A + R_B;
  const PlaneMap Y = solve_normal(S, v + R_A * a + R_B * b, {flat.data(), to_size(count)}, motion.nonsmooth);

  // Slides over the bodies; along flat directions they follow from α_A − α_B = φ dn − v.
  PlaneMap slide_A = R_A * (a - Y), slide_B = R_B * (Y - b);
  if (A.flat == 0) {
    if (B.flat > 0) slide_B = slide_A + v - gap * Y;
  } else if (B.flat == 0 || A.flat == 2) {
    slide_A = slide_B - v + gap * Y;
  } else if (B.flat == 2) {
    slide_B = slide_A + v - gap * Y;
  } else if (const Vector2d e_A = E.transpose() * A.along[0], e_B = E.transpose() * B.along[0];
             std::abs(cross(e_A, e_B)) >= kParallelSine) {
    const PlaneMap open = gap * Y - v - slide_A + slide_B;
    const double sine = cross(e_A, e_B);
    slide_A += e_A / sine * (e_B.y() * open.row(0) - e_B.x() * open.row(1));
    slide_B -= e_B / sine * (e_A.x() * open.row(1) - e_A.y() * open.row(0));
  } else {
    slide_A = slide_B - v + gap * Y;
  }
  motion.dn = E * Y;
  motion.dp_A = E * slide_A;
  motion.dp_A.middleCols<3>(3) += Matrix3d::Identity();
  motion.dp_B = E * slide_B;
  motion.dp_B.middleCols<3>(9) += Matrix3d::Identity();
  motion.dgap.segment<3>(3) = n;
  motion.dgap.segment<3>(9) = -n;
  return motion;
}

}  // namespace deft::collision
