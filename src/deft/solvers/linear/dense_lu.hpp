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
  double* row(int i) { return data_.data() + static_cast<std::ptrdiff_t>(i) * ld_; }
  /// @returns false if a pivot is below `least` (then nothing can be solved).
  bool factor(double least);
  /// x ← A⁻¹ x, size n.
  void solve(double* x);
  /// X ← A⁻¹ X, one row per unknown, `ld` apart, `k` columns rounded up to whole lanes.
  void solve_many(double* X, int ld, int k);

 private:
  const kernels::DenseKernels* kernels_;
  int n_ = 0, ld_ = 0;
  std::vector<double> data_;   // U with the reciprocals of its diagonal; the strict lower part holds rubbish
  std::vector<double> lower_;  // column k of L in row k, ones on the diagonal
  std::vector<int> order_;     // row exchanged with k
};

/// x of least count with Ax = b by LU with exchanges of rows and columns, for systems that may be rectangular or
/// singular but have a solution. @param A rows × cols, row-major, destroyed. @param x  cols; variables without a pivot
/// (below `least`) are zero.
/// @returns whether |b| that no pivot reaches stays below `rest`.
bool solve_consistent(int rows, int cols, std::vector<double>& A, std::vector<double>& b, double* x, double least,
                      double rest);

}  // namespace deft::solvers::linear
