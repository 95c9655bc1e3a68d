#include "deft/collision/planar_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/collision/shapes/shape.hpp"
#include "deft/core/index.hpp"

namespace deft::collision {
namespace {

constexpr double kAligned = 1e-9;     // sine of the tilt of an axis that counts as along the normal, or in the plane
constexpr double kSameHeight = 1e-9;  // [m], geometries that only touch along the normal lie on each other
constexpr double kTie = 1e-12;        // [m], of edges whose distances are this close the first one counts
constexpr double kMerged = 1e-12;     // of the outline's size: corners nearer than this to their chord are none

double cross(const Eigen::Vector2d& a, const Eigen::Vector2d& b) { return a.x() * b.y() - a.y() * b.x(); }

/// Indices of the corners of the convex hull, counter-clockwise (monotone chains; A. M. Andrew 1979).
std::vector<int> hull(const std::vector<Eigen::Vector2d>& points) {
  std::vector<int> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  const auto at = [&](int i) -> const Eigen::Vector2d& { return points[i]; };
  std::sort(order.begin(), order.end(),
            [&](int i, int j) { return at(i).x() != at(j).x() ? at(i).x() < at(j).x() : at(i).y() < at(j).y(); });
  double size = 0;
  for (const Eigen::Vector2d& p : points) size = std::max(size, (p - points[0]).norm());
  std::vector<int> corners;
  const auto chain = [&](int i, std::size_t start) {
    while (corners.size() >= start + 2) {
      const Eigen::Vector2d &a = at(corners[corners.size() - 2]), &b = at(corners.back());
      const double length = (at(i) - a).norm();
      if (cross(b - a, at(i) - a) > kMerged * size * std::max(length, kMerged * size)) break;
      corners.pop_back();
    }
    corners.push_back(i);
  };
  for (const int i : order) chain(i, 0);
  const std::size_t turn = corners.size() - 1;
  for (auto i = order.rbegin() + 1; i != order.rend(); ++i) chain(*i, turn);
  corners.pop_back();  // the first again
  return corners;
}

std::uint64_t contact_id(int geometry_a, int geometry_b, int vertex) {
  return (static_cast<std::uint64_t>(geometry_a) << 40) | (static_cast<std::uint64_t>(geometry_b) << 16) |
         static_cast<std::uint64_t>(vertex);
}

}  // namespace

struct PlanarWorld::Touch {
  double gap = 0;
  Eigen::Vector2d n, p_A, p_B;
};

/// A geometry seen along the plane's normal, before its extent is measured and its corners are chosen.
struct PlanarWorld::Silhouette {
  Outline outline;                      // with kind, geometry, body, radius and normal
  std::vector<Eigen::Vector3d> points;  // body frame: a centre, a border point, or all vertices
  double half_height = 0;               // of the geometry about each of these points, along the plane's normal
};

/// What the steps of `build` share.
struct PlanarWorld::Builder {
  PlanarWorld& world;
  std::span<const RigidTransform> X_WB;
  Diagnostics& diagnostics;

