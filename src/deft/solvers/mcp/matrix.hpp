#pragma once
// The Jacobian of a nonlinear complementarity problem. Internal to solvers.

#include <vector>

#include "deft/solvers/mcp/mcp_function.hpp"

namespace deft::solvers::mcp {

/// ∂f/∂y of n rows: dense and padded for the kernels up to kLargestDense rows, a list of entries above.
class McpMatrix {
 public:
  static constexpr int kLargestDense = 150;

  /// Allocates when n grows or becomes sparse.
  void resize(int n);
  int size() const { return n_; }
  bool dense() const { return n_ <= kLargestDense; }
  /// All entries zero, to be written.
  McpJacobian start();
  /// Entry (i, j) ← row_i · entry · column_j. `column` has padded(n) entries.
  void scale(const double* row, const double* column);
  /// out ← Jx, out ← Jᵀx. x and out have padded(n) entries.
  void multiply(const double* x, double* out) const;
  void multiply_transposed(const double* x, double* out) const;

  int ld() const { return ld_; }
  const double* row(int i) const { return data_.data() + static_cast<std::ptrdiff_t>(i) * ld_; }
  const std::vector<McpJacobian::Entry>& entries() const { return entries_; }

 private:
  int n_ = 0, ld_ = 0;
  std::vector<double> data_;
  std::vector<McpJacobian::Entry> entries_;
};

}  // namespace deft::solvers::mcp
