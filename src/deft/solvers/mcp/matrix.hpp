#pragma once
// The Jacobian of a nonlinear complementarity problem. Internal to solvers.

#include <vector>

#include "deft/solvers/mcp/mcp_function.hpp"

namespace deft::solvers::mcp {

/// ∂f/∂y of n rows: dense and padded for the kernels up to kLargestDense rows, a list of entries above.
class McpMatrix {
 public:
  static constexpr int kLargestDense = 150;  // rows; larger matrices are sparse

  /// For n rows and columns; the entries are undefined until `start`. Allocates when n grows or becomes sparse.
  void resize(int n);
  int size() const { return n_; }                     // n
  bool dense() const { return n_ <= kLargestDense; }  // whether `row` holds the matrix; otherwise `entries` does
  /// Sets all entries to zero. @returns where they are to be written, valid until `resize`.
  McpJacobian start();
  /// Entry (i, j) ← row_i · entry · column_j. `column` has padded(n) entries.
  void scale(const double* row, const double* column);
  /// out ← Jx. x and out have padded(n) entries, those of x beyond n zero.
  void multiply(const double* x, double* out) const;
  /// out ← Jᵀx, likewise.
  void multiply_transposed(const double* x, double* out) const;

  /// Entries between dense rows: n padded to whole lanes.
  int ld() const { return ld_; }
  /// Dense row i, padded with zeros. @pre dense().
  const double* row(int i) const { return data_.data() + static_cast<std::ptrdiff_t>(i) * ld_; }
  /// Of a sparse matrix, in any order; those of one place add up.
  const std::vector<McpJacobian::Entry>& entries() const { return entries_; }

 private:
  int n_ = 0, ld_ = 0;
  std::vector<double> data_;
  std::vector<McpJacobian::Entry> entries_;
};

}  // namespace deft::solvers::mcp
