#include "deft/collision/curved_distance.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "deft/collision/feature_newton.hpp"
#include "deft/collision/gjk.hpp"

namespace deft::collision {
namespace {

constexpr double kNear = 1e-6;      // [m] nearer than this the pair is treated as touching
constexpr double kGuess = 1e-6;     // of the distance: GJK is 1e-3 rad from the normal then
constexpr double kTie = 1e-10;      // [m] a face wins over what is not better by more than this
constexpr double kFlatSlab = 1e-8;  // [m] faces tilted by less than this over their size count as parallel
constexpr double kAnyAngle = 0.5 * std::numbers::pi + 1e-9;
constexpr double kAngles[2] = {0.02, 0.5};  // [rad] how wrong the guess may be, first and second try

/// World normal of face f: of a polytope, or of a cap (0: −z, 1: +z).
Vector3d face_normal(const PosedShape& s, int f) {
  return s.shape->kind == Kind::kCylinder ? Vector3d((f == 0 ? -1.0 : 1.0) * s.R_WG.col(2)) : s.normals[f];
}
int face_count(const PosedShape& s) {
  return s.shape->kind == Kind::kCylinder ? 2 : static_cast<int>(s.normals.size());
}

/// Calls visit(n) with every face normal as a contact normal from B to A, within `angle` of n0.
template <typename Visit>
void for_each_face_normal(const PosedShape& a, const PosedShape& b, const Vector3d& n0, double angle, Visit visit) {
  for (int f = 0; f < face_count(a); ++f) {
    const Vector3d n = -face_normal(a, f);
    if (n.dot(n0) >= std::cos(angle)) visit(n);
  }
  for (int f = 0; f < face_count(b); ++f) {
    const Vector3d n = face_normal(b, f);
    if (n.dot(n0) >= std::cos(angle)) visit(n);
  }
}

struct Best {
  Proximity p;
  bool found = false;
  void offer(const Proximity& candidate, double handicap = 0) {
    if (found && candidate.distance <= p.distance + handicap) return;
    p = candidate;
    found = true;
  }
};

/// All feature pairs near n0. Apart the first certified one is the answer; otherwise the one of largest s(n) is kept.
bool try_features(const PosedShape& a, const PosedShape& b, const Vector3d& n0, double angle, bool first_is_enough,
                  Best& best) {
  FeatureList list_a, list_b;
  list_features(a, -n0, angle, list_a);
  list_features(b, n0, angle, list_b);
  for (int i = 0; i < list_a.count; ++i) {
    for (int j = 0; j < list_b.count; ++j) {
      // Penetrating, a normal that neither curvature nor an edge holds in two directions is no maximum of s(n).
      if (!first_is_enough && list_a.items[i].stiffness() + list_b.items[j].stiffness() < 2) continue;
      const auto p = polish(a, list_a.items[i], b, list_b.items[j], n0);
      if (!p || (first_is_enough && p->distance < 0)) continue;
      best.offer(*p);
      if (first_is_enough) return true;
    }
  }
  return false;
}

/// A face of one on whatever the other shows it, if the two overlap as seen along its normal.
bool try_faces(const PosedShape& a, const PosedShape& b, const Vector3d& n0, double angle, EndScratch& scratch,
               Best& best) {
  bool is_proven = false;
  for_each_face_normal(a, b, n0, angle, [&](const Vector3d& n) {
    const TangentFrame frame(b.centre_W(), n);
    Vector2d x;
    if (is_proven || !find_common_point(a, b, frame, kFlatSlab, scratch, x)) return;
    Proximity p{.distance = separation_along(a, b, n), .n = n};
    p.p_B = frame.at(x, frame.height(support_core(b, n)));
    p.p_A = p.p_B + p.distance * n;
    best.offer(p);
    is_proven = true;
  });
  return is_proven;
}

Proximity polish_apart(const PosedShape& a, const PosedShape& b, const Proximity& rough, EndScratch& scratch) {
  Best best;
  for (const double angle : kAngles) {
    if (try_faces(a, b, rough.n, angle, scratch, best)) return best.p;
    if (try_features(a, b, rough.n, angle, true, best)) return best.p;
  }
  return rough;
}

/// The best face normal, with its witness where the end features meet. @returns false if they do not: then it is not
/// the optimum.
bool offer_best_face(const PosedShape& a, const PosedShape& b, EndScratch& scratch, Best& best) {
  double best_s = -INFINITY;
  Vector3d best_n = Vector3d::UnitZ();
  for_each_face_normal(a, b, Vector3d::Zero(), kAnyAngle, [&](const Vector3d& n) {
    const double s = separation_along(a, b, n);
    if (s > best_s + kTie) best_s = s, best_n = n;
  });
  if (best_s == -INFINITY) return false;
  best.offer(proximity_along(a, b, best_n, best_s, scratch));
  Vector2d x;
  return find_common_point(a, b, TangentFrame(b.centre_W(), best_n), kFlatSlab, scratch, x);
}

Proximity polish_touching(const PosedShape& a, const PosedShape& b, const GjkResult& gjk, EndScratch& scratch) {
  Best best;
  bool is_local_optimum = offer_best_face(a, b, scratch, best);
  const auto improve_from = [&](const Vector3d& n, double angle) {
    Best found = best;
    try_features(a, b, n, angle, false, found);
    if (found.p.distance > best.p.distance + kTie || !best.found) best = found, is_local_optimum = found.found;
  };
  std::array<Vector3d, 2> starts;
  int count = 0;
  if (gjk.disjoint) starts[count++] = gjk.proximity.n;
  const auto n = guess_penetration_normal(a, b, gjk);
  if (n) starts[count++] = *n;
  for (int k = 0; k < count; ++k) improve_from(starts[k], kAngles[0]);
  // The expanding polytope's normal is near the global optimum as a rule: nothing found may be worse than it.
  const double bound = n ? separation_along(a, b, *n) : INFINITY;
  if (is_local_optimum && best.p.distance >= bound - kTie) return best.p;
  for (int k = 0; k < count; ++k) improve_from(starts[k], kAngles[1]);
  if (is_local_optimum && best.p.distance >= bound - kTie) return best.p;
  // Rare: search around every face normal and along the centres.
  for_each_face_normal(a, b, Vector3d::Zero(), kAnyAngle,
                       [&](const Vector3d& face) { improve_from(face, kAngles[1]); });
  const Vector3d between = a.centre_W() - b.centre_W();
  if (between.norm() > 0) improve_from(between.normalized(), kAngles[1]);
  if (best.found) return best.p;
  return proximity_along(a, b, n ? *n : Vector3d::UnitZ(), separation_along(a, b, n ? *n : Vector3d::UnitZ()), scratch);
}

}  // namespace

Proximity curved_distance(const PosedShape& a, const PosedShape& b, EndScratch& scratch) {
  const GjkResult gjk = gjk_distance(a, b, kGuess);
  if (gjk.disjoint && gjk.proximity.distance > kNear) return polish_apart(a, b, gjk.proximity, scratch);
  return polish_touching(a, b, gjk, scratch);
}

}  // namespace deft::collision
