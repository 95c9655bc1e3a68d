#pragma once
// Small worlds for the tests of this module, written in C++.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "deft/multibody/model.hpp"

namespace deft::multibody {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

inline RigidTransform pose(const Vector3d& rpy, const Vector3d& p) { return make_transform(rotation_from_rpy(rpy), p); }

/// A link with a lopsided inertia: nothing in it is symmetric.
inline LinkSpec heavy_link(const std::string& name, double mass = 0.7, int line = 0) {
  const Matrix3d R = rotation_from_rpy({0.3, -0.4, 0.9});
  InertialSpec inertial{mass, {0.03, -0.05, 0.11}, mass * R * Vector3d(0.02, 0.03, 0.04).asDiagonal() * R.transpose()};
  return {.name = name, .inertial = inertial, .where = {"test", line, 0}};
}

inline LinkSpec bare_link(const std::string& name, int line = 0) { return {.name = name, .where = {"test", line, 0}}; }

inline JointSpec one_axis(const std::string& name, const std::string& parent, const std::string& child, bool rotational,
                          const Vector3d& axis, int line = 0) {
  JointSpec joint{.name = name, .kind = JointKind::kAxes, .parent = parent, .child = child, .where = {"test", line, 0}};
  joint.axes = {{.coordinate = name, .rotational = rotational, .axis_J = axis}};
  return joint;
}

inline JointSpec fixed_joint(const std::string& name, const std::string& parent, const std::string& child,
                             int line = 0) {
  return {.name = name, .kind = JointKind::kFixed, .parent = parent, .child = child, .where = {"test", line, 0}};
}

inline ModelSpec ball_model(const std::string& name) {
  ModelSpec model{.name = name, .links = {heavy_link(name)}, .inline_body = true};
  model.X_WModel = pose({0.4, -0.2, 1.1}, {0.5, -0.3, 0.2});
  return model;
}

/// A palm with two fingers and a ball joint; joints in an order in which children come before their parents.
inline ModelSpec hand_model(const std::string& name, bool interleaved = true) {
  ModelSpec model{.name = name};
  for (const char* link : {"palm", "a1", "b1", "a2", "pad", "b2", "head"}) model.links.push_back(heavy_link(link));
  model.links[3].inertial->mass = 0.2;
  JointSpec a1 = one_axis("a_1", "palm", "a1", true, {0, 0, 1}),
            a2 = one_axis("a_2", "a1", "a2", true, {0.3, 0.9, -0.2});
  JointSpec b1 = one_axis("b_1", "palm", "b1", false, {0, 2, 0}), b2 = one_axis("b_2", "b1", "b2", true, {1, 0, 0});
  JointSpec pad = fixed_joint("pad_joint", "a2", "pad");
  JointSpec neck{.name = "neck", .kind = JointKind::kBall, .parent = "b1", .child = "head"};
  a1.X_PJ = pose({0.1, 0.2, 0.3}, {0.1, 0, 0.05}), a2.X_PJ = pose({-0.5, 0.2, 0}, {0, 0.02, 0.08});
  b1.X_PJ = pose({0, 0.7, 0.3}, {-0.1, 0, 0.05}), b2.X_PJ = pose({1.2, 0, 0.4}, {0, 0.1, 0}),
  b2.X_CJ = pose({0.2, 0.1, -0.6}, {0.01, 0.02, 0.03});
  pad.X_PJ = pose({0.4, 0.4, 0.4}, {0, 0, 0.05});
  neck.X_PJ = pose({0.9, -0.3, 0.2}, {0.05, 0.05, 0}), neck.X_CJ = pose({0.3, 0.5, -0.2}, {0, 0, -0.04});
  if (interleaved)
    model.joints = {a2, b2, pad, a1, neck, b1};
  else
    model.joints = {a1, a2, pad, b1, b2, neck};
  return model;
}

inline Model build(const MultibodySpec& spec) {
  Diagnostics diagnostics;
  return Model::build(spec, diagnostics);
}

inline VectorXd random_vector(int size, double scale, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  return VectorXd::NullaryExpr(size, [&] { return uniform(generator); });
}

/// A configuration far from the default, with asymmetric quaternions.
inline VectorXd random_configuration(const Model& model, unsigned seed) {
  VectorXd q;
  model.integrate(model.default_configuration(), random_vector(model.nv(), 1.3, seed), q);
  return q;
}

inline MatrixXd dense_jacobian(const Model& model, const Kinematics& kinematics, int body, const Vector3d& p_W) {
  const auto columns = model.columns(body);
  Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> packed(6, columns.size());
  model.point_jacobian(kinematics, body, p_W, packed.data(), static_cast<int>(columns.size()));
  MatrixXd J = MatrixXd::Zero(6, model.nv());
  for (std::size_t i = 0; i < columns.size(); ++i) J.col(columns[i]) = packed.col(i);
  return J;
}

}  // namespace deft::multibody