  bool refuse(const GeometryDescription& geometry, const std::string& why) const;
  bool look_along_normal(const GeometryDescription& geometry, const Shape& shape, const std::string& kind,
                         Silhouette& seen) const;
  bool choose_vertices(const GeometryDescription& geometry, Silhouette& seen) const;
  void add_pair(int outline_a, int outline_b) const;
};

/// Reports a shape without an outline. @returns false.
bool PlanarWorld::Builder::refuse(const GeometryDescription& geometry, const std::string& why) const {
  diagnostics.error(geometry.where,
                    fmt::format("geometry '{}': {}; step.model limit-surface takes sphere, cylinder and capsule "
                                "(axis along the plane's normal), box, prism, mesh, and half_space (normal in the "
                                "plane, or along its normal: a floor)",
                                geometry.name, why));
  return false;
}

/// Which kind of outline a shape has, and the points that it is made of. @returns false for floors, which have none,
/// and after an error.
bool PlanarWorld::Builder::look_along_normal(const GeometryDescription& geometry, const Shape& shape,
                                             const std::string& kind, Silhouette& seen) const {
  const Eigen::Vector3d& normal = world.axes_[2];
  const RigidTransform X_WG = X_WB[geometry.body] * geometry.X_BG;
  const double along = std::abs(normal.dot(X_WG.linear().col(2)));
  Outline& outline = seen.outline;
  switch (shape.kind) {
    case collision::Kind::kHalfSpace: {
      outline.kind = Kind::kHalfPlane;
      const Eigen::Vector3d n_W = X_WG.linear() * shape.normal;
      const double tilt = std::abs(normal.dot(n_W));
      if (tilt > 1 - kAligned) return false;  // a floor
      if (tilt > kAligned) return refuse(geometry, "a half-space must stand on the plane of motion or lie along it");
      outline.normal = geometry.X_BG.linear() * shape.normal;
      seen.points = {geometry.X_BG * Eigen::Vector3d(shape.normal * shape.offset)};
      seen.half_height = std::numeric_limits<double>::infinity();
      return true;
    }
    case collision::Kind::kSphere:
      seen.points = {geometry.X_BG.translation()};
      outline.radius = seen.half_height = shape.radius;
      return true;
    case collision::Kind::kCapsule:
    case collision::Kind::kCylinder:
      if (along < 1 - kAligned)
        return refuse(geometry, fmt::format("the axis of the {} must be along the plane's normal", kind));
      seen.points = {geometry.X_BG.translation()};
      outline.radius = shape.kind == collision::Kind::kCapsule ? shape.radius : shape.half.x();
      seen.half_height = shape.half.z() + (shape.kind == collision::Kind::kCapsule ? shape.radius : 0);
      return true;
    case collision::Kind::kEllipsoid:
      if (along < 1 - kAligned || shape.half.x() != shape.half.y())
        return refuse(geometry, "an ellipsoid must be round about the plane's normal");
      seen.points = {geometry.X_BG.translation()};
      outline.radius = shape.half.x();
      seen.half_height = shape.half.z();
      return true;
    case collision::Kind::kBox:
    case collision::Kind::kHull:
      outline.kind = Kind::kPolygon;
      for (const Eigen::Vector3d& vertex : shape.core.vertices) seen.points.push_back(geometry.X_BG * vertex);
      return true;
  }
  return false;
}

/// Extent along the normal, vertices (of a polygon: those of the convex hull) and bounding circle. @returns false after
/// an error.
bool PlanarWorld::Builder::choose_vertices(const GeometryDescription& geometry, Silhouette& seen) const {
  const Eigen::Vector3d& normal = world.axes_[2];
  Outline& outline = seen.outline;
  std::vector<Eigen::Vector2d> flat;
  outline.low = std::numeric_limits<double>::infinity();
  outline.high = -outline.low;
  for (const Eigen::Vector3d& point : seen.points) {
    const Eigen::Vector3d p_W = X_WB[geometry.body] * point;
    flat.push_back(world.in_plane(p_W));
    outline.low = std::min(outline.low, normal.dot(p_W) - seen.half_height);
    outline.high = std::max(outline.high, normal.dot(p_W) + seen.half_height);
  }
  if (outline.kind == Kind::kPolygon) {
    for (const int i : hull(flat)) outline.vertices.push_back(seen.points[i]);
    if (outline.vertices.size() < 3) return refuse(geometry, "its outline in the plane of motion has no area");
  } else {
    outline.vertices = seen.points;
  }
  for (const Eigen::Vector3d& vertex : outline.vertices)
    outline.centre += vertex / static_cast<double>(outline.vertices.size());
  for (const Eigen::Vector3d& vertex : outline.vertices)
    outline.bounding_radius = std::max(outline.bounding_radius, (vertex - outline.centre).norm());
  outline.bounding_radius += outline.radius;
  return true;
}

/// Lists two outlines as a pair, if they can touch: not two half-planes, not two points, not at different heights.
void PlanarWorld::Builder::add_pair(int outline_a, int outline_b) const {
  Pair pair{outline_a, outline_b, 0};
  if (world.outlines_[pair.a].kind > world.outlines_[pair.b].kind) std::swap(pair.a, pair.b);
  const Outline &a = world.outlines_[pair.a], &b = world.outlines_[pair.b];
  if (a.kind == Kind::kHalfPlane) return;
  if (b.kind == Kind::kDisc && a.radius == 0 && b.radius == 0) return;
  const double apart = std::max(a.low, b.low) - std::min(a.high, b.high);
  const bool thick = a.high - a.low > kSameHeight && b.high - b.low > kSameHeight;
  if (!(apart < (thick ? -kSameHeight : kSameHeight))) return;
  pair.height =
      b.kind == Kind::kHalfPlane ? 0.5 * (a.low + a.high) : 0.5 * (std::max(a.low, b.low) + std::min(a.high, b.high));
  world.pairs_.push_back(pair);
}

PlanarWorld PlanarWorld::build(std::span<const GeometryDescription> geometries, std::span<const unsigned char> allowed,
                               std::span<const RigidTransform> X_WB, const Eigen::Vector3d& normal_W,
                               Diagnostics& diagnostics) {
  PlanarWorld world;
  const int k =
      static_cast<int>(std::distance(normal_W.data(), std::max_element(normal_W.data(), normal_W.data() + 3)));
  world.axes_ = {Eigen::Vector3d::Unit((k + 1) % 3), Eigen::Vector3d::Unit((k + 2) % 3), Eigen::Vector3d::Unit(k)};
  const Builder builder{world, X_WB, diagnostics};

  std::vector<int> outline_of(geometries.size(), -1);  // by geometry; −1: it has none
  int points = 0;
  for (std::size_t g = 0; g < geometries.size(); ++g) {
    GeometryInfo info;
    const int errors = diagnostics.error_count();
    const Shape shape = build_shape(geometries[g], info, diagnostics);
    if (diagnostics.error_count() > errors) continue;  // the other geometries may have errors of their own
    Silhouette seen;
    seen.outline.geometry = static_cast<int>(g);
    seen.outline.body = geometries[g].body;
    if (!builder.look_along_normal(geometries[g], shape, info.kind, seen)) continue;
    if (!builder.choose_vertices(geometries[g], seen)) continue;
    seen.outline.first = points;
    points += static_cast<int>(seen.outline.vertices.size()) + 1;  // and the centre
    outline_of[g] = static_cast<int>(world.outlines_.size());
    world.outlines_.push_back(std::move(seen.outline));
  }
  for (std::size_t i = 0; i < geometries.size(); ++i) {
    for (std::size_t j = i + 1; j < geometries.size(); ++j) {
      if (!allowed[i * geometries.size() + j] || outline_of[i] < 0 || outline_of[j] < 0) continue;
      builder.add_pair(outline_of[i], outline_of[j]);
    }
  }
  return world;
}

void PlanarWorld::place(std::span<const RigidTransform> X_WB, PlanarWorkspace& workspace) const {
  workspace.points.clear();
  workspace.normals.clear();
  for (const Outline& outline : outlines_) {
    const RigidTransform& X = X_WB[outline.body];
    for (const Eigen::Vector3d& vertex : outline.vertices) workspace.points.push_back(in_plane(X * vertex));
    const std::size_t n = outline.vertices.size(), first = workspace.points.size() - n;
    for (std::size_t i = 0; i < n; ++i) {
      if (outline.kind == Kind::kHalfPlane) {
        workspace.normals.push_back(in_plane(X.linear() * outline.normal).normalized());
      } else {
        const Eigen::Vector2d t = workspace.points[first + (i + 1) % n] - workspace.points[first + i];
        workspace.normals.push_back(n > 2 ? Eigen::Vector2d(t.y(), -t.x()).normalized() : Eigen::Vector2d::Zero());
      }
    }
    workspace.points.push_back(in_plane(X * outline.centre));
    workspace.normals.emplace_back(0, 0);
  }
}

PlanarWorld::Touch PlanarWorld::vertex_polygon(const Eigen::Vector2d& p, const Outline& polygon,
                                               const PlanarWorkspace& workspace) const {
  const auto first = to_size(polygon.first);
  Touch touch;
  touch.gap = -std::numeric_limits<double>::infinity();
  for (std::size_t i = first; i < first + polygon.vertices.size(); ++i) {
    const double s = workspace.normals[i].dot(p - workspace.points[i]);
    if (s <= touch.gap + kTie) continue;
    touch.gap = s;
    touch.n = workspace.normals[i];
  }
  touch.p_A = p;
  touch.p_B = p - touch.gap * touch.n;
  return touch;
}

PlanarWorld::Touch PlanarWorld::disc_polygon(const Outline& disc, const Outline& polygon,
                                             const PlanarWorkspace& workspace) const {
  const Eigen::Vector2d& c = workspace.points[disc.first];
  Touch touch = vertex_polygon(c, polygon, workspace);
  if (disc.radius > 0 && touch.gap > 0) {
    // Outside: the nearest point of the border, which may be a corner.
    const auto first = to_size(polygon.first), n = polygon.vertices.size();
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
      const Eigen::Vector2d &a = workspace.points[first + i], &b = workspace.points[first + (i + 1) % n];
      const double s = (c - a).dot(b - a) / (b - a).squaredNorm();
      const bool corner = s <= 0 || s >= 1;
      const Eigen::Vector2d p = s <= 0 ? a : s >= 1 ? b : Eigen::Vector2d(a + s * (b - a));
      const double distance = (c - p).norm();
      if (distance >= nearest - kTie) continue;
      nearest = distance;
      touch.gap = distance;
      touch.n = corner && distance > 0 ? Eigen::Vector2d((c - p) / distance) : workspace.normals[first + i];
      touch.p_B = p;
    }
  }
  touch.gap -= disc.radius;
  touch.p_A = c - disc.radius * touch.n;
  return touch;
}

