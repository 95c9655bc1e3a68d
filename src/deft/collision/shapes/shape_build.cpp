#include <fmt/format.h>

#include <cmath>

#include "deft/collision/shapes/convex_hull.hpp"
#include "deft/collision/shapes/shape.hpp"
#include "deft/multibody/description/inline_points.hpp"

namespace deft::collision {
namespace {

using namespace multibody;  // the specs

constexpr double kInflationWarning = 1.25;  // hull volume / mesh volume

/// Reports on one geometry, naming it.
struct Report {
  const GeometryDescription& geometry;
  Diagnostics& diagnostics;

  void error(const std::string& what) const {
    diagnostics.error(geometry.where, fmt::format("geometry '{}': {}", geometry.name, what));
  }
  void warning(const std::string& what, const char* kind) const {
    diagnostics.warning(geometry.where, fmt::format("geometry '{}': {}", geometry.name, what), kind);
  }
  bool require_positive(const char* what, double value) const {
    if (std::isfinite(value) && value > 0) return true;
    error(fmt::format("{} must be positive and finite, it is {}", what, value));
    return false;
  }
  bool require_not_negative(const char* what, double value) const {
    if (std::isfinite(value) && value >= 0) return true;
    error(fmt::format("{} must be finite and at least 0, it is {}", what, value));
    return false;
  }
};

struct Builder {
  const Report& report;
  Shape& shape;
  GeometryInfo& info;

  void operator()(const SphereSpec& spec) const {
    info.kind = "sphere";
    if (!report.require_not_negative("radius", spec.radius)) return;
    shape.kind = Kind::kSphere;
    shape.radius = spec.radius;
    shape.core.vertices = {Vector3d::Zero()};
    shape.box_half.setConstant(spec.radius);
    shape.bounding_radius = spec.radius;
  }
  void operator()(const BoxSpec& spec) const {
    info.kind = "box";
    for (const double length : spec.size) {
      if (!report.require_positive("box size", length)) return;
    }
    shape.kind = Kind::kBox;
    shape.half = shape.box_half = 0.5 * spec.size;
    shape.core = make_box_polytope(shape.half);
    shape.bounding_radius = shape.half.norm();
  }
  void operator()(const CapsuleSpec& spec) const {
    info.kind = "capsule";
    if (!report.require_positive("radius", spec.radius) || !report.require_not_negative("length", spec.length)) return;
    if (spec.length == 0) return (*this)(SphereSpec{spec.radius});
    shape.kind = Kind::kCapsule;
    shape.radius = spec.radius;
    shape.half = {0, 0, 0.5 * spec.length};
    shape.core.vertices = {-shape.half, shape.half};
    shape.core.edges = {{.from = 0, .to = 1}};
    shape.box_half = shape.half.array() + spec.radius;
    shape.bounding_radius = shape.half.z() + spec.radius;
  }
  void operator()(const CylinderSpec& spec) const {
    info.kind = "cylinder";
    if (!report.require_positive("radius", spec.radius) || !report.require_positive("length", spec.length)) return;
    shape.kind = Kind::kCylinder;
    shape.half = shape.box_half = {spec.radius, spec.radius, 0.5 * spec.length};
    shape.bounding_radius = std::hypot(spec.radius, shape.half.z());
  }
  void operator()(const EllipsoidSpec& spec) const {
    info.kind = "ellipsoid";
    for (const double radius : spec.radii) {
      if (!report.require_positive("radius", radius)) return;
    }
    shape.kind = Kind::kEllipsoid;
    shape.half = shape.box_half = spec.radii;
    shape.bounding_radius = spec.radii.maxCoeff();
  }
  void operator()(const HalfSpaceSpec& spec) const {
    info.kind = "half-space";
    const double length = spec.normal.norm();
    if (!std::isfinite(length) || !(length > 0))
      return report.error("the normal of a half-space must be finite and not zero");
    if (!std::isfinite(spec.offset))
      return report.error(fmt::format("the offset of a half-space must be finite, it is {}", spec.offset));
    shape.kind = Kind::kHalfSpace;
    shape.normal = spec.normal / length;
    shape.offset = spec.offset / length;
    shape.bounding_radius = INFINITY;
    shape.box_half.setConstant(INFINITY);
  }
  void operator()(const PrismSpec& spec) const {
    info.kind = "prism";
    const auto polygon = check_polygon(spec.vertices);
    if (!report.require_positive("height", spec.height) || polygon.empty()) return;
    set_hull(make_prism_polytope(polygon, 0.5 * spec.height));
  }
  void operator()(const MeshSpec& spec) const {
    info.kind = "convex hull";
    if (!spec.scale.allFinite() || (spec.scale.array() == 0).any())
      return report.error("the scale of a mesh must be finite and not zero");
    if (has_inline_points(spec.path)) return set_points(spec);
    try {
      const Mesh mesh = load_mesh(spec.path, spec.scale);
      set_hull(make_convex_hull(mesh.vertices));
      info.mesh_volume = mesh.volume;
      info.hull_volume = volume(shape.core);
      if (!spec.is_convex && info.hull_volume > kInflationWarning * info.mesh_volume) {
        report.warning(
            fmt::format(
                "mesh '{0}' collides as its convex hull ({1} vertices), whose volume is {2:.3g} times the mesh's; "
                "'deft model convex {0} --out DIR' makes convex parts of it, 'decompose: true' in a scene does so on "
                "the way",
                spec.path, info.hull_vertices, info.hull_volume / info.mesh_volume),
            "meshes collide as their convex hulls, which are larger");
      }
    } catch (const std::exception& error) {
      report.error(fmt::format("mesh '{}': {}", spec.path, error.what()));
    }
  }

