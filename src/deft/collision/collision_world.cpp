#include "deft/collision/collision_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/collision/broad_phase.hpp"
#include "deft/collision/distance/closed_forms.hpp"
#include "deft/collision/distance/narrow_phase.hpp"
#include "deft/collision/patches/pair_motion.hpp"
#include "deft/collision/patches/patch.hpp"
#include "deft/collision/shapes/surface.hpp"

namespace deft::collision {
namespace {

constexpr int kGeometryBits = 14, kFeatureBits = 18;
constexpr std::size_t kMaxGeometries = std::size_t{1} << kGeometryBits;

/// Geometry indices and features, so that sorting by id is the order promised.
std::uint64_t make_id(int geometry_a, int geometry_b, int feature_a, int feature_b) {
  return (((std::uint64_t(geometry_a) << kGeometryBits | std::uint64_t(geometry_b)) << kFeatureBits) |
          std::uint64_t(feature_a))
             << kFeatureBits |
         std::uint64_t(feature_b);
}

constexpr std::uint64_t kFeatureMask = (std::uint64_t{1} << kFeatureBits) - 1;

/// A contact as find_patch made it, with A and B exchanged if asked.
PatchPoint to_point(const ContactPair& c, bool is_swapped) {
  const int feature_a = static_cast<int>(c.id >> kFeatureBits & kFeatureMask),
            feature_b = static_cast<int>(c.id & kFeatureMask);
  PatchPoint p{
      .p_A = c.p_WA, .p_B = c.p_WB, .n = c.nhat_BA_W, .gap = c.gap, .feature_a = feature_a, .feature_b = feature_b};
  if (!is_swapped) return p;
  std::swap(p.p_A, p.p_B);
  std::swap(p.feature_a, p.feature_b);
  p.n = -p.n;
  return p;
}

ContactMotion swapped(const ContactMotion& m) {
  const auto exchange = [](const auto& map) {
    auto result = map;
    result.template leftCols<6>() = map.template rightCols<6>();
    result.template rightCols<6>() = map.template leftCols<6>();
    return result;
  };
  return {.dn = -exchange(m.dn),
          .dp_A = exchange(m.dp_B),
          .dp_B = exchange(m.dp_A),
          .dgap = exchange(m.dgap),
          .nonsmooth = m.nonsmooth};
}

/// Bounding spheres farther apart than the margin (a half-space is its own bound).
bool is_far(const PosedShape& a, const PosedShape& b, double margin) {
  if (a.shape->kind == Kind::kHalfSpace) return is_far(b, a, margin);
  if (b.shape->kind == Kind::kHalfSpace) {
    const WorldPlane plane = world_plane(b);
    return plane.n.dot(a.centre) - plane.offset - a.shape->bounding_radius >= margin;
  }
  const double far_distance = a.shape->bounding_radius + b.shape->bounding_radius + margin;
  return (a.centre - b.centre).squaredNorm() >= far_distance * far_distance;
}

}  // namespace

struct CollisionWorld::Impl {
  std::vector<GeometryInfo> info;
  std::vector<Shape> shapes;
  std::vector<RigidTransform> X_BG;
  PairFilter filter;
  int bodies = 0;

  void set_pose(int geometry, std::span<const RigidTransform> X_WB, PosedShape& posed) const {
    posed.shape = &shapes[geometry];
    const RigidTransform& X = X_WB[info[geometry].body];
    posed.R_WG.noalias() = X.linear() * X_BG[geometry].linear();
    posed.p_WG.noalias() = X.translation() + X.linear() * X_BG[geometry].translation();
    posed.centre = posed.centre_W();
  }

  void check_count(std::span<const RigidTransform> X_WB) const {
    if (static_cast<int>(X_WB.size()) < bodies) {
      throw std::invalid_argument(
          fmt::format("X_WB has {} poses, the geometries' bodies need {}", X_WB.size(), bodies));
    }
  }

  void check_poses(std::span<const RigidTransform> X_WB) const {
    check_count(X_WB);
    for (std::size_t b = 0; b < X_WB.size(); ++b) check_pose(X_WB, static_cast<int>(b));
  }

