// Model: forces that depend on velocity. README.md derives the tangent maps used here.

#include <fmt/format.h>

#include <pinocchio/algorithm/rnea.hpp>
#include <stdexcept>

#include "deft/multibody/model_impl.hpp"

namespace deft::multibody {

void Model::bias_force(Kinematics& kinematics, const Eigen::VectorXd& v, Eigen::VectorXd& bias) const {
  if (v.size() != nv())
    throw std::invalid_argument(fmt::format("v has {} entries, the model needs {}", v.size(), nv()));
  Kinematics::Impl& k = *kinematics.impl_;
  const auto& joints = impl_->pinocchio_joints;
  const auto R_WB = [&](std::size_t j) { return k.data.oMi[j].rotation(); };
  const auto R_PC = [&](std::size_t j) -> Eigen::Matrix3d { return k.data.joints[j].M().rotation(); };

  // v_Pinocchio = T v, and its acceleration Ṫ v at v̇ = 0: a free body's v_B = R_WBᵀ v_W turns with the body, ω_B does
  // not change.
  k.a.setZero();
  for (std::size_t j = 1; j < joints.size(); ++j) {
    const PinocchioJoint& joint = joints[j];
    if (joint.kind == JointKind::kAxes) {
      k.v[joint.pinocchio_v] = v[joint.v];
    } else if (joint.kind == JointKind::kBall) {
      k.v.segment<3>(joint.pinocchio_v).noalias() = R_PC(j).transpose() * v.segment<3>(joint.v);
    } else {
      const Eigen::Vector3d v_B = R_WB(j).transpose() * v.segment<3>(joint.v + 3),
                            w_B = R_WB(j).transpose() * v.segment<3>(joint.v);
      k.v.segment<3>(joint.pinocchio_v) = v_B;
      k.v.segment<3>(joint.pinocchio_v + 3) = w_B;
      k.a.segment<3>(joint.pinocchio_v) = -w_B.cross(v_B);
    }
  }

  // Newton–Euler without gravity (the model has none), then Tᵀ.
  pinocchio::rnea(impl_->pinocchio, k.data, k.q, k.v, k.a);
  bias.resize(nv());
  for (std::size_t j = 1; j < joints.size(); ++j) {
    const PinocchioJoint& joint = joints[j];
    if (joint.kind == JointKind::kAxes) {
      bias[joint.v] = k.data.tau[joint.pinocchio_v];
    } else if (joint.kind == JointKind::kBall) {
      bias.segment<3>(joint.v).noalias() = R_PC(j) * k.data.tau.segment<3>(joint.pinocchio_v);
    } else {
      bias.segment<3>(joint.v).noalias() = R_WB(j) * k.data.tau.segment<3>(joint.pinocchio_v + 3);
      bias.segment<3>(joint.v + 3).noalias() = R_WB(j) * k.data.tau.segment<3>(joint.pinocchio_v);
    }
  }
}

double Model::gravity_energy(const Kinematics& kinematics, const Eigen::Vector3d& gravity_W,
                             VelocityRange range) const {
  const Kinematics::Impl& k = *kinematics.impl_;
  const auto& joints = impl_->pinocchio_joints;
  double energy = 0;
  for (std::size_t j = 1; j < joints.size(); ++j) {
    if (joints[j].v < range.start || joints[j].v >= range.start + range.size) continue;
    const pinocchio::Inertia& inertia = impl_->pinocchio.inertias[j];
    energy -= inertia.mass() * gravity_W.dot(k.data.oMi[j].act(inertia.lever()));
  }
  return energy;
}

}  // namespace deft::multibody
