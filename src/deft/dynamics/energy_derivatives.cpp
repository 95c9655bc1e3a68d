#include "deft/dynamics/energy_derivatives.hpp"

#include <algorithm>

namespace deft::dynamics {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Q_uδ of an object from its block of Q; zero where the object has none (quasistatic).
VectorXd inertial_force(const EnergyPoint& at, const scene::Object& object) {
  const BlockDiagonal& Q = at.result.problem.Q;
  for (int k = 0; k < Q.num_blocks(); ++k) {
    if (Q.start(k) == object.first_v) return Q.block(k) * at.delta.segment(object.first_v, object.nv);
  }
  return VectorXd::Zero(object.nv);
}

/// ∂(Q_uδ)/∂q: inertia that turns with the object; under the mass rule its scale too, where the largest entry turns.
void add_inertia(const EnergyPoint& at, const scene::Object& object, MatrixXd& out) {
  const multibody::Model& model = at.scene.model();
  MatrixXd M, turned;
  model.mass_matrix(at.state.kinematics, M);
  const MassRule rule = mass_rule(at.scene, object, M, at.h);
  const double scale = rule.factor / (at.h * at.h);
  VectorXd y = VectorXd::Zero(model.nv());
  y.segment(object.first_v, object.nv) = at.delta.segment(object.first_v, object.nv);
  model.inertia_derivative(at.state.kinematics, y, turned);
  out.middleRows(object.first_v, object.nv) += scale * turned.middleRows(object.first_v, object.nv);
  if (!rule.applies) return;
  const VectorXd force = scale * (M * y).segment(object.first_v, object.nv);
  model.inertia_derivative(at.state.kinematics, VectorXd::Unit(model.nv(), rule.largest), turned);
  out.middleRows(object.first_v, object.nv) -= force * turned.row(rule.largest) / M(rule.largest, rule.largest);
}

}  // namespace

MassRule mass_rule(const scene::Scene& scene, const scene::Object& object, const MatrixXd& M, double h) {
  MassRule rule;
  const auto& s = scene.spec().step.unactuated_mass_scale;
  if (!s || *s == 0) return rule;
  double softest = scene::kInfinity;
  for (const scene::Robot& robot : scene.robots()) {
    for (int i = 0; i < robot.nu; ++i) {
      if (robot.stiffness(i) >= softest) continue;
      softest = robot.stiffness(i);
      rule.softest = robot.first_u + i;
    }
  }
  if (rule.softest < 0) return rule;
  Eigen::Index largest = 0;
  const double size = M.diagonal().segment(object.first_v, object.nv).maxCoeff(&largest);
  rule.applies = true;
  rule.largest = object.first_v + static_cast<int>(largest);
  rule.factor = softest * h * h / (size * *s);
  return rule;
}

void energy_configuration_jacobian(const EnergyPoint& at, MatrixXd& out) {
  const scene::Scene& scene = at.scene;
  const scene::StepSettings& step = scene.spec().step;
  out.setZero(scene.nv(), scene.nv());
  MatrixXd gravity;
  scene.model().gravity_derivative(at.state.kinematics, scene.spec().gravity_W, gravity);
  for (const scene::Robot& robot : scene.robots()) {
    for (int i = 0; i < robot.nu; ++i) out(robot.first_v + i, robot.first_v + i) += robot.stiffness(i);
    if (step.robot_gravity) out.middleRows(robot.first_v, robot.nu) -= gravity.middleRows(robot.first_v, robot.nu);
  }
  for (const scene::Object& object : scene.objects()) {
    if (object.frozen) continue;  // δ = 0 and no force: nothing changes
    out.middleRows(object.first_v, object.nv) -= gravity.middleRows(object.first_v, object.nv);
    if (step.dynamics == scene::Dynamics::kQuasidynamic) add_inertia(at, object, out);
  }
}

VectorXd command_stiffness(const scene::Scene& scene) {
  VectorXd K(scene.nu());
  for (const scene::Robot& robot : scene.robots()) K.segment(robot.first_u, robot.nu) = robot.stiffness;
  return K;
}

VectorXd energy_step_length_rate(const EnergyPoint& at) {
  VectorXd rate = VectorXd::Zero(at.scene.nv());
  // Damping: Q_kk = K + D/h.
  const BlockDiagonal& Q = at.result.problem.Q;
  for (int k = 0; k < Q.num_blocks(); ++k) {
    for (const scene::Robot& robot : at.scene.robots()) {
      const int i = Q.start(k) - robot.first_v;
      if (i < 0 || i >= robot.nu) continue;
      rate(Q.start(k)) = -(Q.block(k)(0, 0) - robot.stiffness(i)) / at.h * at.delta(Q.start(k));
    }
  }
  // Inertia: M/h², unless the mass rule cancels h.
  const auto& s = at.scene.spec().step.unactuated_mass_scale;
  const bool cancels = s && *s != 0 && at.scene.nu() > 0;
  for (const scene::Object& object : at.scene.objects()) {
    if (!cancels) rate.segment(object.first_v, object.nv) = -2 / at.h * inertial_force(at, object);
  }
  return rate;
}

VectorXd energy_mass_rate(const EnergyPoint& at, int index) {
  const scene::Object& object = at.scene.objects()[index];
  VectorXd rate = VectorXd::Zero(at.scene.nv());
  if (object.frozen) return rate;
  const auto& s = at.scene.spec().step.unactuated_mass_scale;
  const bool cancels = s && *s != 0 && at.scene.nu() > 0;
  // Weight and M grow in proportion; external wrenches do not.
  VectorXd weight;
  at.scene.model().gravity_force(at.state.kinematics, at.scene.spec().gravity_W, weight);
  rate.segment(object.first_v, object.nv) = -weight.segment(object.first_v, object.nv) / object.mass;
  if (!cancels) rate.segment(object.first_v, object.nv) += inertial_force(at, object) / object.mass;
  return rate;
}

VectorXd energy_stiffness_rate(const EnergyPoint& at, int command) {
  VectorXd rate = VectorXd::Zero(at.scene.nv());
  const int v = at.scene.actuated()[command];
  rate(v) = at.delta(v) - (at.u(command) - at.state.q(at.scene.command_coordinates()[command]));
  MatrixXd M;
  at.scene.model().mass_matrix(at.state.kinematics, M);
  for (const scene::Object& object : at.scene.objects()) {
    const MassRule rule = mass_rule(at.scene, object, M, at.h);
    if (!rule.applies || rule.softest != command) continue;
    rate.segment(object.first_v, object.nv) += inertial_force(at, object) / command_stiffness(at.scene)(command);
  }
  return rate;
}

}  // namespace deft::dynamics