  static void check_pose(std::span<const RigidTransform> X_WB, int body) {
    if (!std::isfinite(X_WB[body].matrix().sum()))
      throw std::invalid_argument(fmt::format("the pose X_WB[{}] is not finite", body));
  }

  ContactPair make_contact(int a, int b) const {
    return {.geometry_a = a, .geometry_b = b, .body_a = info[a].body, .body_b = info[b].body};
  }

  /// Poses all geometries. @returns pairs that may be nearer than the margin, in order, until the next call.
  std::span<const IndexPair> find_candidates(std::span<const RigidTransform> X_WB, double margin,
                                             CollisionWorkspace::Impl& w) const;

  /// Contacts of the pair i < j of `w.posed`, nearer than the margin, behind those that are known.
  void append_contacts(int i, int j, double margin, CollisionWorkspace::Impl& w,
                       std::vector<ContactPair>& contacts) const;
};

struct CollisionWorkspace::Impl {
  std::vector<PosedShape> posed;
  std::vector<IndexPair> pairs;
  BoxTree tree;
  NarrowScratch narrow;
  PatchScratch patch;
  std::uint64_t stamp = 0;

  const PosedShape& with_core(int geometry) {
    PosedShape& s = posed[geometry];
    if (s.stamp != stamp) {
      s.transform_core();
      s.stamp = stamp;
    }
    return s;
  }
};

CollisionWorkspace::CollisionWorkspace() : impl_(std::make_unique<Impl>()) {}
CollisionWorkspace::~CollisionWorkspace() = default;
CollisionWorkspace::CollisionWorkspace(CollisionWorkspace&&) noexcept = default;
CollisionWorkspace& CollisionWorkspace::operator=(CollisionWorkspace&&) noexcept = default;

CollisionWorld::CollisionWorld() : impl_(std::make_unique<Impl>()) {}
CollisionWorld::~CollisionWorld() = default;
CollisionWorld::CollisionWorld(CollisionWorld&&) noexcept = default;
CollisionWorld& CollisionWorld::operator=(CollisionWorld&&) noexcept = default;

CollisionWorld CollisionWorld::build(std::vector<GeometryDescription> geometries, std::vector<unsigned char> allowed,
                                     Diagnostics& diagnostics) {
  const std::size_t n = geometries.size();
  if (allowed.size() != n * n) {
    throw std::invalid_argument(
        fmt::format("`allowed` has {} entries, {} geometries need {}", allowed.size(), n, n * n));
  }
  if (n > kMaxGeometries)
    throw std::invalid_argument(fmt::format("{} geometries; the ids of contacts number at most {}", n, kMaxGeometries));
  CollisionWorld world;
  Impl& impl = *world.impl_;
  for (const auto& geometry : geometries) {
    if (geometry.body < 0) throw std::invalid_argument(fmt::format("geometry '{}' has no body", geometry.name));
    impl.info.emplace_back();
    impl.shapes.push_back(build_shape(geometry, impl.info.back(), diagnostics));
    impl.X_BG.push_back(geometry.X_BG);
    impl.bodies = std::max(impl.bodies, geometry.body + 1);
    const Polytope& core = impl.shapes.back().core;
    if (core.vertices.size() + core.edges.size() + core.faces.size() >= kWitnessFeature) {
      diagnostics.error(geometry.where, fmt::format("geometry '{}': its hull has too many vertices ({})", geometry.name,
                                                    core.vertices.size()));
    }
  }
  diagnostics.throw_if_errors();
  impl.filter = PairFilter(impl.shapes, std::move(allowed));
  return world;
}

std::span<const GeometryInfo> CollisionWorld::geometries() const { return impl_->info; }

CollisionWorkspace CollisionWorld::make_workspace() const {
  CollisionWorkspace workspace;
  workspace.impl_->posed.resize(impl_->shapes.size());
  return workspace;
}

void CollisionWorld::find_contacts(std::span<const RigidTransform> X_WB, double margin, CollisionWorkspace& workspace,
                                   std::vector<ContactPair>& contacts) const {
  contacts.clear();
  for (const auto& [i, j] : impl_->find_candidates(X_WB, margin, *workspace.impl_))
    impl_->append_contacts(i, j, margin, *workspace.impl_, contacts);
}

void CollisionWorld::find_contacts(std::span<const RigidTransform> X_WB, double margin,
                                   const std::function<bool(int, int)>& concerns, CollisionWorkspace& workspace,
                                   std::vector<ContactPair>& contacts) const {
  contacts.clear();
  CollisionWorkspace::Impl& w = *workspace.impl_;
  for (const auto& [i, j] : impl_->find_candidates(X_WB, margin, w)) {
    if (!is_far(w.posed[i], w.posed[j], margin) && concerns(impl_->info[i].body, impl_->info[j].body))
      impl_->append_contacts(i, j, margin, w, contacts);
  }
}

void CollisionWorld::find_contacts_again(std::span<const RigidTransform> X_WB, double margin,
                                         std::span<const ContactPair> before, std::span<const char> stay,
                                         CollisionWorkspace& workspace, std::vector<ContactPair>& contacts) const {
  if (static_cast<int>(stay.size()) < impl_->bodies)
    throw std::invalid_argument(
        fmt::format("`stay` has {} entries, the geometries' bodies need {}", stay.size(), impl_->bodies));
  contacts.clear();
  const auto pair_of = [](const ContactPair& contact) { return IndexPair(contact.geometry_a, contact.geometry_b); };
  auto kept = before.begin();
  for (const auto& [i, j] : impl_->find_candidates(X_WB, margin, *workspace.impl_)) {
    if (stay[impl_->info[i].body] == 0 || stay[impl_->info[j].body] == 0) {
      impl_->append_contacts(i, j, margin, *workspace.impl_, contacts);
      continue;
    }
    while (kept != before.end() && pair_of(*kept) < IndexPair(i, j)) ++kept;
    for (; kept != before.end() && pair_of(*kept) == IndexPair(i, j); ++kept) contacts.push_back(*kept);
  }
}

bool CollisionWorld::any_nearer(std::span<const RigidTransform> X_WB, double gap,
                                const std::function<bool(int, int)>& concerns, CollisionWorkspace& workspace) const {
  if (!(gap > 0)) throw std::invalid_argument(fmt::format("a gap of {} m; it must be positive", gap));
  CollisionWorkspace::Impl& w = *workspace.impl_;
  for (const auto& [i, j] : impl_->find_candidates(X_WB, gap, w)) {
    if (is_far(w.posed[i], w.posed[j], gap) || !concerns(impl_->info[i].body, impl_->info[j].body)) continue;
    if (is_nearer(w.with_core(i), w.with_core(j), gap, w.narrow)) return true;
  }
  return false;
}

std::span<const IndexPair> CollisionWorld::Impl::find_candidates(std::span<const RigidTransform> X_WB, double margin,
                                                                 CollisionWorkspace::Impl& w) const {
  check_poses(X_WB);
  if (std::isnan(margin)) throw std::invalid_argument("the contact margin is NaN");
  w.posed.resize(shapes.size());
  ++w.stamp;
  for (std::size_t i = 0; i < w.posed.size(); ++i) set_pose(static_cast<int>(i), X_WB, w.posed[i]);
  const std::span<const IndexPair> listed = filter.listed();
  if (filter.is_list()) return listed;
  w.pairs.assign(listed.begin(), listed.end());
  w.tree.find_pairs(filter, w.posed, margin, w.pairs);
  std::sort(w.pairs.begin(), w.pairs.end());
  return w.pairs;
}

void CollisionWorld::Impl::append_contacts(int i, int j, double margin, CollisionWorkspace::Impl& w,
                                           std::vector<ContactPair>& contacts) const {
  if (is_far(w.posed[i], w.posed[j], margin)) return;
  // The half-space, if any, is B for the pair functions.
  const bool is_swapped = w.posed[i].shape->kind == Kind::kHalfSpace;
  const PosedShape &a = w.with_core(is_swapped ? j : i), &b = w.with_core(is_swapped ? i : j);
  const Proximity proximity = find_proximity(a, b, w.narrow);
  if (!(proximity.distance < margin)) return;
  find_patch(a, b, proximity, margin, w.patch);
  assign_weights(w.patch.points, margin);
  for (const auto& point : w.patch.points) {
    ContactPair contact = make_contact(i, j);
    contact.gap = point.gap;
    contact.nhat_BA_W = is_swapped ? Vector3d(-point.n) : point.n;
    contact.p_WA = is_swapped ? point.p_B : point.p_A;
    contact.p_WB = is_swapped ? point.p_A : point.p_B;
    contact.id =
        make_id(i, j, is_swapped ? point.feature_b : point.feature_a, is_swapped ? point.feature_a : point.feature_b);
    contact.weight = point.area;
    contacts.push_back(contact);
  }
}

void CollisionWorld::find_motions(std::span<const RigidTransform> X_WB, std::span<const ContactPair> contacts,
                                  CollisionWorkspace& workspace, std::vector<ContactMotion>& motions) const {
  motions.clear();
  impl_->check_poses(X_WB);
  auto& w = *workspace.impl_;
  w.posed.resize(impl_->shapes.size());
  ++w.stamp;
  for (std::size_t first = 0, last; first < contacts.size(); first = last) {
    const int i = contacts[first].geometry_a, j = contacts[first].geometry_b;
    impl_->set_pose(i, X_WB, w.posed[i]);
    impl_->set_pose(j, X_WB, w.posed[j]);
    const bool is_swapped = w.posed[i].shape->kind == Kind::kHalfSpace;
    const PosedShape &a = w.with_core(is_swapped ? j : i), &b = w.with_core(is_swapped ? i : j);
    w.patch.points.clear();
    for (last = first; last < contacts.size() && contacts[last].geometry_a == i && contacts[last].geometry_b == j;
         ++last) {
      w.patch.points.push_back(to_point(contacts[last], is_swapped));
    }
    collision::find_motions(a, b, find_proximity(a, b, w.narrow), w.patch.points, motions);
    if (!is_swapped) continue;
    for (std::size_t k = first; k < last; ++k) motions[k] = swapped(motions[k]);
  }
}

ContactPair CollisionWorld::signed_distance(int geometry_a, int geometry_b,
                                            std::span<const RigidTransform> X_WB) const {
  const int n = static_cast<int>(impl_->shapes.size());
  if (geometry_a < 0 || geometry_b < 0 || geometry_a >= n || geometry_b >= n || geometry_a == geometry_b) {
    throw std::invalid_argument(
        fmt::format("geometries {} and {}: two different indices in 0 … {} are needed", geometry_a, geometry_b, n - 1));
  }
  impl_->check_count(X_WB);
  impl_->check_pose(X_WB, impl_->info[geometry_a].body);
  impl_->check_pose(X_WB, impl_->info[geometry_b].body);
  // Asked for thousands of times by samplers: what it needs is kept per thread.
  thread_local PosedShape a, b;
  thread_local NarrowScratch scratch;
  impl_->set_pose(geometry_a, X_WB, a);
  impl_->set_pose(geometry_b, X_WB, b);
  a.transform_core();
  b.transform_core();
  const Proximity p = find_proximity(a, b, scratch);
  ContactPair contact = impl_->make_contact(geometry_a, geometry_b);
  contact.gap = p.distance;
  contact.nhat_BA_W = p.n;
  contact.p_WA = p.p_A;
  contact.p_WB = p.p_B;
  contact.id = make_id(geometry_a, geometry_b, kWitnessFeature, kWitnessFeature);
  return contact;
}

std::optional<ConvexSet> CollisionWorld::convex_set(int geometry) const {
  return make_convex_set(impl_->shapes[geometry]);
}

const RigidTransform& CollisionWorld::pose_in_body(int geometry) const { return impl_->X_BG[geometry]; }

bool CollisionWorld::may_touch(int geometry_a, int geometry_b) const {
  return impl_->filter.allows(geometry_a, geometry_b);
}

double CollisionWorld::surface_area(int geometry) const { return collision::surface_area(impl_->shapes.at(geometry)); }

SurfacePoint CollisionWorld::surface_point(int geometry, const std::array<double, 3>& uniform) const {
  const SurfacePoint at = collision::surface_point(impl_->shapes.at(geometry), uniform);
  const RigidTransform& X_BG = impl_->X_BG.at(geometry);
  return {X_BG * at.p, X_BG.linear() * at.n};
}

}  // namespace deft::collision