  void set_points(const MeshSpec& spec) const {
    try {
      std::vector<Vector3d> points = read_inline_points(spec.path);
      for (Vector3d& p : points) p = p.cwiseProduct(spec.scale);
      set_hull(make_convex_hull(points));
      info.mesh_volume = info.hull_volume = volume(shape.core);
    } catch (const std::exception& error) {
      report.error(fmt::format("convex hull of points: {}", error.what()));
    }
  }

  void set_hull(Polytope core) const {
    Eigen::AlignedBox3d box;
    for (const auto& v : core.vertices) box.extend(v);
    shape.kind = Kind::kHull;
    shape.core = std::move(core);
    shape.box_centre = shape.centre = box.center();
    shape.box_half = 0.5 * box.sizes();
    shape.bounding_radius = 0;
    for (const auto& v : shape.core.vertices)
      shape.bounding_radius = std::max(shape.bounding_radius, (v - shape.centre).norm());
    info.hull_vertices = static_cast<int>(shape.core.vertices.size());
  }

  /// The polygon counter-clockwise without vertices on straight sides; empty after an error.
  std::vector<Eigen::Vector2d> check_polygon(std::vector<Eigen::Vector2d> polygon) const {
    const int n = static_cast<int>(polygon.size());
    double area = 0, size = 0;
    for (int i = 0; i < n; ++i) {
      const auto &p = polygon[i], &q = polygon[(i + 1) % n];
      if (!p.allFinite()) return report.error("a vertex of the prism is not finite"), std::vector<Eigen::Vector2d>{};
      area += 0.5 * (p.x() * q.y() - p.y() * q.x());
      size = std::max(size, (p - polygon[0]).norm());
    }
    if (n < 3 || std::abs(area) <= 1e-9 * size * size)
      return report.error("the polygon of a prism needs at least three vertices and an area"),
             std::vector<Eigen::Vector2d>{};
    if (area < 0) std::reverse(polygon.begin(), polygon.end());
    std::vector<Eigen::Vector2d> corners;
    for (int i = 0; i < n; ++i) {
      const auto &before = polygon[(i + n - 1) % n], &here = polygon[i], &after = polygon[(i + 1) % n];
      const Eigen::Vector2d in = here - before, out = after - here;
      if (in.x() * out.y() - in.y() * out.x() > 1e-12 * size * size) corners.push_back(here);
    }
    // Convex: every vertex lies to the left of every side.
    const int m = static_cast<int>(corners.size());
    for (int i = 0; i < n; ++i) {
      const Eigen::Vector2d side = polygon[(i + 1) % n] - polygon[i];
      for (const auto& p : polygon) {
        const Eigen::Vector2d x = p - polygon[i];
        if (m < 3 || side.x() * x.y() - side.y() * x.x() < -1e-9 * size * size)
          return report.error("the polygon of a prism must be convex"), std::vector<Eigen::Vector2d>{};
      }
    }
    return corners;
  }
};

}  // namespace

Shape build_shape(const GeometryDescription& geometry, GeometryInfo& info, Diagnostics& diagnostics) {
  Shape shape;
  const Report report{geometry, diagnostics};
  info.name = geometry.name;
  info.body = geometry.body;
  const int errors = diagnostics.error_count();
  if (!geometry.X_BG.matrix().allFinite()) report.error("its pose is not finite");
  std::visit(Builder{report, shape, info}, geometry.shape);
  if (diagnostics.error_count() > errors) return shape;
  for (auto& face : shape.core.faces) {
    face.offset = -INFINITY;
    for (const auto& v : shape.core.vertices) face.offset = std::max(face.offset, face.normal.dot(v));
  }
  return shape;
}

}  // namespace deft::collision
