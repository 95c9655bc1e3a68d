#include "deft/dynamics/energy_derivatives.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace deft::dynamics {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Q_uδ of an object from its block of Q; zero where the object has none (quasistatic). Models of first order.
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

/// M(δ/h² − v/h) + C(q, v)v by q; what is frozen has δ = 0 and no force.
void add_momentum(const EnergyPoint& at, MatrixXd& out) {
  const multibody::Model& model = at.scene.model();
  MatrixXd by_q, by_v;
  model.inertia_derivative(at.state.kinematics, at.delta / (at.h * at.h) - at.v / at.h, by_q);
  out += by_q;
  model.bias_derivative(at.state.kinematics, at.v, by_q, by_v);
  out += by_q;
}

/// −Jᵀ(force at the body's origin, torque): columns turn, and the origin moves.
void add_wrenches(const EnergyPoint& at, MatrixXd& out) {
  const multibody::Model& model = at.scene.model();
  const auto& S = model.spatial_columns(at.state.kinematics);
  for (const scene::Wrench& wrench : at.scene.wrenches()) {
    const double share = wrench.share(at.t, at.h);
    if (share == 0) continue;
    const Vector3d force = share * wrench.force_W, p = at.state.X_WB()[wrench.body].translation();
    const Vector3d moment = share * wrench.torque_W + p.cross(force);
    for (const int c : model.columns(wrench.body)) {
      const Vector3d w_c = S.col(c).head<3>(), v_c = S.col(c).tail<3>();
      for (const int i : model.movers(c)) {
        const Vector3d w_i = S.col(i).head<3>(), v_i = S.col(i).tail<3>();
        out(c, i) -= w_i.cross(w_c).dot(moment) + (w_i.cross(v_c) + v_i.cross(w_c)).dot(force);
      }
      for (const int i : model.columns(wrench.body)) {
        const Vector3d shift = S.col(i).tail<3>() + S.col(i).head<3>().cross(p);
        out(c, i) -= w_c.dot(shift.cross(force));
      }
    }
  }
}

void clear_frozen(const scene::Scene& scene, MatrixXd& out) {
  for (const scene::Object& object : scene.objects()) {
    if (object.frozen) out.middleRows(object.first_v, object.nv).setZero();
  }
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
    out.middleRows(object.first_v, object.nv) -= gravity.middleRows(object.first_v, object.nv);
    if (!at.second_order() && !object.frozen && step.dynamics == scene::Dynamics::kQuasidynamic)
      add_inertia(at, object, out);
  }
  if (at.second_order()) add_momentum(at, out);
  add_wrenches(at, out);
  clear_frozen(scene, out);
}

void energy_velocity_jacobian(const EnergyPoint& at, MatrixXd& out) {
  const multibody::Model& model = at.scene.model();
  MatrixXd M, by_q;
  model.mass_matrix(at.state.kinematics, M);
  model.bias_derivative(at.state.kinematics, at.v, by_q, out);
  out -= M / at.h;
  clear_frozen(at.scene, out);
}

VectorXd command_stiffness(const scene::Scene& scene) {
  VectorXd K(scene.nu());
  for (const scene::Robot& robot : scene.robots()) K.segment(robot.first_u, robot.nu) = robot.stiffness;
  return K;
}

VectorXd energy_step_length_rate(const EnergyPoint& at) {
  const scene::Scene& scene = at.scene;
  VectorXd rate = VectorXd::Zero(scene.nv());
  MatrixXd M;
  scene.model().mass_matrix(at.state.kinematics, M);
  // Inertia: M/h², unless the mass rule cancels h.
  const auto& s = scene.spec().step.unactuated_mass_scale;
  const bool cancels = s && *s != 0 && scene.nu() > 0;
  if (at.second_order()) {
    rate = M * (-2 / std::pow(at.h, 3) * at.delta + at.v / (at.h * at.h));
    for (const scene::Object& object : scene.objects())
      if (object.frozen) rate.segment(object.first_v, object.nv).setZero();
  } else if (!cancels) {
    for (const scene::Object& object : scene.objects())
      rate.segment(object.first_v, object.nv) = -2 / at.h * inertial_force(at, object);
  }
  // Damping: Q_kk = K + D/h (+ M_kk/h²).
  const BlockDiagonal& Q = at.result.problem.Q;
  for (const scene::Robot& robot : scene.robots()) {
    for (int i = 0; i < robot.nu; ++i) {
      const int v = robot.first_v + i;
      for (int k = 0; k < Q.num_blocks(); ++k) {
        const int at_v = v - Q.start(k);
        if (at_v < 0 || at_v >= Q.size(k)) continue;
        const double inertia = at.second_order() ? M(v, v) / (at.h * at.h) : 0.0;
        rate(v) -= (Q.block(k)(at_v, at_v) - robot.stiffness(i) - inertia) / at.h * at.delta(v);
      }
    }
  }
  for (const scene::Wrench& wrench : scene.wrenches()) {
    if (wrench.share(at.t, at.h) != 0)
      throw std::invalid_argument("step derivative: not available yet: h under external wrenches");
  }
  return rate;
}

VectorXd energy_mass_rate(const EnergyPoint& at, int index) {
  const scene::Object& object = at.scene.objects()[index];
  VectorXd rate = VectorXd::Zero(at.scene.nv());
  if (object.frozen) return rate;
  const multibody::Model& model = at.scene.model();
  const auto& s = at.scene.spec().step.unactuated_mass_scale;
  const bool cancels = s && *s != 0 && at.scene.nu() > 0;
  // Weight and inertia grow in proportion; external wrenches do not.
  VectorXd weight, force;
  model.gravity_force(at.state.kinematics, at.scene.spec().gravity_W, weight);
  force = -weight;
  if (at.second_order()) {
    MatrixXd M;
    VectorXd bias;
    model.mass_matrix(at.state.kinematics, M);
    model.bias_force(at.state.kinematics, at.v, bias);
    force += M * (at.delta / (at.h * at.h) - at.v / at.h) + bias;
  } else if (!cancels) {
    force.segment(object.first_v, object.nv) += inertial_force(at, object);
  }
  rate.segment(object.first_v, object.nv) = force.segment(object.first_v, object.nv) / object.mass;
  return rate;
}

VectorXd energy_stiffness_rate(const EnergyPoint& at, int command) {
  VectorXd rate = VectorXd::Zero(at.scene.nv());
  const int v = at.scene.actuated()[command];
  rate(v) = at.delta(v) - (at.u(command) - at.state.q(at.scene.command_coordinates()[command]));
  if (at.second_order()) return rate;
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
