#pragma once
// Factorizations of matrices of three or four rows behind plain functions: Eigen's templates for them are compiled once
// here, not wherever they are used. None allocates.

#include <Eigen/Core>

namespace deft {

/// R with R a/|a| = b/|b| by the smallest turn; of vectors that are opposite to 1.5e-6 rad a half turn, of the z axis
/// about the x axis. @pre neither is zero.
Eigen::Matrix3d rotation_between(const Eigen::Vector3d& a, const Eigen::Vector3d& b);

/// A⁻¹b of a symmetric A, by LDLᵀ with pivots.
Eigen::Vector3d ldlt_solve(const Eigen::Matrix3d& A, const Eigen::Vector3d& b);
/// A⁻¹B, likewise.
Eigen::Matrix3d ldlt_solve(const Eigen::Matrix3d& A, const Eigen::Matrix3d& B);

/// A⁻¹b of an invertible A, by LU with row pivots.
Eigen::Vector4d lu_solve(const Eigen::Matrix4d& A, const Eigen::Vector4d& b);

/// Rank of A: pivots of its QR decomposition below `threshold` of the largest count as zero.
int rank(const Eigen::Matrix3d& A, double threshold);

/// Up to three columns of three rows, and as many numbers.
using Columns3 = Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, 3>;
using UpTo3 = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 3, 1>;  // one per column
/// The x of least norm among those of least ‖A x − b‖: complete orthogonal decomposition.
UpTo3 least_norm_solve(const Columns3& A, const Eigen::Vector3d& b);

}  // namespace deft
