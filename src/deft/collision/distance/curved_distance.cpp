#include "deft/collision/distance/curved_distance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "deft/collision/distance/feature_newton.hpp"
#include "deft/collision/distance/gjk.hpp"

namespace deft::collision {
namespace {

constexpr double kNear = 1e-6;          // [m] nearer than this the pair is treated as touching
constexpr double kGuess = 1e-6;         // of the distance: GJK is 1e-3 rad from the normal then
constexpr double kTie = 1e-10;          // [m] a face takes precedence over what is not better by more than this
constexpr double kProven = 1e-9;        // [m] a candidate this close to an upper bound is the optimum
constexpr double kKnowsNormal = 1e-10;  // [m] farther apart than this, the normal of GJK is right to 1e-5 rad
constexpr double kFlatSlab = 1e-8;      // [m] faces tilted by less than this over their size count as parallel
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
  void offer(const Proximity& candidate, double margin = 0) {
    if (found && candidate.distance <= p.distance + margin) return;
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
      // Penetrating, a normal that neither curvatures nor edges determine in two directions is no maximum of s(n).
      if (!first_is_enough && list_a.items[i].stiffness() + list_b.items[j].stiffness() < 2) continue;
      const auto p = polish(a, list_a.items[i], b, list_b.items[j], n0, 3 * angle);
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

std::optional<Proximity> polish_apart(const PosedShape& a, const PosedShape& b, const Vector3d& guess,
                                      EndScratch& scratch) {
  Best best;
  for (const double angle : kAngles) {
    if (try_faces(a, b, guess, angle, scratch, best)) return best.p;
    if (try_features(a, b, guess, angle, true, best)) return best.p;
  }
  return std::nullopt;
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
  const TangentFrame frame(b.centre_W(), best_n);
  Vector2d x;
  if (!find_common_point(a, b, frame, kFlatSlab, scratch, x)) {
    best.offer(proximity_along(a, b, best_n, best_s, scratch));
    return false;
  }
  Proximity p{.distance = best_s, .n = best_n};
  p.p_B = frame.at(x, frame.height(support_core(b, best_n)));
  p.p_A = p.p_B + best_s * best_n;
  best.offer(p);
  return true;
}

/// Directions spread evenly over the sphere (Fibonacci lattice).
Vector3d spread_direction(int k, int count) {
  const double z = 1 - (2.0 * k + 1) / count, across = std::sqrt(1 - z * z),
               turn = std::numbers::pi * (1 + std::sqrt(5.0)) * k;
  return {across * std::cos(turn), across * std::sin(turn), z};
}

/// The search for the largest s(n) of touching or penetrating cores.
class PenetrationSearch {
 public:
  PenetrationSearch(const PosedShape& a, const PosedShape& b, EndScratch& scratch) : a_(a), b_(b) {
    is_local_optimum_ = offer_best_face(a, b, scratch, best_);
  }
  void improve_from(const Vector3d& n, double angle) {
    Best found = best_;
    try_features(a_, b_, n, angle, false, found);
    if (best_.found && found.p.distance <= best_.p.distance + kTie) return;
    best_ = found;
    is_local_optimum_ = found.found;
  }
  void improve_everywhere() {
    constexpr int kDirections = 64, kStarts = 8, kAscents = 3;
    std::array<std::pair<double, Vector3d>, kDirections> tried;
    for (int k = 0; k < kDirections; ++k) {
      const Vector3d n = spread_direction(k, kDirections);
      tried[k] = {separation_along(a_, b_, n), n};
    }
    std::partial_sort(tried.begin(), tried.begin() + kStarts, tried.end(),
                      [](const auto& p, const auto& q) { return p.first > q.first; });
    for (int k = 0; k < kStarts; ++k) improve_from(tried[k].second, kAngles[1]);
    for_each_face_normal(a_, b_, Vector3d::Zero(), kAnyAngle, [&](const Vector3d& n) { improve_from(n, kAngles[1]); });
    for (int k = 0; k < kAscents; ++k) improve_from(climb(tried[k].second), kAngles[0]);
    if (best_.found) improve_from(climb(best_.p.n), kAngles[0]);
  }
  /// Follows s(n) uphill by trying neighbours at shrinking steps: slow, but rims that are almost in a plane defeat
  /// Newton's method from farther away.
  Vector3d climb(Vector3d n) const {
    double s = separation_along(a_, b_, n);
    for (double step = 0.2; step > 1e-8;) {
      const TangentFrame frame(Vector3d::Zero(), n);
      Vector3d best = n;
      for (int k = 0; k < 8; ++k) {
        const double azimuth = 0.25 * std::numbers::pi * k;
        const Vector3d m = (n + step * (std::cos(azimuth) * frame.t1 + std::sin(azimuth) * frame.t2)).normalized();
        const double value = separation_along(a_, b_, m);
        if (value > s) s = value, best = m;
      }
      if (best == n) step *= 0.4;
      n = best;
    }
    return n;
  }
  bool is_local_optimum() const { return is_local_optimum_; }
  const Best& best() const { return best_; }

 private:
  const PosedShape &a_, &b_;
  Best best_;
  bool is_local_optimum_ = false;
};

/// Disjoint, but so little that most directions near the normal are about as good.
Proximity polish_barely_apart(const PosedShape& a, const PosedShape& b, const Proximity& gjk, EndScratch& scratch) {
  PenetrationSearch search(a, b, scratch);
  const auto is_optimum = [&](const Proximity& p) { return std::abs(p.distance - gjk.distance) <= kProven; };
  // Flat contacts end here: the best face is as good as anything can be.
  if (search.is_local_optimum() && is_optimum(search.best().p)) return search.best().p;
  if (const auto p = polish_apart(a, b, gjk.n, scratch); p && is_optimum(*p)) return *p;
  for (const double angle : kAngles) {
    search.improve_from(gjk.n, angle);
    if (search.is_local_optimum() && is_optimum(search.best().p)) return search.best().p;
  }
  // An edge or a vertex. GJK knows points and distance to rounding, but the normal only as well as that is below them.
  if (gjk.distance > kKnowsNormal) return gjk;
  search.improve_everywhere();
  if (search.best().found && is_optimum(search.best().p)) return search.best().p;
  Proximity p = gjk;
  if (const Vector3d n = search.climb(gjk.n); separation_along(a, b, n) >= -kProven) p.n = n;
  return p;
}

Proximity polish_touching(const PosedShape& a, const PosedShape& b, const GjkResult& gjk, EndScratch& scratch) {
  if (gjk.disjoint) return polish_barely_apart(a, b, gjk.proximity, scratch);
  PenetrationSearch search(a, b, scratch);
  const auto reaches = [&](double bound) { return search.is_local_optimum() && search.best().p.distance >= bound; };
  const auto guess = guess_penetration(a, b, gjk);
  // Flat contacts end here: the best face is as good as anything can be.
  if (reaches((guess ? guess->upper_bound : 0.0) - kProven)) return search.best().p;
  // Nothing may be worse than the guess, if that is known to be near the global optimum.
  const double expected = guess && guess->is_global ? separation_along(a, b, guess->n) : INFINITY;
  for (const double angle : kAngles) {
    if (guess) search.improve_from(guess->n, angle);
    if (reaches(expected - kTie)) return search.best().p;
  }
  search.improve_everywhere();
  if (search.best().found) return search.best().p;
  const Vector3d n = guess ? guess->n : Vector3d::UnitZ();
  return proximity_along(a, b, n, separation_along(a, b, n), scratch);
}

}  // namespace

Proximity curved_distance(const PosedShape& a, const PosedShape& b, EndScratch& scratch) {
  const GjkResult gjk = gjk_distance(a, b, kGuess);
  if (!gjk.disjoint || gjk.proximity.distance <= kNear) {
    if (a.shape->kind == Kind::kBox) {
      if (const PosedShape* near = cut_box(a, b, scratch.cut))
        return polish_touching(*near, b, gjk_distance(*near, b, kGuess), scratch);
    }
    return polish_touching(a, b, gjk, scratch);
  }
  if (const auto p = polish_apart(a, b, gjk.proximity.n, scratch)) return *p;
  // Rare: from the best guess that GJK can give, which is returned as it is if even that cannot be polished.
  const GjkResult fine = gjk_distance(a, b);
  if (!fine.disjoint) return gjk.proximity;
  return polish_apart(a, b, fine.proximity.n, scratch).value_or(fine.proximity);
}

std::optional<bool> cores_nearer(const PosedShape& a, const PosedShape& b, double gap) {
  const GjkResult gjk = gjk_distance(a, b, kGuess);
  if (!gjk.disjoint || gjk.proximity.distance < gap) return true;  // points of both, no nearer than the shapes
  if (separation_along(a, b, gjk.proximity.n) >= gap) return false;
  return std::nullopt;
}

}  // namespace deft::collision
