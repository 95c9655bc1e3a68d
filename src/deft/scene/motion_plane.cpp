#include "deft/scene/motion_plane.hpp"

#include <fmt/core.h>

#include <vector>

#include "deft/core/index.hpp"

namespace deft::scene {
namespace {

constexpr double kTolerance = 1e-9;  // of unit columns: rounding of axes given with 16 digits

/// The axis along the plane's normal: 0 = x, 1 = y, 2 = z.
int normal_axis(Plane plane) { return plane == Plane::kYZ ? 0 : plane == Plane::kXZ ? 1 : 2; }

/// True when all columns of a body stay in the plane with that normal axis.
bool moves_in_plane(const multibody::Model& model, const multibody::Kinematics& kinematics, std::size_t body,
                    int normal) {
  const int k = static_cast<int>(model.columns(static_cast<int>(body)).size());
  std::vector<double> J(6 * to_size(k), 0.0);
  if (k > 0) model.point_jacobian(kinematics, static_cast<int>(body), kinematics.X_WB[body].translation(), J.data(), k);
  for (int c = 0; c < k; ++c) {
    for (int axis = 0; axis < 3; ++axis) {
      const bool bad_rotation = axis != normal && std::abs(J[axis * k + c]) > kTolerance;
      const bool bad_motion = axis == normal && std::abs(J[(3 + axis) * k + c]) > kTolerance;
      if (bad_rotation || bad_motion) return false;
    }
  }
  return true;
}

/// True when all bodies stay in it.
bool moves_in_plane(const multibody::Model& model, const multibody::Kinematics& kinematics, int normal) {
  for (std::size_t body = 1; body < model.bodies().size(); ++body)
    if (!moves_in_plane(model, kinematics, body, normal)) return false;
  return true;
}

/// "'a', 'b'": the bodies that can leave the plane, at most five.
std::string bodies_that_leave(const multibody::Model& model, const multibody::Kinematics& kinematics, Plane plane) {
  std::string names;
  int left = 5;
  for (std::size_t body = 1; body < model.bodies().size(); ++body) {
    if (moves_in_plane(model, kinematics, body, normal_axis(plane))) continue;
    if (left-- == 0) return names + ", …";
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", model.bodies()[body].name);
  }
  return names;
}

/// Two rays leave one direction without friction. A polygon that quarter turns do not map to itself makes the step
/// depend on the choice of the tangents, which at vertical normals is one of rounding.
void check_rays_in_space(const WorldSpec& spec, const StepSettings& step, Diagnostics& diagnostics) {
  if (step.cone != Cone::kPyramid || step.rays % 4 == 0) return;
  const SourceLocation where{spec.file, 0, 0};
  if (step.rays == 2) {
    diagnostics.error(
        where, "step.rays: 2 rays are for motion in a plane, but bodies of this scene move in space; use 4 or 8");
  } else {
    diagnostics.warning(
        where,
        fmt::format(
            "step.rays: {} is not a multiple of 4: in space friction then depends on rounding at vertical normals",
            step.rays));
  }
}

}  // namespace

Eigen::Vector3d plane_normal(Plane plane) {
  switch (plane) {
    case Plane::kXY:
      return Eigen::Vector3d::UnitZ();
    case Plane::kXZ:
      return Eigen::Vector3d::UnitY();
    case Plane::kYZ:
      return Eigen::Vector3d::UnitX();
    case Plane::kSpace:
      break;
  }
  return Eigen::Vector3d::Zero();
}

std::string bodies_in_space(const multibody::Model& model, const Eigen::VectorXd& q) {
  multibody::Kinematics kinematics = model.make_kinematics();
  model.update(q, kinematics);
  std::string nearest;
  for (Plane plane : {Plane::kXY, Plane::kYZ, Plane::kXZ}) {
    const std::string names = bodies_that_leave(model, kinematics, plane);
    if (nearest.empty() || names.size() < nearest.size()) nearest = names;
  }
  return nearest;
}

Plane choose_plane(const WorldSpec& spec, const StepSettings& step, const multibody::Model& model,
                   const Eigen::VectorXd& q, Diagnostics& diagnostics) {
  multibody::Kinematics kinematics = model.make_kinematics();
  model.update(q, kinematics);
  const auto planar = [&](Plane plane) { return moves_in_plane(model, kinematics, normal_axis(plane)); };

  if (spec.plane) {
    if (*spec.plane == Plane::kSpace) {
      check_rays_in_space(spec, step, diagnostics);
    } else if (!planar(*spec.plane)) {
      diagnostics.error(
          {spec.file, 0, 0},
          fmt::format("plane: some body can leave the stated plane (a joint moves or turns it out of it): {}",
                      bodies_that_leave(model, kinematics, *spec.plane)));
    }
    return *spec.plane;
  }
  if (model.nv() > 0 && !(spec.is_q_sys && step.rays != 2)) {
    // One-dimensional scenes move in two planes at once: yz first, as in the published scenes.
    for (Plane plane : {Plane::kYZ, Plane::kXY, Plane::kXZ}) {
      if (planar(plane)) return plane;
    }
  }
  if (model.nv() > 0) check_rays_in_space(spec, step, diagnostics);
  return Plane::kSpace;
}

}  // namespace deft::scene