PlanarWorld::Touch PlanarWorld::point_half_plane(const Eigen::Vector2d& p, double radius, const Outline& half_plane,
                                                 const PlanarWorkspace& workspace) const {
  const auto i = to_size(half_plane.first);
  const Eigen::Vector2d& n = workspace.normals[i];
  const double distance = n.dot(p - workspace.points[i]);
  return {distance - radius, n, p - radius * n, p - distance * n};
}

void PlanarWorld::find_contacts(std::span<const RigidTransform> X_WB, double margin, PlanarWorkspace& workspace,
                                std::vector<ContactPair>& contacts) const {
  place(X_WB, workspace);
  contacts.clear();
  const auto add = [&](const Outline& a, const Outline& b, int vertex, double height, const Touch& touch) {
    if (!(touch.gap < margin)) return;
    const auto in_space = [&](const Eigen::Vector2d& p) -> Eigen::Vector3d {
      return p.x() * axes_[0] + p.y() * axes_[1] + height * axes_[2];
    };
    ContactPair& contact = contacts.emplace_back();
    contact.geometry_a = a.geometry;
    contact.geometry_b = b.geometry;
    contact.body_a = a.body;
    contact.body_b = b.body;
    contact.gap = touch.gap;
    contact.nhat_BA_W = touch.n.x() * axes_[0] + touch.n.y() * axes_[1];
    contact.p_WA = in_space(touch.p_A);
    contact.p_WB = in_space(touch.p_B);
    contact.id = contact_id(a.geometry, b.geometry, vertex);
  };
  const auto vertices = [&](const Outline& a, const Outline& b, double height, auto&& touch) {
    for (std::size_t i = 0; i < a.vertices.size(); ++i)
      add(a, b, static_cast<int>(i), height, touch(workspace.points[to_size(a.first) + i], b));
  };
  for (const Pair& pair : pairs_) {
    const Outline &a = outlines_[pair.a], &b = outlines_[pair.b];
    if (b.kind != Kind::kHalfPlane) {
      const auto centre = [&](const Outline& o) -> const Eigen::Vector2d& {
        return workspace.points[to_size(o.first) + o.vertices.size()];
      };
      if ((centre(a) - centre(b)).norm() - a.bounding_radius - b.bounding_radius >= margin) continue;
    }
    if (b.kind == Kind::kHalfPlane) {
      vertices(a, b, pair.height,
               [&](const Eigen::Vector2d& p, const Outline& o) { return point_half_plane(p, a.radius, o, workspace); });
    } else if (a.kind == Kind::kDisc && b.kind == Kind::kDisc) {
      const Eigen::Vector2d &p = workspace.points[a.first], &q = workspace.points[b.first];
      const double distance = (p - q).norm();
      const Eigen::Vector2d n = distance > 0 ? Eigen::Vector2d((p - q) / distance) : Eigen::Vector2d::UnitX();
      add(a, b, 0, pair.height, {distance - a.radius - b.radius, n, p - a.radius * n, q + b.radius * n});
    } else if (a.kind == Kind::kDisc) {
      add(a, b, 0, pair.height, disc_polygon(a, b, workspace));
    } else {
      const auto touch = [&](const Eigen::Vector2d& p, const Outline& o) { return vertex_polygon(p, o, workspace); };
      vertices(a, b, pair.height, touch);
      vertices(b, a, pair.height, touch);
    }
  }
}

}  // namespace deft::collision
