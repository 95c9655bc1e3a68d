// Clipped points: all share the normal of the pair; each is where two flat features meet when seen along it.

#include "deft/collision/patches/pair_motion.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "deft/collision/distance/closed_forms.hpp"

namespace deft::collision {
namespace {

using Map = ContactMotion::Map;

constexpr double kFlatGap = 1e-8;   // [m] points whose gap is the smallest up to this carry parallel features
constexpr double kGrazing = 1e-9;   // features that meet at a smaller sine have no crossing
constexpr double kOnBorder = 1e-9;  // [m] as close as clipped points are merged

/// Columns of ζ at the reference points p_A, p_B.
struct Reference {
  Vector3d p_A, p_B;
  /// Velocity of the material point of A (side 0) or B (side 1) at x.
  Map velocity(int side, const Vector3d& x) const {
    Map v = Map::Zero();
    v.middleCols<3>(6 * side) = -skew(x - (side == 0 ? p_A : p_B));
    v.middleCols<3>(6 * side + 3).setIdentity();
    return v;
  }
  static Map turn(int side, const Vector3d& d) {  // θ × d
    Map v = Map::Zero();
    v.middleCols<3>(6 * side) = -skew(d);
    return v;
  }
};

/// The same map in terms of velocities at other points: η(old) = η(new) + θ × (old − new).
template <typename Derived>
void change_reference(const Vector3d& old_A, const Vector3d& old_B, const Reference& now,
                      Eigen::MatrixBase<Derived>& map) {
  map.template middleCols<3>(0) -= map.template middleCols<3>(3) * skew(old_A - now.p_A);
  map.template middleCols<3>(6) -= map.template middleCols<3>(9) * skew(old_B - now.p_B);
}

/// A point X_A of feature A over a point X_B of feature B, X_A − X_B = D n: derivatives of both and of D, given dn.
struct Crossing {
  Map dX_A, dX_B;
  Eigen::Matrix<double, 1, 12> dD;
  NonsmoothPoint nonsmooth = NonsmoothPoint::kNone;
};

Crossing cross_features(const FlatFeature& A, const FlatFeature& B, const Vector3d& n, double D, const Map& dn,
                        const Map& v_A, const Map& v_B) {
  Crossing c;
  c.nonsmooth = A.nonsmooth != NonsmoothPoint::kNone ? A.nonsmooth : B.nonsmooth;
  if (A.dimension == 1 && B.dimension == 1) {
    Matrix3d columns;
    columns << A.direction, -B.direction, -n;
    const double volume = columns.determinant();
    if (std::abs(volume) >= kGrazing) {
      const Map rates = columns.inverse() * (D * dn - v_A + v_B);
      c.dX_A = v_A + A.direction * rates.row(0);
      c.dX_B = v_B + B.direction * rates.row(1);
      c.dD = rates.row(2);
      return c;
    }
    c.nonsmooth = NonsmoothPoint::kParallel;
  }
  // A point of one over the other, which is then taken as the plane through it that is most across the normal.
  const bool A_is_point = A.dimension <= B.dimension;
  const FlatFeature& under = A_is_point ? B : A;
  Vector3d N = under.direction;
  if (under.dimension < 2) {
    c.nonsmooth = NonsmoothPoint::kParallel;
    N = under.dimension == 1 ? Vector3d(n - n.dot(under.direction) * under.direction) : n;
  }
  const double facing = N.dot(n);
  if (A_is_point) {
    c.dX_A = v_A;
    c.dD = N.transpose() * (v_A - D * dn - v_B) / facing;
    c.dX_B = v_A - n * c.dD - D * dn;
  } else {
    c.dX_B = v_B;
    c.dD = -N.transpose() * (v_B + D * dn - v_A) / facing;
    c.dX_A = v_B + n * c.dD + D * dn;
  }
  return c;
}

/// Whether the core point x over feature `face` of the polytope is on the border of that face.
bool is_on_border(const PosedShape& s, int feature, const Vector3d& x) {
  const Polytope& core = s.shape->core;
  const int face = feature - static_cast<int>(core.vertices.size() + core.edges.size());
  if (s.shape->kind == Kind::kHalfSpace || s.shape->kind == Kind::kCylinder || face < 0) return false;
  const auto& f = core.faces[face];
  for (int k = 0; k < f.count; ++k) {
    const Vector3d &p = s.vertices[core.corners[f.first + k]],
                   &q = s.vertices[core.corners[f.first + (k + 1) % f.count]];
    if (s.normals[face].cross(q - p).normalized().dot(x - p) < kOnBorder) return true;
  }
  return false;
}

ContactMotion clipped_motion(const PosedShape& a, const PosedShape& b, const PatchPoint& p, const Map& dn) {
  const double r_A = a.shape->radius, r_B = b.shape->radius;
  const Vector3d X_A = p.p_A + r_A * p.n, X_B = p.p_B - r_B * p.n;
  const FlatFeature A = flat_feature(a, p.feature_a, -p.n), B = flat_feature(b, p.feature_b, p.n);
  const Reference reference{p.p_A, p.p_B};
  const Map v_A = reference.velocity(0, X_A) + A.slide * (-dn - Reference::turn(0, -p.n));
  const Map v_B = reference.velocity(1, X_B) + B.slide * (dn - Reference::turn(1, p.n));
  const Crossing c = cross_features(A, B, p.n, p.gap + r_A + r_B, dn, v_A, v_B);
  ContactMotion motion;
  motion.dn = dn;
  motion.dp_A = c.dX_A - r_A * dn;
  motion.dp_B = c.dX_B + r_B * dn;
  motion.dgap = c.dD;
  motion.nonsmooth = c.nonsmooth;
  if (motion.nonsmooth == NonsmoothPoint::kNone &&
      (is_on_border(a, p.feature_a, X_A) || is_on_border(b, p.feature_b, X_B)))
    motion.nonsmooth = NonsmoothPoint::kBorder;
  return motion;
}

/// Nearest points with these curvatures of the cores.
ContactMotion nearest_motion(const PosedShape& a, const PosedShape& b, const Vector3d& n, double gap, Curvature A,
                             Curvature B) {
  A.offset(a.shape->radius, n);
  B.offset(b.shape->radius, n);
  return witness_motion(n, gap, A, B);
}

ContactMotion nearest_motion(const PosedShape& a, const PosedShape& b, const Proximity& w) {
  const Curvature A = core_curvature(a, -w.n, w.p_A + a.shape->radius * w.n),
                  B = core_curvature(b, w.n, w.p_B - b.shape->radius * w.n);
  return nearest_motion(a, b, w.n, w.distance, A, B);
}

/// One end of a capsule against the other one: features 0 and 1 are ends, 2 the nearest point of the axis.
ContactMotion capsule_motion(const PosedShape& a, const PosedShape& b, const PatchPoint& p) {
  const auto curvature = [&](const PosedShape& s, int feature, const Vector3d& x) {
    const Vector3d along = s.vertices[1] - s.vertices[0];
    const double t = along.dot(x - s.vertices[0]) / along.norm();
    if (feature < 2 || t < kOnBorder || t > along.norm() - kOnBorder) {
      Curvature end = point_curvature();
      if (feature == 2 && std::abs(along.normalized().dot(p.n)) <= kOnBorder) end.nonsmooth = NonsmoothPoint::kBorder;
      return end;
    }
    return line_curvature(along);
  };
  return nearest_motion(a, b, p.n, p.gap, curvature(a, p.feature_a, p.p_A + a.shape->radius * p.n),
                        curvature(b, p.feature_b, p.p_B - b.shape->radius * p.n));
}

/// The normal of a pair whose flat features lie in each other. It turns with the face over which all corners of the
/// flat part are vertices of the other body; if there is none, the answer depends on the direction.
Map parallel_normal(const Curvature& A, const Curvature& B, const Vector3d& n, const PosedShape& a, const PosedShape& b,
                    std::span<const PatchPoint> points, NonsmoothPoint& nonsmooth) {
  double deepest = INFINITY;
  for (const PatchPoint& p : points) deepest = std::min(deepest, p.gap);
  const auto carries_all = [&](const PosedShape& s, bool is_a) {
    return std::all_of(points.begin(), points.end(), [&](const PatchPoint& p) {
      return p.gap > deepest + kFlatGap ||
             flat_feature(s, is_a ? p.feature_a : p.feature_b, is_a ? Vector3d(-n) : n).dimension == 2;
    });
  };
  const bool by_A = A.flat == 2 && carries_all(a, true), by_B = B.flat == 2 && carries_all(b, false);
  nonsmooth = by_A || by_B ? NonsmoothPoint::kNone : NonsmoothPoint::kParallel;
  const bool leads_B = by_B || (!by_A && A.flat < 2);
  return Reference::turn(leads_B ? 1 : 0, n);
}

}  // namespace

void find_motions(const PosedShape& a, const PosedShape& b, const Proximity& witness,
                  std::span<const PatchPoint> points, std::vector<ContactMotion>& motions) {
  const bool is_capsules = a.shape->kind == Kind::kCapsule && b.shape->kind == Kind::kCapsule;
  // The normal of the pair, as a map of velocities at the nearest points, and whether their features determine these.
  bool is_determined = b.shape->kind != Kind::kHalfSpace;
  ContactMotion nearest = nearest_motion(a, b, witness);
  if (b.shape->kind == Kind::kHalfSpace) {
    if (a.shape->kind != Kind::kSphere && a.shape->kind != Kind::kEllipsoid) nearest.nonsmooth = NonsmoothPoint::kNone;
    nearest.dn = Reference::turn(1, witness.n);
  } else if (!is_capsules) {
    const Curvature A = core_curvature(a, -witness.n, witness.p_A), B = core_curvature(b, witness.n, witness.p_B);
    is_determined = A.flat + B.flat <= 2;
    if (!is_determined) nearest.dn = parallel_normal(A, B, witness.n, a, b, points, nearest.nonsmooth);
  }
  for (const PatchPoint& p : points) {
    // A corner at the nearest points is them: vertex over vertex or edge stays there, on the border of the faces
    // beside.
    const bool is_nearest =
        is_determined && (p.p_A - witness.p_A).norm() < kOnBorder && (p.p_B - witness.p_B).norm() < kOnBorder;
    if (p.feature_a == kWitnessFeature || (is_nearest && !is_capsules)) {
      motions.push_back(nearest);
    } else if (is_capsules) {
      motions.push_back(capsule_motion(a, b, p));
    } else {
      Map dn = nearest.dn;
      change_reference(witness.p_A, witness.p_B, {p.p_A, p.p_B}, dn);
      ContactMotion motion = clipped_motion(a, b, p, dn);
      if (motion.nonsmooth == NonsmoothPoint::kNone && nearest.nonsmooth != NonsmoothPoint::kBorder)
        motion.nonsmooth = nearest.nonsmooth;
      motions.push_back(motion);
    }
  }
}

}  // namespace deft::collision
