#pragma once
// Scenes that the tests of control share.

#include <cmath>
#include <string>
#include <vector>

#include "support/scene_builder.hpp"

namespace deft::test {

/// A disc of radius 0.6 m and 1 kg on two slides, driven by forces, between a bevel y = x, a floor y = −5 and a wall x
/// = 5, μ = 0.8, at (−2, −4).
inline scene::SceneSpec disc_between_surfaces() {
  const double s = std::sqrt(0.5);
  const double joint = 0.8;
  std::vector<ModelSpec> models{
      body("disc", multibody::JointKind::kAxes, {slide("x", {1, 0, 0}), slide("y", {0, 1, 0})},
           multibody::SphereSpec{0.6}, 1, 1, joint),
      fixed_body("bevel", multibody::HalfSpaceSpec{{s, -s, 0}, 0}, joint),
      fixed_body("floor", multibody::HalfSpaceSpec{{0, 1, 0}, -5}, joint),
      fixed_body("wall", multibody::HalfSpaceSpec{{-1, 0, 0}, -5}, joint)};
  scene::SceneSpec spec = scene_spec(std::move(models));
  scene::RobotSpec robot;
  robot.name = "disc";
  robot.drive = scene::Drive::kForce;
  spec.robots.push_back(robot);
  spec.step.model = scene::ModelKind::kStewartTrinkle;
  spec.step.contact_margin = kInfinity;
  spec.plane = scene::Plane::kXY;
  scene::ConfigurationSpec start;
  start.name = "start";
  start.models["disc"].joints.list = {-2, -4};
  spec.configurations = {start};
  spec.initial = "start";
  return spec;
}

}  // namespace deft::test
