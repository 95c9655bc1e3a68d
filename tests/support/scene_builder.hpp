#pragma once
// Small worlds in code, for tests of the modules above multibody: primitives on joints, without a file.

#include <string>
#include <utility>
#include <vector>

#include "deft/scene/scene.hpp"

namespace deft::test {

using multibody::JointAxisSpec;
using multibody::JointKind;
using multibody::ModelSpec;
using multibody::ShapeSpec;

inline JointAxisSpec slide(const std::string& name, const Eigen::Vector3d& axis) {
  return {.coordinate = name, .rotational = false, .axis_J = axis};
}
inline JointAxisSpec turn(const std::string& name, const Eigen::Vector3d& axis) {
  return {.coordinate = name, .rotational = true, .axis_J = axis};
}

/// One inline body with one collision shape, on a joint from the world. `inertia` is I·identity about the origin.
inline ModelSpec body(const std::string& name, JointKind kind, std::vector<JointAxisSpec> axes, const ShapeSpec& shape,
                      double mass, double inertia, double mu, const RigidTransform& X_WJ = RigidTransform::Identity()) {
  ModelSpec model;
  model.name = name;
  model.inline_body = true;
  multibody::LinkSpec link;
  link.name = name;
  if (mass > 0)
    link.inertial = multibody::InertialSpec{mass, Eigen::Vector3d::Zero(), inertia * Eigen::Matrix3d::Identity()};
  multibody::GeometrySpec geometry;
  geometry.name = "collision";
  geometry.shape = shape;
  geometry.mu = mu;
  link.collisions.push_back(geometry);
  link.visuals.push_back(geometry);
  model.links.push_back(link);
  if (kind == JointKind::kFree) {
    model.X_WModel = X_WJ;
    return model;
  }
  multibody::JointSpec joint;
  joint.name = name;
  joint.kind = kind;
  joint.child = name;
  joint.axes = std::move(axes);
  joint.X_PJ = X_WJ;
  model.joints.push_back(joint);
  return model;
}

inline ModelSpec free_body(const std::string& name, const ShapeSpec& shape, double mass, double inertia, double mu,
                           const RigidTransform& X_WB = RigidTransform::Identity()) {
  return body(name, JointKind::kFree, {}, shape, mass, inertia, mu, X_WB);
}
inline ModelSpec fixed_body(const std::string& name, const ShapeSpec& shape, double mu,
                            const RigidTransform& X_WB = RigidTransform::Identity()) {
  return body(name, JointKind::kFixed, {}, shape, 0, 0, mu, X_WB);
}

inline RigidTransform at(double x, double y, double z) {
  return make_transform(Eigen::Matrix3d::Identity(), {x, y, z});
}

/// A scene of `models`; those in `robots` are actuated with that stiffness. No gravity, h = 0.1 s, pyramid with 4 rays.
inline scene::SceneSpec scene_spec(std::vector<ModelSpec> models,
                                   const std::vector<std::pair<std::string, double>>& robots = {}) {
  scene::SceneSpec spec;
  spec.name = "test";
  spec.file = "test.deft.yaml";
  spec.world.models = std::move(models);
  for (const auto& [name, stiffness] : robots) {
    scene::RobotSpec robot;
    robot.name = name;
    robot.stiffness.all = stiffness;
    spec.robots.push_back(robot);
  }
  spec.gravity_W.setZero();
  spec.step.h = 0.1;
  spec.step.contact_margin = 1.0;
  return spec;
}

inline scene::Scene build(scene::SceneSpec spec) {
  Diagnostics diagnostics;
  return scene::Scene::build(std::move(spec), diagnostics);
}

/// The text of every error that building `spec` gives; empty when it builds.
inline std::string build_errors(scene::SceneSpec spec) {
  try {
    build(std::move(spec));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// A sphere that slides in the plane xy.
inline multibody::ModelSpec slider(const std::string& name, double mu = 1.0) {
  return body(name, multibody::JointKind::kAxes,
              {slide("x", Eigen::Vector3d::UnitX()), slide("y", Eigen::Vector3d::UnitY())}, multibody::SphereSpec{0.1},
              1, 0.01, mu);
}

/// Object first, robot second: order of declaration is the order of q.
inline scene::SceneSpec ball_and_finger() {
  scene::SceneSpec spec = scene_spec(
      {free_body("ball", multibody::SphereSpec{0.1}, 1, 0.004, 0.5, at(1, 0, 0)), slider("finger")}, {{"finger", 100}});
  return spec;
}

}  // namespace deft::test
