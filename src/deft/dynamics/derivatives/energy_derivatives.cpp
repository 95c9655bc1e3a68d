#include "deft/dynamics/derivatives/energy_derivatives.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/dynamics/energy_step.hpp"
#include "deft/scene/wrench_table.hpp"

namespace deft::dynamics {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Q_uδ of an object from its block of Q, without what its couplings add; zero where the object has none (quasistatic).
/// Models of first order.
VectorXd inertial_force(const EnergyPoint& at, const scene::Object& object) {
  const BlockDiagonal& Q = at.result.problem.Q;
  for (int k = 0; k < Q.num_blocks(); ++k) {
    if (Q.start(k) != object.first_v) continue;
    VectorXd force = Q.block(k) * at.delta.segment(object.first_v, object.nv);
    for (const scene::JointSpring& spring : at.scene.springs()) {
      if (spring.v < object.first_v || spring.v >= object.first_v + object.nv) continue;
      visit_stiffness(
          spring, [&](int row, int column, double value) { force(row - object.first_v) -= value * at.delta(column); });
    }
    return force;
  }
  return VectorXd::Zero(object.nv);
}

/// γ M_u δ/h of an object. Models of second order.
VectorXd damping_force(const EnergyPoint& at, const scene::Object& object, const MatrixXd& M) {
  return object.damping.value_or(0) / at.h * M.block(object.first_v, object.first_v, object.nv, object.nv) *
         at.delta.segment(object.first_v, object.nv);
}

/// −Jᵀ(force at the body's origin, torque): columns turn, and the origin moves.
void add_wrenches(const EnergyPoint& at, MatrixXd& out) {
  const multibody::Model& model = at.scene.model();
  const auto& S = model.spatial_columns(at.state.kinematics);
  for (const scene::Wrench& wrench : at.scene.wrenches()) {
    const double share = scene::wrench_share(wrench, at.t, at.h, model, at.state.kinematics, at.v);
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

/// ∂ of a wrench's share of the step by h: what acts at the end of the step acts longer, the mean is over more time.
double share_rate(const scene::Wrench& wrench, const EnergyPoint& at) {
  const double share = scene::wrench_share(wrench, at.t, at.h, at.scene.model(), at.state.kinematics, at.v);
  const bool lasts = share != 0 && !wrench.impulse && wrench.to > at.t + at.h;
  return (lasts ? 1 / at.h : 0.0) - share / at.h;
}

void clear_frozen(const scene::Scene& scene, MatrixXd& out) {
  for (const scene::Object& object : scene.objects()) {
    if (object.frozen) out.middleRows(object.first_v, object.nv).setZero();
  }
}

}  // namespace

MassRule mass_rule(const scene::Scene& scene, const scene::Object& object, const MatrixXd& M, double h) {
  const double T = object.damping ? 1 / *object.damping : h;
  MassRule rule{.factor = h / T};
  const auto& s = scene.settings().step.unactuated_mass_scale;
  if (!s) return rule;
  double softest = kInfinity;
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
  rule.factor = softest * T * h / (size * *s);
  return rule;
}

EnergyDifferentiator::EnergyDifferentiator(const scene::Scene& scene)
    : scene_(&scene), M_(scene.nv(), scene.nv()), part_(M_), y_(scene.nv()) {
  // Objects that some body depends on together turn each other's inertia.
  const auto objects = scene.objects();
  for (std::size_t body = 0; body < scene.model().bodies().size(); ++body) {
    const auto cols = scene.model().columns(static_cast<int>(body));
    int carriers = 0;
    for (const scene::Object& object : objects)
      carriers += std::any_of(cols.begin(), cols.end(),
                              [&](int c) { return c >= object.first_v && c < object.first_v + object.nv; });
    objects_are_separate_ &= carriers <= 1;
  }
}

void EnergyDifferentiator::jacobians(const EnergyPoint& at, MatrixXd& by_q, MatrixXd& by_v) {
  const scene::Scene& scene = at.scene;
  const scene::StepSettings& step = scene.settings().step;
  by_q.setZero(scene.nv(), scene.nv());
  scene.model().gravity_derivative(at.state.kinematics, scene.spec().gravity_W, part_);
  const MatrixXd& gravity = part_;
  for (const scene::Robot& robot : scene.robots()) {
    for (int i = 0; i < robot.nu; ++i) by_q(robot.v(i), robot.v(i)) += robot.stiffness(i);
    if (step.robot_gravity) by_q.middleRows(robot.first_v, robot.nv) -= gravity.middleRows(robot.first_v, robot.nv);
  }
  for (const scene::JointSpring& spring : scene.springs())
    visit_stiffness(spring, [&](int row, int column, double value) { by_q(row, column) += value; });
  for (const scene::Object& object : scene.objects())
    by_q.middleRows(object.first_v, object.nv) -= gravity.middleRows(object.first_v, object.nv);
  if (at.second_order()) {
    add_momentum(at, by_q, by_v);
    add_object_damping(at, by_q);
  } else if (step.dynamics == scene::Dynamics::kQuasidynamic) {
    add_inertia(at, by_q);
  }
  add_wrenches(at, by_q);
  clear_frozen(scene, by_q);
  if (at.second_order()) clear_frozen(scene, by_v);
}

void EnergyDifferentiator::add_inertia(const EnergyPoint& at, MatrixXd& out) {
  const auto objects = scene_->objects();
  scene_->model().mass_matrix(at.state.kinematics, M_);
  if (objects_are_separate_) return add_inertia(at, objects, out);
  for (const scene::Object& object : objects) add_inertia(at, {&object, 1}, out);
}

/// ∂(Q_uδ)/∂q: inertia that turns with the object; under the mass rule its scale too, where the largest entry turns.
void EnergyDifferentiator::add_inertia(const EnergyPoint& at, std::span<const scene::Object> objects, MatrixXd& out) {
  const multibody::Model& model = scene_->model();
  y_.setZero();
  for (const scene::Object& object : objects) {
    if (!object.frozen) y_.segment(object.first_v, object.nv) = at.delta.segment(object.first_v, object.nv);
  }
  model.inertia_derivative(at.state.kinematics, y_, part_);
  bool is_scaled = false;
  for (const scene::Object& object : objects) {
    if (object.frozen) continue;
    const MassRule rule = mass_rule(*scene_, object, M_, at.h);
    out.middleRows(object.first_v, object.nv) +=
        rule.factor / (at.h * at.h) * part_.middleRows(object.first_v, object.nv);
    is_scaled |= rule.applies;
  }
  if (!is_scaled) return;
  y_.setZero();
  for (const scene::Object& object : objects)
    if (!object.frozen) y_(mass_rule(*scene_, object, M_, at.h).largest) = 1;
  model.inertia_derivative(at.state.kinematics, y_, part_);
  for (const scene::Object& object : objects) {
    if (object.frozen) continue;
    const MassRule rule = mass_rule(*scene_, object, M_, at.h);
    const double scale = rule.factor / (at.h * at.h * M_(rule.largest, rule.largest));
    for (int r = object.first_v; r < object.first_v + object.nv; ++r) {
      const double force =
          M_.row(r).segment(object.first_v, object.nv).dot(at.delta.segment(object.first_v, object.nv));
      out.row(r) -= scale * force * part_.row(rule.largest);
    }
  }
}

/// M(δ/h² − v/h) + C(q, v)v by q and v; what is frozen has δ = 0 and no force.
void EnergyDifferentiator::add_momentum(const EnergyPoint& at, MatrixXd& by_q, MatrixXd& by_v) {
  const multibody::Model& model = scene_->model();
  y_ = at.delta / (at.h * at.h) - at.v / at.h;
  model.inertia_derivative(at.state.kinematics, y_, part_);
  by_q += part_;
  model.bias_derivative(at.state.kinematics, at.v, part_, by_v);
  by_q += part_;
  model.mass_matrix(at.state.kinematics, M_);
  by_v -= M_ / at.h;
}

/// γ M_u δ/h by q, for one object after the other where they carry each other.
void EnergyDifferentiator::add_object_damping(const EnergyPoint& at, MatrixXd& out) {
  for (const scene::Object& object : scene_->objects()) {
    const double gamma = object.damping.value_or(0);
    if (object.frozen || !(gamma > 0)) continue;
    y_.setZero();
    y_.segment(object.first_v, object.nv) = gamma / at.h * at.delta.segment(object.first_v, object.nv);
    scene_->model().inertia_derivative(at.state.kinematics, y_, part_);
    out.middleRows(object.first_v, object.nv) += part_.middleRows(object.first_v, object.nv);
  }
}

VectorXd command_stiffness(const scene::Scene& scene) {
  VectorXd K(scene.nu());
  for (const scene::Robot& robot : scene.robots()) {
    K.segment(robot.first_u, robot.nu) = robot.stiffness;
    if (robot.drive == scene::Drive::kForce) K.segment(robot.first_u, robot.nu).setOnes();
  }
  return K;
}

VectorXd energy_step_length_rate(const EnergyPoint& at) {
  const scene::Scene& scene = at.scene;
  VectorXd rate = VectorXd::Zero(scene.nv());
  MatrixXd M;
  scene.model().mass_matrix(at.state.kinematics, M);
  // Inertia: M/h², unless the mass rule cancels h.
  const auto& s = scene.settings().step.unactuated_mass_scale;
  const bool cancels = s && scene.nu() > 0;
  if (at.second_order()) {
    rate = M * (-2 / std::pow(at.h, 3) * at.delta + at.v / (at.h * at.h));
    for (const scene::Object& object : scene.objects())
      rate.segment(object.first_v, object.nv) -= 1 / at.h * damping_force(at, object, M);
  } else {
    // With a stated γ the inertia is γM/h, with or without the mass rule.
    for (const scene::Object& object : scene.objects())
      rate.segment(object.first_v, object.nv) = (object.damping ? -1.0
                                                 : cancels      ? 0.0
                                                                : -2.0) /
                                                at.h * inertial_force(at, object);
  }
  const VectorXd damping = joint_damping(scene);
  for (int i = 0; i < scene.nu(); ++i) {
    const int v = scene.actuated()[i];
    rate(v) -= damping(i) / (at.h * at.h) * at.delta(v);
  }
  const auto& S = scene.model().spatial_columns(at.state.kinematics);
  for (const scene::Wrench& wrench : scene.wrenches()) {
    const double by_h = share_rate(wrench, at);
    if (by_h == 0) continue;
    const Vector3d p = at.state.X_WB()[wrench.body].translation();
    const Vector3d moment = wrench.torque_W + p.cross(wrench.force_W);
    for (const int c : scene.model().columns(wrench.body))
      rate(c) -= by_h * (S.col(c).head<3>().dot(moment) + S.col(c).tail<3>().dot(wrench.force_W));
  }
  for (const scene::Object& object : scene.objects())
    if (object.frozen) rate.segment(object.first_v, object.nv).setZero();
  return rate;
}

VectorXd energy_mass_rate(const EnergyPoint& at, int index) {
  const scene::Object& object = at.scene.objects()[index];
  VectorXd rate = VectorXd::Zero(at.scene.nv());
  if (object.frozen) return rate;
  const multibody::Model& model = at.scene.model();
  const auto& s = at.scene.settings().step.unactuated_mass_scale;
  const bool cancels = s && at.scene.nu() > 0;
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
    force.segment(object.first_v, object.nv) += damping_force(at, object, M);
  } else if (!cancels) {
    force.segment(object.first_v, object.nv) += inertial_force(at, object);
  }
  rate.segment(object.first_v, object.nv) = force.segment(object.first_v, object.nv) / object.mass;
  return rate;
}

VectorXd energy_stiffness_rate(const EnergyPoint& at, int command) {
  VectorXd rate = VectorXd::Zero(at.scene.nv());
  const int v = at.scene.actuated()[command];
  for (const scene::Robot& robot : at.scene.robots())
    if (robot.drive == scene::Drive::kForce && command >= robot.first_u && command < robot.first_u + robot.nu)
      throw std::invalid_argument(
          fmt::format("step derivative: '{}' is driven by forces, it has no stiffness", robot.name));
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
