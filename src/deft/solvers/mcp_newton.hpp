#pragma once
// Nonlinear mixed complementarity problems: find z with
//
//   F_i(z) = 0 for free i,   0 ≤ z_i ⟂ F_i(z) ≥ 0 for all others,
//
// by a semismooth Newton method with fallbacks (README.md). Source: T. De Luca, F. Facchinei, C. Kanzow, Math. Program. 75 (1996).

#include <Eigen/Core>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "deft/solvers/status.hpp"

namespace deft::solvers {

/// Where a problem writes ∂F/∂z: entries add up, those never written are zero. Dense (row-major) or as triplets.
class McpJacobian {
 public:
  struct Entry {
    int row = 0, column = 0;
    double value = 0;
  };
  /// Dense: `data` has rows of `ld` entries, all zero before. Sparse: `data` is null.
  McpJacobian(double* data, int ld, std::vector<Entry>* entries) : data_(data), ld_(ld), entries_(entries) {}
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

/// The problem. Scratch of its own is allowed: one object per thread.
class McpFunction {
 public:
  virtual ~McpFunction() = default;
  virtual int size() const = 0;
  /// Per unknown: 1 where it is free (an equation), 0 where it is complementary to its row.
  virtual std::span<const char> is_free() const = 0;
  /// Natural units of unknowns and rows, > 0: z_i / variable_scale_i and F_i / row_scale_i are of order one where they matter.
  virtual std::span<const double> variable_scale() const = 0;
  virtual std::span<const double> row_scale() const = 0;
  /// F(z) and, unless null, ∂F/∂z (an element of the generalised one at kinks). @returns false where F is not defined.
  virtual bool evaluate(std::span<const double> z, std::span<double> F, McpJacobian* jacobian) = 0;
};

/// How McpSolver works.
struct McpSettings {
  /// Solved: max over rows, in the problem's scales, of |F_i| (free) and |min(z_i, F_i)|.
  double tolerance = 1e-10;
  int max_newton = 60;         // iterations of the plain method before the fallbacks
  bool fallbacks = true;       // displaced starts, interior point, Josephy–Newton; the plain method then gives up where |Φ| does not fall
  std::uint64_t seed = 0;      // of the restarts
  double time_limit_s = std::numeric_limits<double>::infinity();
};

/// What one solve found.
struct McpResult {
  Status status = Status::kNumericalFailure;  // Solved, IterationLimit, TimeLimit, NumericalFailure
  std::vector<double> z, F;                   // the best point found, and F there; complementary z_i ≥ 0, and zero where z_i ≤ F_i (scaled)
  double residual = 0;                        // the number that `tolerance` bounds, computed from z and F alone
  int iterations = 0;                         // linear systems solved, of all methods
  const char* method = "newton";              // that found the point: newton, interior-point, josephy-newton, restart
};

/// The number that `tolerance` bounds, from point and values alone: max over rows of |F_i|/row_scale_i (free) and
/// |min(z_i/variable_scale_i, F_i/row_scale_i)|. @returns infinity if anything is not finite. @throws std::invalid_argument
/// for sizes that differ.
double mcp_residual(std::span<const char> is_free, std::span<const double> z, std::span<const double> F,
                    std::span<const double> variable_scale, std::span<const double> row_scale);

/// Solves problems one after the other; keeps scratch. One object per thread. A solve by plain Newton of repeated size does not
/// allocate (dense problems).
class McpSolver {
 public:
  explicit McpSolver(McpSettings settings = {});
  ~McpSolver();
  McpSolver(McpSolver&&) noexcept;
  McpSolver& operator=(McpSolver&&) noexcept;

  /// From `start` (size entries; complementary ones may be negative, and are moved to 0).
  /// @throws std::invalid_argument for wrong sizes, scales that are not positive, NaN in `start`.
  const McpResult& solve(McpFunction& function, std::span<const double> start);
  McpSettings& settings();

  /// Implicit derivatives at a solution: with ∂F/∂p as columns of `dF` (size × parameters) writes ∂z/∂p into `dz`. Pairs with z_i > F_i (scaled) keep
  /// F_i = 0, the others z_i = 0. @returns false if that system is singular. `kink` (may be null) tells whether a pair has both z_i and F_i
  /// below `biactive` (scaled): the derivative is then one-sided. With `determined` a singular system is solved, too, if it has solutions:
  /// entries of z with determined = 0 (a contact point of bodies apart, one of two redundant multipliers) have one of many derivatives, all others their own.
  bool sensitivity(McpFunction& function, std::span<const double> z, const Eigen::MatrixXd& dF, Eigen::MatrixXd& dz, bool* kink = nullptr,
                   double biactive = 1e-8, std::vector<char>* determined = nullptr);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::solvers
