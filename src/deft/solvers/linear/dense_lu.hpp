#pragma once
// Dense LU factors of small unsymmetric systems, with their scratch kept. Internal to solvers.

#include <vector>

#include "deft/solvers/kernels/dense_kernels.hpp"

namespace deft::solvers::linear {

/// PA = LU with row exchanges. Fill `row(i)`, then `factor`, then `solve` any number of times.
class DenseLu {
 public:
  DenseLu();
  /// n × n entries, all zero. Allocates when n grows.
  void resize(int n);
  /// Row i of A, n entries, before `factor`.
  double* row(int i) { return data_.data() + static_cast<std::ptrdiff_t>(i) * ld_; }
  /// Factors A. @returns false if the magnitude of a pivot is not above `least` ≥ 0; then nothing can be solved.
  bool factor(double least);
  /// x ← A⁻¹ x, size n.
  void solve(double* x);
  /// X ← A⁻¹ X, row-major [n × k] with rows `ld` ≥ padded(k) apart; k columns rounded up to whole lanes are computed.
  void solve_many(double* X, int ld, int k);

 private:
  const kernels::DenseKernels* kernels_;
  int n_ = 0, ld_ = 0;
  std::vector<double> data_;   // U with the reciprocals of its diagonal; the strict lower part is not used
  std::vector<double> lower_;  // column k of L in row k, ones on the diagonal
  std::vector<int> order_;     // row exchanged with k
};

/// A basic solution x of Ax = b by LU with full pivoting, for systems that may be rectangular or singular. Allocates.
/// @param A  [rows × cols], row-major; overwritten.
/// @param b  [rows]; overwritten.
/// @param x  [cols]; variables without a pivot are zero.
/// @param least  magnitude ≥ 0 that a pivot must exceed.
/// @param rest  bound of |b_i| after elimination in rows without a pivot.
/// @returns whether the system is consistent to `rest`.
bool solve_consistent(int rows, int cols, std::vector<double>& A, std::vector<double>& b, double* x, double least,
                      double rest);

}  // namespace deft::solvers::linear
