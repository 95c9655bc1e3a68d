// Model: configurations, kinematics and inertia in deft's coordinates. README.md derives the tangent maps used here.

#include "deft/multibody/model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <pinocchio/algorithm/jacobian.hpp>
#include <stdexcept>

#include "deft/multibody/model_impl.hpp"

namespace deft::multibody {
namespace {

using Quaternion = Eigen::Vector4d;  // [w x y z]

void check_size(const char* what, Eigen::Index size, Eigen::Index expected) {
  if (size != expected)
    throw std::invalid_argument(fmt::format("{} has {} entries, the model needs {}", what, size, expected));
}

Quaternion normalized(const Eigen::Ref<const Quaternion>& quat_wxyz) {
  const double norm = quat_wxyz.norm();
  if (!(norm > 0) || !std::isfinite(norm))
    throw std::invalid_argument("a quaternion of the configuration has no direction (norm 0 or not finite)");
  return quat_wxyz / norm;
}

}  // namespace

Kinematics::Kinematics() = default;
Kinematics::~Kinematics() = default;
Kinematics::Kinematics(Kinematics&&) noexcept = default;
Kinematics& Kinematics::operator=(Kinematics&&) noexcept = default;

Model::Model() : impl_(std::make_unique<Impl>()) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Model Model::build(const MultibodySpec& spec, Diagnostics& diagnostics) {
  const KinematicTree tree = build_tree(spec, diagnostics);
  diagnostics.throw_if_errors();
  Model model;
  static_cast<ModelTables&>(*model.impl_) = build_tables(tree, spec, diagnostics);
  diagnostics.throw_if_errors();
  return model;
}

int Model::nq() const { return static_cast<int>(impl_->coordinates.size()); }
int Model::nv() const { return static_cast<int>(impl_->velocities.size()); }
std::span<const BodyInfo> Model::bodies() const { return impl_->bodies; }
std::span<const ModelInfo> Model::models() const { return impl_->models; }
std::span<const CoordinateInfo> Model::coordinates() const { return impl_->coordinates; }
std::span<const VelocityInfo> Model::velocities() const { return impl_->velocities; }
std::span<const Coupling> Model::couplings() const { return impl_->couplings; }
Eigen::VectorXd Model::default_configuration() const { return impl_->default_q; }

std::optional<Model::FrameOnBody> Model::find_frame(const std::string& scoped_name) const {
  const auto found = impl_->places.find(scoped_name);
  if (found == impl_->places.end()) return std::nullopt;
  return found->second;
}

int Model::find_body(const std::string& name) const {
  for (const char* separator : {"::", "/"}) {
    const auto split = name.rfind(separator);
    const std::string link = split == name.npos ? name : name.substr(split + std::string(separator).size());
    const auto place = find_frame(name);
    if (place && (impl_->bodies[place->body].link == link || impl_->bodies[place->body].name == name))
      return place->body;
  }
  return -1;
}

// --------------------------------------------------------------------------------------------------- configurations

void Model::integrate(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& q_next) const {
  check_size("q", q.size(), nq());
  check_size("delta", delta.size(), nv());
  q_next.resize(nq());
  for (const JointPlace& joint : impl_->joints) {
    if (joint.kind == JointKind::kAxes) {
      q_next.segment(joint.q, joint.nq) = q.segment(joint.q, joint.nq) + delta.segment(joint.v, joint.nv);
      continue;
    }
    const Quaternion turned =
        multiply_quat_wxyz(exp_quat_wxyz(delta.segment<3>(joint.v)), normalized(q.segment<4>(joint.q)));
    q_next.segment<4>(joint.q) = turned.normalized();
    if (joint.kind == JointKind::kFree)
      q_next.segment<3>(joint.q + 4) = q.segment<3>(joint.q + 4) + delta.segment<3>(joint.v + 3);
  }
}

Eigen::VectorXd Model::difference(const Eigen::VectorXd& q0, const Eigen::VectorXd& q1) const {
  check_size("q0", q0.size(), nq());
  check_size("q1", q1.size(), nq());
  Eigen::VectorXd delta(nv());
  for (const JointPlace& joint : impl_->joints) {
    if (joint.kind == JointKind::kAxes) {
      delta.segment(joint.v, joint.nv) = q1.segment(joint.q, joint.nq) - q0.segment(joint.q, joint.nq);
      continue;
    }
    const Eigen::Matrix3d R0 = rotation_from_quat_wxyz(q0.segment<4>(joint.q));
    const Eigen::Matrix3d R1 = rotation_from_quat_wxyz(q1.segment<4>(joint.q));
    delta.segment<3>(joint.v) = log_so3(R1 * R0.transpose());
    if (joint.kind == JointKind::kFree)
      delta.segment<3>(joint.v + 3) = q1.segment<3>(joint.q + 4) - q0.segment<3>(joint.q + 4);
  }
  return delta;
}

// ------------------------------------------------------------------------------------------------------- kinematics

Kinematics Model::make_kinematics() const {
  Kinematics kinematics;
  kinematics.impl_ = std::make_unique<Kinematics::Impl>(impl_->pinocchio);
  kinematics.impl_->J.setZero(6, nv());
  kinematics.impl_->mass.resize(impl_->pinocchio_joints.size());
  kinematics.impl_->moment_W.resize(impl_->pinocchio_joints.size());
  kinematics.impl_->inertia.resize(impl_->pinocchio_joints.size());
  kinematics.impl_->turned.setZero(6, nv());
  kinematics.impl_->A.setZero(6, static_cast<Eigen::Index>(impl_->pinocchio_joints.size()));
  kinematics.impl_->P.setZero(6, static_cast<Eigen::Index>(impl_->pinocchio_joints.size()));
  for (auto* columns :
       {&kinematics.impl_->bias_X, &kinematics.impl_->bias_W, &kinematics.impl_->bias_E, &kinematics.impl_->bias_G})
    columns->setZero(6, nv());
  for (auto* columns : {&kinematics.impl_->bias_a, &kinematics.impl_->bias_V, &kinematics.impl_->bias_F})
    columns->setZero(6, static_cast<Eigen::Index>(impl_->pinocchio_joints.size()));
  kinematics.impl_->bias_N.resize(impl_->pinocchio_joints.size());
  kinematics.X_WB.assign(impl_->bodies.size(), RigidTransform::Identity());
  return kinematics;
}

void Model::update(const Eigen::VectorXd& q, Kinematics& kinematics) const {
  check_size("q", q.size(), nq());
  if (!kinematics.impl_ || kinematics.impl_->q.size() != impl_->pinocchio.nq)
    throw std::invalid_argument("the Kinematics is not this model's; make it with make_kinematics()");
  Kinematics::Impl& k = *kinematics.impl_;
  const auto& joints = impl_->pinocchio_joints;

  // Pinocchio's order of coordinates, and of those of a rotation: [x y z qx qy qz qw].
  for (std::size_t j = 1; j < joints.size(); ++j) {
    if (joints[j].kind == JointKind::kAxes) {
      k.q[joints[j].pinocchio_q] = q[joints[j].q];
      continue;
    }
    const Quaternion quat_wxyz = normalized(q.segment<4>(joints[j].q));
    const bool is_free = joints[j].kind == JointKind::kFree;
    k.q.segment<4>(joints[j].pinocchio_q + (is_free ? 3 : 0)) << quat_wxyz.tail<3>(), quat_wxyz[0];
    if (is_free) k.q.segment<3>(joints[j].pinocchio_q) = q.segment<3>(joints[j].q + 4);
  }
  pinocchio::computeJointJacobians(impl_->pinocchio, k.data, k.q);

  // Pinocchio's columns are [v of the point at the world origin; ω], for rotations per unit of its own tangent.
  for (std::size_t j = 1; j < joints.size(); ++j) {
    const PinocchioJoint& joint = joints[j];
    if (joint.kind == JointKind::kAxes) {
      k.J.col(joint.v) << k.data.J.col(joint.pinocchio_v).tail<3>(), k.data.J.col(joint.pinocchio_v).head<3>();
      continue;
    }
    // A rotation about axis e through p moves the point at the origin with e × (0 − p) = p × e.
    const Eigen::Vector3d p_WJ = k.data.oMi[j].translation();
    Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();
    if (joint.kind == JointKind::kBall) axes = k.data.oMi[j].rotation() * k.data.joints[j].M().rotation().transpose();
    k.J.block<3, 3>(0, joint.v) = axes;
    k.J.block<3, 3>(3, joint.v).noalias() = skew(p_WJ) * axes;
    if (joint.kind == JointKind::kFree) k.J.block<3, 3>(3, joint.v + 3).setIdentity();
  }

  for (std::size_t b = 0; b < impl_->bodies.size(); ++b) {
    const pinocchio::SE3& X_WJ = k.data.oMi[impl_->carrier[b]];
    const RigidTransform& X_JB = impl_->X_JB[b];
    kinematics.X_WB[b].linear().noalias() = X_WJ.rotation() * X_JB.linear();
    kinematics.X_WB[b].translation().noalias() = X_WJ.rotation() * X_JB.translation() + X_WJ.translation();
  }
}

std::span<const int> Model::columns(int body) const { return impl_->columns[impl_->bodies[body].weld_group]; }

void Model::point_jacobian(const Kinematics& kinematics, int body, const Eigen::Vector3d& p_W, double* J,
                           int ld) const {
  const auto& all = kinematics.impl_->J;
  for (const int v : columns(body)) {
    const Eigen::Vector3d angular = all.col(v).head<3>();
    const Eigen::Vector3d linear = all.col(v).tail<3>() + angular.cross(p_W);
    for (int r = 0; r < 3; ++r) {
      J[r * ld] = angular[r];
      J[(r + 3) * ld] = linear[r];
    }
    ++J;
  }
}

// ---------------------------------------------------------------------------------------------------------- inertia

void Model::gravity_force(Kinematics& kinematics, const Eigen::Vector3d& gravity_W, Eigen::VectorXd& tau) const {
  Kinematics::Impl& k = *kinematics.impl_;
  const auto& joints = impl_->pinocchio_joints;
  tau.resize(nv());
  for (std::size_t j = 1; j < joints.size(); ++j) {
    const pinocchio::Inertia& inertia = impl_->pinocchio.inertias[j];
    k.mass[j] = inertia.mass();
    k.moment_W[j] = inertia.mass() * (k.data.oMi[j].rotation() * inertia.lever());
  }
  // Outboard joints first: the weight of all that a joint carries, as a wrench at the joint's own origin, along its
  // columns. About the world origin the two terms of a body that turns about its centre of mass would cancel up to
  // rounding, and where nothing else resists, a torque of rounding has no balance.
  for (std::size_t j = joints.size() - 1; j > 0; --j) {
    const Eigen::Vector3d force = k.mass[j] * gravity_W, torque = k.moment_W[j].cross(gravity_W),
                          p_WJ = k.data.oMi[j].translation();
    for (int v = joints[j].v; v < joints[j].v + joints[j].nv; ++v) {
      const Eigen::Vector3d omega = k.J.col(v).head<3>();
      tau[v] = omega.dot(torque) + (k.J.col(v).tail<3>() + omega.cross(p_WJ)).dot(force);
    }
    const std::size_t parent = impl_->pinocchio.parents[j];
    if (parent == 0) continue;
    k.mass[parent] += k.mass[j];
    k.moment_W[parent] += k.moment_W[j] + k.mass[j] * (p_WJ - k.data.oMi[parent].translation());
  }
}

}  // namespace deft::multibody
