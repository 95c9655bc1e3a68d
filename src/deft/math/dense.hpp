#pragma once
// Factorizations of dense matrices behind plain functions: Eigen's templates for them cost the compiler ten seconds
// wherever they are used, here they are compiled once. Unless they say otherwise they allocate, and
// are not meant for hot loops.

#include <Eigen/Core>
#include <memory>
#include <vector>

namespace deft {

/// Eigenvalues of a symmetric matrix, ascending, and orthonormal eigenvectors as columns: A = V diag(λ) Vᵀ.
struct SymmetricEigen {
  Eigen::VectorXd values;   // size n
  Eigen::MatrixXd vectors;  // n × n
};
/// The same of a 3 × 3 matrix.
struct SymmetricEigen3 {
  Eigen::Vector3d values;   // ascending
  Eigen::Matrix3d vectors;  // orthonormal columns
};

/// Spectral decomposition of a symmetric matrix, of which the lower triangle is read.
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& A);
/// The same for 3 × 3 matrices.
SymmetricEigen3 symmetric_eigen(const Eigen::Matrix3d& A);
/// Eigenvalues alone, ascending.
Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& A);
/// The same for 3 × 3 matrices.
Eigen::Vector3d symmetric_eigenvalues(const Eigen::Matrix3d& A);

/// The x of least norm among those of least ‖A x − b‖, for any number of right-hand sides: complete orthogonal
/// decomposition.
class LeastSquares {
 public:
  /// Factors A [m × n] of any shape.  @param threshold  pivots below this part of the largest count as zero; 0:
  /// rounding of doubles.
  explicit LeastSquares(const Eigen::MatrixXd& A, double threshold = 0);
  ~LeastSquares();
  LeastSquares(LeastSquares&&) noexcept;
  LeastSquares& operator=(LeastSquares&&) noexcept;

  Eigen::VectorXd solve(const Eigen::VectorXd& b) const;  // x [n] for one right-hand side b [m]
  Eigen::MatrixXd solve(const Eigen::MatrixXd& B) const;  // X [n × k], column by column, for B [m × k]

 private:
  struct Factor;
  std::unique_ptr<Factor> factor_;
};

/// Orthonormal basis, as columns, of { x : A x = 0 }; pivots of the QR decomposition of Aᵀ up to `flat` count as zero.
Eigen::MatrixXd null_space(const Eigen::MatrixXd& A, double flat);
/// Columns of A that are independent, the longest first: the rank by pivots above `threshold` of the largest.
std::vector<int> independent_columns(const Eigen::MatrixXd& A, double threshold);

/// The x [n] of least norm among those of least ‖A x − b‖, A [3 × n]: as LeastSquares.
Eigen::VectorXd least_norm_solve(const Eigen::MatrixXd& A, const Eigen::Vector3d& b);
/// The x [n] of least ‖A x − b‖, A [m × n] of full column rank, b [m]: QR with column pivots.
Eigen::VectorXd qr_solve(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);

/// A⁻¹b of a symmetric positive definite A, by Cholesky's factor; the lower triangle is read.
Eigen::VectorXd llt_solve(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
/// The same in place: x is b before, the solution afterwards; A becomes its factor. Does not allocate.
void llt_solve_in_place(Eigen::MatrixXd& A, Eigen::VectorXd& x);
/// A⁻¹B of a symmetric A, by LDLᵀ with pivots.
Eigen::MatrixXd ldlt_solve(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

}  // namespace deft
