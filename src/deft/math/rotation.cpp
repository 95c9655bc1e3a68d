#include "deft/math/rotation.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace deft {
namespace {

// Below this angle [rad] the closed forms lose digits to cancellation; four series terms are then exact to rounding.
constexpr double kSeriesAngle = 0.05;

// sin(θ)/θ, (1 − cos θ)/θ² and (θ − sin θ)/θ³.
struct AngleFunctions { double sinc, versine, cubic; };

AngleFunctions angle_functions(double angle) {
  const double x = angle * angle;
  if (angle < kSeriesAngle) {
    return {1 - x / 6 * (1 - x / 20 * (1 - x / 42 * (1 - x / 72))),
            0.5 * (1 - x / 12 * (1 - x / 30 * (1 - x / 56 * (1 - x / 90)))),
            (1 - x / 20 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110)))) / 6};
  }
  const double half_sine = std::sin(angle / 2);
  return {std::sin(angle) / angle, 2 * half_sine * half_sine / x, (angle - std::sin(angle)) / (x * angle)};
}

}  // namespace

Eigen::Matrix3d skew(const Eigen::Vector3d& v) {
  Eigen::Matrix3d S;
  S << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return S;
}

Eigen::Matrix3d exp_so3(const Eigen::Vector3d& w) {
  const AngleFunctions f = angle_functions(w.norm());
  const Eigen::Matrix3d W = skew(w);
  return Eigen::Matrix3d::Identity() + f.sinc * W + f.versine * (W * W);
}

Eigen::Matrix3d left_jacobian_so3(const Eigen::Vector3d& w) {
  const AngleFunctions f = angle_functions(w.norm());
  const Eigen::Matrix3d W = skew(w);
  return Eigen::Matrix3d::Identity() + f.versine * W + f.cubic * (W * W);
}

Eigen::Vector3d log_so3(const Eigen::Matrix3d& R) {
  // Through the quaternion: θ/2 = atan2(|v|, w) is well conditioned for all angles, near 0 and near π alike.
  const Eigen::Vector4d quat_wxyz = quat_wxyz_from_rotation(R);
  const Eigen::Vector3d v = quat_wxyz.tail<3>();
  const double sine = v.norm();
  if (sine < 1e-8) return (2 / quat_wxyz[0]) * v;  // θ/sin(θ/2) = 2 + O(θ²)
  return (2 * std::atan2(sine, quat_wxyz[0]) / sine) * v;
}

Eigen::Vector4d exp_quat_wxyz(const Eigen::Vector3d& w) {
  const double half = w.norm() / 2;
  Eigen::Vector4d quat_wxyz;
  quat_wxyz << std::cos(half), (angle_functions(half).sinc / 2) * w;
  return quat_wxyz.normalized();
}

Eigen::Vector4d multiply_quat_wxyz(const Eigen::Vector4d& a, const Eigen::Vector4d& b) {
  Eigen::Vector4d product;
  product << a[0] * b[0] - a.tail<3>().dot(b.tail<3>()),
      a[0] * b.tail<3>() + b[0] * a.tail<3>() + a.tail<3>().cross(b.tail<3>());
  return product;
}

Eigen::Matrix3d rotation_from_quat_wxyz(const Eigen::Vector4d& quat_wxyz) {
  const double norm = quat_wxyz.norm();
  if (!std::isfinite(norm) || norm == 0) {
    throw std::invalid_argument("rotation_from_quat_wxyz: a quaternion needs a positive finite norm, got " +
                                std::to_string(norm));
  }
  const Eigen::Vector4d q = quat_wxyz / norm;
  return Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
}

Eigen::Vector4d quat_wxyz_from_rotation(const Eigen::Matrix3d& R) {
  // Shepperd: start from the largest component, so that no division loses digits.
  const double trace = R.trace();
  Eigen::Vector4d q;
  int k;
  if (R.diagonal().maxCoeff(&k) <= trace) {
    q << 1 + trace, R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1);
  } else {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    q[0] = R(j, i) - R(i, j);
    q[1 + k] = 1 + 2 * R(k, k) - trace;
    q[1 + i] = R(i, k) + R(k, i);
    q[1 + j] = R(j, k) + R(k, j);
  }
  q.normalize();
  return q[0] < 0 ? Eigen::Vector4d(-q) : q;
}

Eigen::Matrix3d rotation_from_rpy(const Eigen::Vector3d& rpy) {
  using Eigen::AngleAxisd, Eigen::Vector3d;
  return (AngleAxisd(rpy[2], Vector3d::UnitZ()) * AngleAxisd(rpy[1], Vector3d::UnitY()) *
          AngleAxisd(rpy[0], Vector3d::UnitX()))
      .toRotationMatrix();
}

Eigen::Vector3d rpy_from_rotation(const Eigen::Matrix3d& R) {
  const double cos_pitch = std::hypot(R(0, 0), R(1, 0));
  const double pitch = std::atan2(-R(2, 0), cos_pitch);
  // Gimbal lock: only yaw ∓ roll is defined; roll is set to zero.
  if (cos_pitch < 1e-12) return {0.0, pitch, std::atan2(-R(0, 1), R(1, 1))};
  return {std::atan2(R(2, 1), R(2, 2)), pitch, std::atan2(R(1, 0), R(0, 0))};
}

}  // namespace deft
