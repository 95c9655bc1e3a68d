#include "deft/math/small_dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/QR>

namespace deft {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Matrix3d rotation_between(const Vector3d& a, const Vector3d& b) {
  return Eigen::Quaterniond::FromTwoVectors(a, b).toRotationMatrix();
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
