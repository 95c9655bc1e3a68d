#include "deft/collision/shapes/weigh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "deft/collision/shapes/convex_hull.hpp"
#include "deft/collision/shapes/solid.hpp"
#include "deft/collision/shapes/triangle_mesh.hpp"
#include "deft/math/dense.hpp"
#include "deft/multibody/description/inline_points.hpp"

namespace deft::collision {
namespace {

using namespace multibody;  // the specs
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Triangle = std::array<int, 3>;

/// Corners and triangles of a mesh; of its hull where that is what weighs, or it has no triangles of its own.
struct Surface {
  std::vector<Vector3d> points;
  std::vector<Triangle> triangles;
};

Surface hull_surface(const std::vector<Vector3d>& points) {
  const Polytope hull = make_convex_hull(points);
  Surface surface{.points = hull.vertices, .triangles = {}};
  for (const Polytope::Face& face : hull.faces)
    for (int i = 1; i + 1 < face.count; ++i)
      surface.triangles.push_back(
          {hull.corners[face.first], hull.corners[face.first + i], hull.corners[face.first + i + 1]});
  return surface;
}

Surface surface_of(const MeshSpec& mesh, const SolidSpec& solid) {
  Surface surface;
  if (has_inline_points(mesh.path)) {
    surface = {.points = read_inline_points(mesh.path), .triangles = solid.triangles};
    for (Vector3d& p : surface.points) p = p.cwiseProduct(mesh.scale);
  } else {
    const TriangleMesh read = load_triangles(mesh.path, mesh.scale);
    for (std::size_t i = 0; i < read.vertices.size(); i += 3) surface.points.emplace_back(read.vertices.data() + i);
    for (std::size_t i = 0; i < read.triangles.size(); i += 3)
      surface.triangles.push_back({read.triangles[i], read.triangles[i + 1], read.triangles[i + 2]});
  }
  const bool is_hull = solid.filling == MeshFilling::kHull && !solid.shell;
  return is_hull || surface.triangles.empty() ? hull_surface(surface.points) : surface;
}

/// Mass, centre of mass and inertia about it of one solid, in the link frame.
/// @throws std::runtime_error that says what is wrong.
InertialSpec inertial_of(const SolidSpec& solid) {
  SolidProperties unit;
  if (const auto* mesh = std::get_if<MeshSpec>(&solid.shape)) {
    const Surface surface = surface_of(*mesh, solid);
    unit = solid.shell ? shell_solid(surface.points, surface.triangles)
                       : mesh_solid(surface.points, surface.triangles, solid.filling);
    if (!(unit.volume > 0))
      throw std::runtime_error("the mesh encloses no volume (are its triangles turned outwards?)");
  } else {
    if (solid.shell) throw std::runtime_error("shellinertia is read of meshes only");
    unit = solid_properties(solid.shape).value_or(SolidProperties{});
  }
  const double density = solid.mass ? (unit.volume > 0 ? *solid.mass / unit.volume : 0.0) : solid.density;
  const Matrix3d R = solid.X_LG.linear();
  return {.mass = solid.mass.value_or(density * unit.volume),
          .p_LCom = solid.X_LG * unit.p_GCom,
          .I_Com_L = density * R * unit.I_Com_G * R.transpose()};
}

/// Of a rigid body of the parts.
InertialSpec sum_of(const std::vector<InertialSpec>& parts) {
  InertialSpec sum;
  for (const InertialSpec& part : parts) {
    sum.mass += part.mass;
    sum.p_LCom += part.mass * part.p_LCom;
  }
  if (sum.mass > 0) sum.p_LCom /= sum.mass;
  for (const InertialSpec& part : parts)
    sum.I_Com_L += part.I_Com_L + part.mass * point_inertia(part.p_LCom - sum.p_LCom);
  return sum;
}

void apply(const InertiaRules& rules, InertialSpec& inertial) {
  inertial.mass = std::max(inertial.mass, rules.least_mass);
  if (rules.least_moment <= 0 && !rules.balance) return;
  const auto eigen = symmetric_eigen(inertial.I_Com_L);
  Vector3d moments = eigen.values.cwiseMax(rules.least_moment);  // ascending
  if (rules.balance && moments[0] + moments[1] < moments[2]) moments.setConstant(moments.mean());
  if (moments != eigen.values) inertial.I_Com_L = eigen.vectors * moments.asDiagonal() * eigen.vectors.transpose();
}

}  // namespace

void weigh(ModelSpec& model, Diagnostics& diagnostics) {
  double total = 0;
  for (LinkSpec& link : model.links) {
    if (!link.inertial && !link.solids.empty()) {
      std::vector<InertialSpec> parts;
      for (const SolidSpec& solid : link.solids) {
        try {
          parts.push_back(inertial_of(solid));
        } catch (const std::exception& error) {
          diagnostics.error(solid.where, fmt::format("what a geometry of '{}' weighs: {}", link.name, error.what()));
        }
      }
      link.inertial = sum_of(parts);
    }
    link.solids.clear();
    if (!link.inertial) continue;
    apply(model.inertia_rules, *link.inertial);
    total += link.inertial->mass;
  }
  if (!(model.inertia_rules.total_mass > 0) || !(total > 0)) return;
  for (LinkSpec& link : model.links) {
    if (!link.inertial) continue;
    link.inertial->mass *= model.inertia_rules.total_mass / total;
    link.inertial->I_Com_L *= model.inertia_rules.total_mass / total;
  }
}

}  // namespace deft::collision
