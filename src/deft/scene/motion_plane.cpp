#include "deft/scene/motion_plane.hpp"

#include <fmt/core.h>

#include <vector>

namespace deft::scene {
namespace {

constexpr double kTolerance = 1e-9;  // of unit columns: rounding of axes given with 16 digits

/// True when all columns of all bodies stay in the plane with that normal axis (0 = x, 1 = y, 2 = z).
bool moves_in_plane(const multibody::Model& model, const multibody::Kinematics& kinematics, int normal) {
  std::vector<double> J;
  for (std::size_t body = 1; body < model.bodies().size(); ++body) {
    const auto columns = model.columns(static_cast<int>(body));
    const int k = static_cast<int>(columns.size());
    J.assign(6 * static_cast<std::size_t>(k), 0.0);
    if (k > 0) model.point_jacobian(kinematics, static_cast<int>(body), kinematics.X_WB[body].translation(), J.data(), k);
    for (int c = 0; c < k; ++c) {
      for (int axis = 0; axis < 3; ++axis) {
        const bool bad_rotation = axis != normal && std::abs(J[axis * k + c]) > kTolerance;
        const bool bad_motion = axis == normal && std::abs(J[(3 + axis) * k + c]) > kTolerance;
        if (bad_rotation || bad_motion) return false;
      }
    }
  }
  return true;
}

/// Two rays leave one direction without friction; a number that 4 does not divide makes the step depend on rounding when the normal is
/// along an axis (the tangents swap there).
void check_rays_in_space(const SceneSpec& spec, Diagnostics& diagnostics) {
  if (spec.step.cone != Cone::kPyramid || spec.step.rays % 4 == 0) return;
  const SourceLocation where{spec.file, 0, 0};
  if (spec.step.rays == 2) {
    diagnostics.error(where, "step.rays: 2 rays are for motion in a plane, but bodies of this scene move in space; use 4 or 8");
  } else {
    diagnostics.warning(where, fmt::format("step.rays: {} is no multiple of 4: in space the step then depends on rounding at vertical normals", spec.step.rays));
  }
}

}  // namespace

Eigen::Vector3d plane_normal(Plane plane) {
  switch (plane) {
    case Plane::kXY: return Eigen::Vector3d::UnitZ();
    case Plane::kXZ: return Eigen::Vector3d::UnitY();
    case Plane::kYZ: return Eigen::Vector3d::UnitX();
    case Plane::kSpace: break;
  }
  return Eigen::Vector3d::Zero();
}

Plane choose_plane(const SceneSpec& spec, const multibody::Model& model, const Eigen::VectorXd& q, Diagnostics& diagnostics) {
  multibody::Kinematics kinematics = model.make_kinematics();
  model.update(q, kinematics);
  const auto planar = [&](Plane plane) { return moves_in_plane(model, kinematics, plane == Plane::kYZ ? 0 : plane == Plane::kXZ ? 1 : 2); };

  if (spec.plane) {
    if (*spec.plane == Plane::kSpace) {
      check_rays_in_space(spec, diagnostics);
    } else if (!planar(*spec.plane)) {
      diagnostics.error({spec.file, 0, 0}, "plane: some body can leave the stated plane (a joint moves or turns it out of it)");
    }
    return *spec.plane;
  }
  if (model.nv() > 0 && !(spec.is_q_sys && spec.step.rays != 2)) {
    // One-dimensional scenes move in two planes at once: yz first, as in the published scenes.
    for (Plane plane : {Plane::kYZ, Plane::kXY, Plane::kXZ}) {
      if (planar(plane)) return plane;
    }
  }
  if (model.nv() > 0) check_rays_in_space(spec, diagnostics);
  return Plane::kSpace;
}

}  // namespace deft::scene
