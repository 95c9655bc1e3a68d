#pragma once
// Differences of steps by numbers of the scene, for tests and benchmarks of derivatives by parameters.

#include <cmath>
#include <functional>

#include "step_differences.hpp"

namespace deft::dynamics {

/// A parameter, the change of the scene that it stands for, and the step of its differences.
struct ParameterCase {
  std::string name;
  Parameter parameter;
  double step;
  std::function<void(scene::SceneSpec&, double)> change;
};

/// All parameters of a scene of a robot (model 0, one geometry, springs in a list) and a free body (model 1) that touch
/// each other with friction `mu`.
inline std::vector<ParameterCase> parameter_cases(const StepDifferences& at, double mu) {
  const Matrix3d R_BW = rotation_from_quat_wxyz(at.q.segment<4>(at.scene.nu())).transpose();
  const auto X_LG = [](scene::SceneSpec& spec) -> RigidTransform& {
    return spec.world.models[1].links[0].collisions[0].X_LG;
  };
  const std::string robot = at.scene.spec().world.models[0].name, body = at.scene.spec().world.models[1].name;
  using Kind = Parameter::Kind;
  std::vector<ParameterCase> all{
      {"h", {Kind::kStepLength}, 1e-5, [](scene::SceneSpec& spec, double e) { *spec.step.h += e; }},
      {"mass",
       {Kind::kMass, 0},
       1e-4,
       [](scene::SceneSpec& spec, double e) {
         auto& inertial = *spec.world.models[1].links[0].inertial;
         inertial.I_Com_L *= 1 + e / inertial.mass;
         inertial.mass += e;
       }},
      {"softest spring",
       {Kind::kStiffness, 0},
       0.05,
       [](scene::SceneSpec& spec, double e) { spec.robots[0].stiffness.list[0] += e; }},
      {"spring",
       {Kind::kStiffness, 1},
       0.05,
       [](scene::SceneSpec& spec, double e) { spec.robots[0].stiffness.list[1] += e; }},
      {"friction",
       {Kind::kFriction, 0, 1},
       1e-4,
       [=](scene::SceneSpec& spec, double e) { spec.friction.pairs = {{.between = {robot, body}, .mu = mu + e}}; }},
  };
  for (int axis = 0; axis < 3; ++axis) {
    // About the world's axes through the body's origin, and along them: in the body frame at q.
    const Vector3d e_B = R_BW.col(axis);
    all.push_back(
        {fmt::format("turn {}", "xyz"[axis]), {Kind::kOffset, 1, axis}, 3e-5, [=](scene::SceneSpec& spec, double e) {
           X_LG(spec) = make_transform(exp_so3(e * e_B), Vector3d::Zero()) * X_LG(spec);
         }});
    all.push_back({fmt::format("shift {}", "xyz"[axis]),
                   {Kind::kOffset, 1, axis + 3},
                   1e-5,
                   [=](scene::SceneSpec& spec, double e) { X_LG(spec).translation() += e * e_B; }});
  }
  if (std::isfinite(at.scene.settings().step.kappa))
    all.push_back(
        {"kappa", {Kind::kKappa}, 1e-3 * at.scene.settings().step.kappa, [](scene::SceneSpec& spec, double e) {
           spec.step.kappa += e;
         }});
  return all;
}

/// Derivatives of q⁺ (as a displacement) and of the forces by one parameter. Nothing if contacts come and go.
inline std::optional<VectorXd> parameter_differences(const ParameterCase& parameter, const scene::SceneSpec& spec,
                                                     const StepDifferences& at, double scale = 1) {
  bool is_whole = true;
  Eigen::Index size = at.scene.nv();
  for (int i = 0; i < at.result.program.J.size(); ++i) size += at.result.program.J.rows(i);
  const VectorXd rate = test::difference(
      [&](double e) -> VectorXd {
        scene::SceneSpec changed = spec;
        parameter.change(changed, e);
        StepDifferences moved(changed);
        moved.solve_again_to = at.solve_again_to;
        const auto values = is_whole ? moved.motion_and_forces(at) : std::nullopt;
        is_whole = values.has_value();
        return is_whole ? *values : VectorXd::Zero(size);
      },
      scale* parameter.step);
  if (!is_whole) return std::nullopt;
  return rate;
}

}  // namespace deft::dynamics
