#pragma once
// The linear systems of the methods for nonlinear complementarity problems. Internal to solvers/mcp.

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <vector>

#include "deft/solvers/linear/dense_lu.hpp"
#include "deft/solvers/mcp/matrix.hpp"

namespace deft::solvers::mcp {

/// Solves (diag(a) + diag(b) J) x = r, J n × n, and its least-squares form. Keeps factors and scratch; dense systems of
/// repeated size do not allocate.
class McpLinear {
 public:
  /// Factors the matrix; where b_i = 0 (then a_i ≠ 0) unknown i is eliminated. @returns false if it is singular: a
  /// pivot is below `least` of the largest entry of its row (sparse: a solution grows by 1/least).
  bool factor(const McpMatrix& J, const double* a, const double* b, double least = 1e-12);
  /// x ← solution for x = r, n entries. After `factor` with the same J, a, b. @returns whether it is finite.
  bool solve(const McpMatrix& J, const double* a, const double* b, double* x);
  /// x ← −(AᵀA + μ)⁻¹ g with A = diag(a) + diag(b) J and μ = `damping`, not below what rounding of AᵀA hides.
  /// Independent of `factor`. @returns whether x was found and is finite.
  bool damped(const McpMatrix& J, const double* a, const double* b, double damping, const double* g, double* x);

 private:
  void choose_rows(int n, const double* b);
  bool factor_dense(const McpMatrix& J, const double* a, const double* b, double least);
  bool factor_sparse(const McpMatrix& J, const double* a, const double* b, double least);
  bool damped_dense(const McpMatrix& J, const double* a, const double* b, double damping, double* x);
  bool damped_sparse(const McpMatrix& J, const double* a, const double* b, double damping, double* x);

  using SparseMatrix = Eigen::SparseMatrix<double>;
  linear::DenseLu lu_;
  Eigen::SparseLU<SparseMatrix> sparse_lu_;
  std::vector<int> rows_;                // that are not eliminated
  std::vector<int> place_;               // of each row among them, or −1
  std::vector<int> given_;               // eliminated unknowns that are not zero
  std::vector<double> units_, reduced_;  // factors of rows_; right-hand sides
  std::vector<double> A_, H_, floor_;
  std::vector<int> columns_;
  std::vector<Eigen::Triplet<double>> triplets_;
};

}  // namespace deft::solvers::mcp
