#pragma once
// Scenes for tests of the planar limit-surface step: objects on supports, fingers with admittances.

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <string>
#include <vector>

#include "deft/dynamics/complementarity/planar_limit_surface.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics::limit_surface_scenes {

using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::CylinderSpec;
using multibody::PrismSpec;
using multibody::SphereSpec;
using scene::SceneSpec;
using solvers::Status;
using test::body;
using test::slide;
using test::turn;

inline constexpr double kH = 0.05;

inline std::vector<multibody::JointAxisSpec> planar() {
  return {slide("x", Vector3d::UnitX()), slide("y", Vector3d::UnitY()), turn("theta", Vector3d::UnitZ())};
}
inline multibody::ModelSpec planar_body(const std::string& name, const multibody::ShapeSpec& shape, double mu) {
  return body(name, multibody::JointKind::kAxes, planar(), shape, 0, 0, mu);
}
inline multibody::ModelSpec tip(const std::string& name, double mu = 1, double radius = 0) {
  return body(name, multibody::JointKind::kAxes, {slide("x", Vector3d::UnitX()), slide("y", Vector3d::UnitY())},
              SphereSpec{radius}, 0, 0, mu);
}

/// A scene for the step: objects with the limit surface `A`, fingers with admittance `B`, at `q`.
struct Builder {
  SceneSpec spec;
  Builder() {
    spec.name = "test";
    spec.file = "test.deft.yaml";
    spec.gravity_W.setZero();
    spec.step.h = kH;
    spec.step.model = scene::ModelKind::kLimitSurface;
    spec.step.contact_margin = kInfinity;
    spec.initial = "start";
    spec.configurations.push_back({.name = "start"});
  }
  scene::ModelConfiguration& place(const std::string& name, std::vector<double> q) {
    auto& model = spec.configurations[0].models[name];
    model.joints.list = std::move(q);
    return model;
  }
  Builder& object(const multibody::ModelSpec& model, std::vector<double> q, const Matrix3d& A = Matrix3d::Identity()) {
    spec.world.models.push_back(model);
    spec.limit_surfaces[model.name].ellipsoid = A;
    place(model.name, std::move(q));
    return *this;
  }
  Builder& finger(const multibody::ModelSpec& model, std::vector<double> q, double B = 1) {
    spec.world.models.push_back(model);
    scene::RobotSpec robot;
    robot.name = model.name;
    robot.admittance.all = B;
    spec.robots.push_back(robot);
    place(model.name, std::move(q));
    return *this;
  }
  Builder& fixed(const multibody::ModelSpec& model) {
    spec.world.models.push_back(model);
    return *this;
  }
  Builder& gain(double c) {
    spec.step.gain = c;
    return *this;
  }
};

inline StepResult step_once(const Builder& builder, std::initializer_list<double> u) {
  const scene::Scene scene = test::build(builder.spec);
  const auto model = make_step_model(scene);
  StepResult result;
  model->step(scene.initial_configuration(), Eigen::Map<const VectorXd>(u.begin(), static_cast<Eigen::Index>(u.size())),
              result);
  return result;
}

inline void expect_solved(const StepResult& result) {
  EXPECT_EQ(result.status, Status::kSolved);
  EXPECT_LE(result.certificate.max_scaled(), 1e-9);
  EXPECT_LE(result.complementarity()->balance, 1e-9);
  EXPECT_LE(result.complementarity()->bound, 1 + 1e-9);
  for (const double gap : result.solution.gap) EXPECT_GE(gap, -1e-10);
}

}  // namespace deft::dynamics::limit_surface_scenes
