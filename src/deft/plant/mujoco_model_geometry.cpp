// One collision geometry of a scene in MuJoCo's terms.
#ifdef DEFT_HAS_MUJOCO
#include <fmt/format.h>

#include <algorithm>

#include "deft/collision/shapes/shape.hpp"
#include "deft/math/small_dense.hpp"
#include "deft/plant/mujoco_model.hpp"
#include "deft/plant/plant_parts.hpp"

namespace deft::plant {
namespace {

using Eigen::Vector3d;

/// The rotation that takes z to `n`.
Eigen::Matrix3d frame_along(const Vector3d& n) { return rotation_between(Vector3d::UnitZ(), n); }

struct GeometryWriter {
  mjSpec* spec;
  mjsGeom* geom;
  bool on_static;
  const collision::GeometryDescription& geometry;
  RigidTransform X_MG;
  std::vector<std::string>& notes;

  void set(mjtGeom type, double a, double b = 0, double c = 0) {
    geom->type = type;
    geom->size[0] = a;
    geom->size[1] = b;
    geom->size[2] = c;
  }
  void operator()(const multibody::SphereSpec& s) {
    set(mjGEOM_SPHERE, std::max(s.radius, kPointRadius_m));
    if (s.radius < kPointRadius_m)
      notes.push_back(
          fmt::format("geometry '{}': a point, here a sphere of radius {} m", geometry.name, kPointRadius_m));
  }
  void operator()(const multibody::BoxSpec& s) {
    set(mjGEOM_BOX, 0.5 * s.size.x(), 0.5 * s.size.y(), 0.5 * s.size.z());
  }
  void operator()(const multibody::CapsuleSpec& s) {
    if (s.length > 0)
      set(mjGEOM_CAPSULE, s.radius, 0.5 * s.length);
    else
      (*this)(multibody::SphereSpec{s.radius});
  }
  void operator()(const multibody::CylinderSpec& s) { set(mjGEOM_CYLINDER, s.radius, 0.5 * s.length); }
  void operator()(const multibody::EllipsoidSpec& s) { set(mjGEOM_ELLIPSOID, s.radii.x(), s.radii.y(), s.radii.z()); }
  void operator()(const multibody::HalfSpaceSpec& s) {
    if (!on_static)
      throw InputError(
          geometry.where,
          fmt::format(
              "plant mujoco: geometry '{}' is a half-space on a body that moves; MuJoCo has them on fixed bodies only",
              geometry.name));
    const double length = s.normal.norm();
    const Vector3d n = s.normal / length;
    set(mjGEOM_PLANE, 0, 0, 1);
    X_MG = X_MG * make_transform(frame_along(n), s.offset / length * n);
  }
  void operator()(const multibody::PrismSpec&) { set_hull(); }
  void operator()(const multibody::MeshSpec&) { set_hull(); }

  /// The convex hull that the scene collides with, as a mesh of its vertices.
  void set_hull() {
    collision::GeometryInfo info;
    Diagnostics repeated;  // what it warns of was said when the scene was built
    const collision::Shape shape = collision::build_shape(geometry, info, repeated);
    std::vector<float> vertices;
    for (const Vector3d& p : shape.core.vertices)
      for (const double x : p) vertices.push_back(static_cast<float>(x));
    const MujocoLibrary& lib = mujoco();
    mjsMesh* const mesh = lib.mjs_addMesh(spec, nullptr);
    const std::string name = fmt::format("m{}", geometry.name);
    lib.mjs_setName(mesh->element, name.c_str());
    lib.mjs_setFloat(mesh->uservert, vertices.data(), static_cast<int>(vertices.size()));
    mesh->inertia = mjMESH_INERTIA_CONVEX;
    lib.mjs_setString(geom->meshname, name.c_str());
    geom->type = mjGEOM_MESH;
  }
};

}  // namespace

void add_mujoco_geometry(mjSpec* spec, mjsBody* body, bool on_static, int index,
                         const collision::GeometryDescription& geometry, const RigidTransform& X_MG,
                         std::vector<std::string>& notes) {
  const MujocoLibrary& lib = mujoco();
  mjsGeom* const geom = lib.mjs_addGeom(body, nullptr);
  lib.mjs_setName(geom->element, fmt::format("g{}", index).c_str());
  geom->contype = geom->conaffinity = 0;  // what may touch is listed in pairs
  geom->mass = 0;
  GeometryWriter writer{spec, geom, on_static, geometry, X_MG, notes};
  std::visit(writer, geometry.shape);
  Eigen::Map<Vector3d>(geom->pos) = writer.X_MG.translation();
  Eigen::Map<Eigen::Vector4d>(geom->quat) = quat_wxyz_from_rotation(writer.X_MG.linear());
}

}  // namespace deft::plant
#endif
