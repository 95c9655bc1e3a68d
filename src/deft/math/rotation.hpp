#pragma once
// SO(3) in world tangents: R⁺ = Exp(δ_ω) R. Quaternions are [w x y z], unit, stored as Vector4d.

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace deft {

/// A pose X_AB: p_A = X_AB · p_B.
using RigidTransform = Eigen::Isometry3d;

/// [v]× with [v]× u = v × u.
Eigen::Matrix3d skew(const Eigen::Vector3d& v);

/// Exp: rotation vector [rad] → rotation matrix; accurate for |w| → 0.
Eigen::Matrix3d exp_so3(const Eigen::Vector3d& w);
/// Log: rotation matrix → rotation vector with |w| ≤ π.
Eigen::Vector3d log_so3(const Eigen::Matrix3d& R);
/// Left Jacobian J_l: Exp(w + dw) ≈ Exp(J_l(w) dw) Exp(w).
Eigen::Matrix3d left_jacobian_so3(const Eigen::Vector3d& w);

/// Exp as a unit quaternion [w x y z].
Eigen::Vector4d exp_quat_wxyz(const Eigen::Vector3d& w);
/// Hamilton product a ∘ b of [w x y z] quaternions.
Eigen::Vector4d multiply_quat_wxyz(const Eigen::Vector4d& a, const Eigen::Vector4d& b);
/// Rotation matrix of a [w x y z] quaternion, which is normalised first. @throws std::invalid_argument if its norm is 0
/// or not finite.
Eigen::Matrix3d rotation_from_quat_wxyz(const Eigen::Vector4d& quat_wxyz);
/// Unit quaternion [w x y z] of a rotation matrix, w ≥ 0 (Shepperd's method).
Eigen::Vector4d quat_wxyz_from_rotation(const Eigen::Matrix3d& R);
/// Roll–pitch–yaw [rad], extrinsic x-y-z as in URDF, SDFormat and Drake: R = Rz(yaw) Ry(pitch) Rx(roll).
Eigen::Matrix3d rotation_from_rpy(const Eigen::Vector3d& rpy);
/// The inverse of rotation_from_rpy, pitch in [−π/2, π/2]; where cos(pitch) is below 1e-12 (gimbal lock) roll is 0.
Eigen::Vector3d rpy_from_rotation(const Eigen::Matrix3d& R);

/// The pose with rotation R and translation p [m].
inline RigidTransform make_transform(const Eigen::Matrix3d& R, const Eigen::Vector3d& p) {
  RigidTransform X = RigidTransform::Identity();
  X.linear() = R;
  X.translation() = p;
  return X;
}

}  // namespace deft
