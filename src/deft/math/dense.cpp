#include "deft/math/dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace deft {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

SymmetricEigen symmetric_eigen(const MatrixXd& A) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

SymmetricEigen3 symmetric_eigen(const Matrix3d& A) {
  const Eigen::SelfAdjointEigenSolver<Matrix3d> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VectorXd symmetric_eigenvalues(const MatrixXd& A) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

Vector3d symmetric_eigenvalues(const Matrix3d& A) {
  return Eigen::SelfAdjointEigenSolver<Matrix3d>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

struct LeastSquares::Factor { Eigen::CompleteOrthogonalDecomposition<MatrixXd> decomposition; };

LeastSquares::LeastSquares(const MatrixXd& A, double threshold) : factor_(std::make_unique<Factor>()) {
  if (threshold > 0) factor_->decomposition.setThreshold(threshold);
  factor_->decomposition.compute(A);
}
LeastSquares::~LeastSquares() = default;
LeastSquares::LeastSquares(LeastSquares&&) noexcept = default;
LeastSquares& LeastSquares::operator=(LeastSquares&&) noexcept = default;

VectorXd LeastSquares::solve(const VectorXd& b) const { return factor_->decomposition.solve(b); }
MatrixXd LeastSquares::solve(const MatrixXd& B) const { return factor_->decomposition.solve(B); }

MatrixXd null_space(const MatrixXd& A, double flat) {
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(A.transpose());
  Eigen::Index rank = 0;
  const Eigen::Index most = std::min(A.rows(), A.cols());
  while (rank < most && std::abs(qr.matrixQR()(rank, rank)) > flat) ++rank;
  const MatrixXd Q = qr.householderQ();
  return Q.rightCols(A.cols() - rank);
}

std::vector<int> independent_columns(const MatrixXd& A, double threshold) {
  Eigen::ColPivHouseholderQR<MatrixXd> qr;
  qr.setThreshold(threshold);
  qr.compute(A);
  std::vector<int> columns;
  for (Eigen::Index i = 0; i < qr.rank(); ++i) columns.push_back(static_cast<int>(qr.colsPermutation().indices()[i]));
  return columns;
}

Eigen::VectorXd least_norm_solve(const MatrixXd& A, const Eigen::Vector3d& b) {
  return A.completeOrthogonalDecomposition().solve(b);
}
VectorXd qr_solve(const MatrixXd& A, const VectorXd& b) { return A.colPivHouseholderQr().solve(b); }

VectorXd llt_solve(const MatrixXd& A, const VectorXd& b) { return A.llt().solve(b); }
void llt_solve_in_place(MatrixXd& A, VectorXd& x) { Eigen::LLT<Eigen::Ref<MatrixXd>>(A).solveInPlace(x); }
MatrixXd ldlt_solve(const MatrixXd& A, const MatrixXd& B) { return A.ldlt().solve(B); }

}  // namespace deft
