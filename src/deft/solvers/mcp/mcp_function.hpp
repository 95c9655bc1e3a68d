#pragma once
// Nonlinear mixed complementarity problems: find z with
//
//   F_i(z) = 0 for free i,   0 ≤ z_i ⟂ F_i(z) ≥ 0 for all others,
//
// given as functions with Jacobians, and the residual that measures how well a point solves one.

#include <cstddef>
#include <span>
#include <vector>

namespace deft::solvers::mcp {

/// Where a problem writes ∂F/∂z: entries add up, those never written are zero. Dense (row-major) or as triplets.
class McpJacobian {
 public:
  /// A triplet of a sparse Jacobian.
  struct Entry {
    int row = 0, column = 0;  // from 0
    double value = 0;         // added to what the other entries of this place have
  };
  /// Dense: `data` has rows of `ld` entries, all zero before. Sparse: `data` is null, and `entries` grows.
  McpJacobian(double* data, int ld, std::vector<Entry>* entries) : data_(data), ld_(ld), entries_(entries) {}
  /// ∂F_row/∂z_column += value. @pre both in 0 … size − 1.
  void add(int row, int column, double value) {
    if (data_ != nullptr)
      data_[static_cast<std::ptrdiff_t>(row) * ld_ + column] += value;
    else
      entries_->push_back({row, column, value});
  }

 private:
  double* data_;
  int ld_;
  std::vector<Entry>* entries_;
};

/// The problem, in units of its own. Scratch of its own is allowed: one object per thread. The spans must stay valid
/// and unchanged during a solve.
class McpFunction {
 public:
  virtual ~McpFunction() = default;
  /// Number of unknowns, and of rows of F.
  virtual int size() const = 0;
  /// Per unknown: 1 where it is free (an equation), 0 where it is complementary to its row.
  virtual std::span<const char> is_free() const = 0;
  /// Typical sizes of unknowns, > 0, in their units: z_i / variable_scale_i is of order one where it matters.
  virtual std::span<const double> variable_scale() const = 0;
  /// Typical sizes of rows, > 0, in their units: F_i / row_scale_i is of order one where it matters.
  virtual std::span<const double> row_scale() const = 0;
  /// F(z) and, unless null, ∂F/∂z (an element of the generalised one at nonsmooth points). @returns false where F is
  /// not defined.
  virtual bool evaluate(std::span<const double> z, std::span<double> F, McpJacobian* jacobian) = 0;
};

/// The number that `tolerance` bounds, from point and values alone: max over rows of |F_i|/row_scale_i (free) and
/// |min(z_i/variable_scale_i, F_i/row_scale_i)|. @returns infinity if anything is not finite. @throws
/// std::invalid_argument for sizes that differ.
double mcp_residual(std::span<const char> is_free, std::span<const double> z, std::span<const double> F,
                    std::span<const double> variable_scale, std::span<const double> row_scale);

}  // namespace deft::solvers::mcp
