#include "deft/math/small_dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>

namespace deft {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {
constexpr double kOpposite = -1 + 1e-12;  // cosine below which two directions count as opposite
}

Matrix3d rotation_between(const Vector3d& a, const Vector3d& b) {
  // As Eigen::Quaterniond::FromTwoVectors, whose singular value decomposition for opposite vectors is slow to compile.
  const Vector3d from = a.normalized(), to = b.normalized();
  const double cosine = to.dot(from);
  if (cosine >= kOpposite) {
    const double s = std::sqrt((1 + cosine) * 2), inverse = 1 / s;
    const Vector3d v = from.cross(to) * inverse;
    return Eigen::Quaterniond(s * 0.5, v.x(), v.y(), v.z()).toRotationMatrix();
  }
  Eigen::Index far = 2;  // a coordinate axis far from `from`
  for (const int k : {1, 0}) {
    if (std::abs(from(k)) < std::abs(from(far))) far = k;
  }
  const Vector3d axis = from.cross(Vector3d::Unit(far)).normalized();
  return 2 * axis * axis.transpose() - Matrix3d::Identity();
}

Vector3d ldlt_solve(const Matrix3d& A, const Vector3d& b) { return A.ldlt().solve(b); }
Matrix3d ldlt_solve(const Matrix3d& A, const Matrix3d& B) { return A.ldlt().solve(B); }

Eigen::Vector4d lu_solve(const Eigen::Matrix4d& A, const Eigen::Vector4d& b) { return A.partialPivLu().solve(b); }

int rank(const Matrix3d& A, double threshold) {
  Eigen::ColPivHouseholderQR<Matrix3d> qr(A);
  qr.setThreshold(threshold);
  return static_cast<int>(qr.rank());
}

UpTo3 least_norm_solve(const Columns3& A, const Vector3d& b) { return A.completeOrthogonalDecomposition().solve(b); }

}  // namespace deft
