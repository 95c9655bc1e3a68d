#include "deft/math/rotation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>

namespace deft {
namespace rotation_test {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::Vector4d;
constexpr double kPi = std::numbers::pi;

// The oracle: the power series of the matrix exponential in long double, squared up from a small angle.
using Matrix3l = Eigen::Matrix<long double, 3, 3>;
Matrix3l series_exp(const Vector3d& w) {
  const Matrix3l W = skew(w).cast<long double>() / 1024.0L;
  Matrix3l sum = Matrix3l::Identity(), term = Matrix3l::Identity();
  for (int k = 1; k < 20; ++k) sum += term = (term * W / k).eval();
  for (int k = 0; k < 10; ++k) sum = (sum * sum).eval();
  return sum;
}

Vector3d unit_vector(std::mt19937_64& rng) {
  std::normal_distribution<double> normal;
  return Vector3d(normal(rng), normal(rng), normal(rng)).normalized();
}

// Angles from the denormal range to π and across the switch between series and closed form.
const double kAngles[] = {0,         1e-300, 1e-160, 1e-12, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2,       0.0499999,
                          0.0500001, 0.06,   0.1,    0.5,   1.0,  2.0,  3.0,  3.14, kPi - 1e-7, kPi - 1e-12};

TEST(Rotation, ExponentialAgreesWithTheSeriesAtEveryAngle) {
  std::mt19937_64 rng(1);
  for (double angle : kAngles) {
    for (int k = 0; k < 20; ++k) {
      const Vector3d w = angle * unit_vector(rng);
      const Matrix3d expected = series_exp(w).cast<double>();
      EXPECT_LT((exp_so3(w) - expected).cwiseAbs().maxCoeff(), 1e-15) << angle;
      EXPECT_LT((rotation_from_quat_wxyz(exp_quat_wxyz(w)) - expected).cwiseAbs().maxCoeff(), 2e-15) << angle;
    }
  }
}

TEST(Rotation, LogarithmInvertsTheExponentialUpToHalfATurn) {
  std::mt19937_64 rng(2);
  for (double angle : kAngles) {
    for (int k = 0; k < 20; ++k) {
      const Vector3d w = angle * unit_vector(rng);
      const Vector3d back = log_so3(exp_so3(w));
      EXPECT_LE((back - w).norm(), 4e-15 * std::max(angle, 1e-3)) << angle;
    }
  }
}

TEST(Rotation, LogarithmOfAHalfTurnHasAngleExactlyPi) {
  for (int axis = 0; axis < 3; ++axis) {
    Matrix3d R = -Matrix3d::Identity();
    R(axis, axis) = 1;
    const Vector3d w = log_so3(R);
    EXPECT_NEAR(std::abs(w[axis]), kPi, 1e-15);
    EXPECT_NEAR(w.norm(), kPi, 1e-15);
  }
}

TEST(Rotation, LeftJacobianIsTheDerivativeOfTheExponential) {
  std::mt19937_64 rng(3);
  for (double angle : kAngles) {
    const Vector3d w = angle * unit_vector(rng), dw = unit_vector(rng);
    const double step = 1e-5;
    // Exp(w + s dw) Exp(w)ᵀ ≈ 1 + s [J_l dw]×, differentiated centrally in long double.
    const Matrix3l difference = (series_exp(w + step * dw) - series_exp(w - step * dw)) / (2 * step);
    const Matrix3d rate = (difference * series_exp(w).transpose()).cast<double>();
    EXPECT_LT((rate - skew(left_jacobian_so3(w) * dw)).cwiseAbs().maxCoeff(), 2e-10) << angle;
  }
}

TEST(Rotation, LeftJacobianSatisfiesItsDefiningIdentityToRounding) {
  std::mt19937_64 rng(4);
  for (double angle : kAngles) {
    const Vector3d w = angle * unit_vector(rng);
    // Exp(w) = 1 + J_l(w) [w]×.
    const Matrix3d right = Matrix3d::Identity() + left_jacobian_so3(w) * skew(w);
    EXPECT_LT((exp_so3(w) - right).cwiseAbs().maxCoeff(), 2e-15) << angle;
  }
}

TEST(Rotation, QuaternionProductComposesRotations) {
  std::mt19937_64 rng(5);
  for (int k = 0; k < 100; ++k) {
    const Vector3d a = 3.0 * unit_vector(rng), b = 1.7 * unit_vector(rng);
    const Vector4d product = multiply_quat_wxyz(exp_quat_wxyz(a), exp_quat_wxyz(b));
    EXPECT_LT((rotation_from_quat_wxyz(product) - exp_so3(a) * exp_so3(b)).norm(), 4e-15);
    const Vector4d from_matrix = quat_wxyz_from_rotation(exp_so3(a));
    EXPECT_GE(from_matrix[0], 0);
    EXPECT_LT((rotation_from_quat_wxyz(from_matrix) - exp_so3(a)).norm(), 4e-15);
  }
}

TEST(Rotation, QuaternionsAreNormalisedAndBadOnesAreRefused) {
  EXPECT_LT((rotation_from_quat_wxyz({0, 0, 0, -7}) - exp_so3({0, 0, kPi})).norm(), 1e-15);
  EXPECT_THROW(rotation_from_quat_wxyz(Vector4d::Zero()), std::invalid_argument);
  EXPECT_THROW(rotation_from_quat_wxyz({std::numeric_limits<double>::infinity(), 0, 0, 1}), std::invalid_argument);
  EXPECT_THROW(rotation_from_quat_wxyz({std::nan(""), 0, 0, 1}), std::invalid_argument);
}

TEST(Rotation, RollPitchYawIsExtrinsicAndInvertible) {
  std::mt19937_64 rng(6);
  std::uniform_real_distribution<double> angle(-kPi / 2, kPi / 2);
  for (int k = 0; k < 100; ++k) {
    const Vector3d rpy(2 * angle(rng), angle(rng), 2 * angle(rng));
    const Matrix3d R = rotation_from_rpy(rpy);
    const Matrix3d expected = exp_so3({0, 0, rpy[2]}) * exp_so3({0, rpy[1], 0}) * exp_so3({rpy[0], 0, 0});
    EXPECT_LT((R - expected).norm(), 2e-15);
    EXPECT_LT((rpy_from_rotation(R) - rpy).norm(), 1e-13);
  }
}

TEST(Rotation, RollPitchYawReproducesTheRotationAtGimbalLock) {
  for (double pitch : {kPi / 2, -kPi / 2}) {
    const Matrix3d R = rotation_from_rpy({0.3, pitch, -1.1});
    EXPECT_LT((rotation_from_rpy(rpy_from_rotation(R)) - R).norm(), 1e-12);
  }
}

}  // namespace rotation_test
}  // namespace deft
