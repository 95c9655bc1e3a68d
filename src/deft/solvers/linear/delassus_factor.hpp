#pragma once
// Cholesky factor of the Delassus matrix of a changing set of rows. Private to src/deft/solvers.

#include <vector>

#include "deft/core/index.hpp"

namespace deft::solvers::linear {

/// W_AA = UᵀU of the rows in A (W = GQ⁻¹Gᵀ + R), and y = U⁻ᵀ a of a right-hand side a that grows and shrinks with A, so
/// that W_AA λ = a costs one back-substitution. Rows join at the end and leave anywhere (P. Gill, G. Golub, W. Murray,
/// M. Saunders, Math. Comp. 28 (1974)); W_AA stays regular because dependent rows are refused.
class DelassusFactor {
 public:
  /// Empties A, which may hold `capacity` rows from now on; allocates only while the capacity grows.
  void clear(int capacity);
  /// Number of rows in A.
  int size() const { return n_; }

  /// For a whole set of n ≤ capacity rows at once: `begin`, add to `entry` (k, r), k ≤ r, the product of rows k and r,
  /// then `factorise`. Entries are zero at first and row-major; those below the diagonal are not read.
  void begin(int n);
  /// W_kr before `factorise`.
  double& entry(int k, int r) { return U_[to_size(k) * ld_ + r]; }
  /// Distance of the entries (k, r) and (k + 1, r) in memory.
  int stride() const { return ld_; }
  /// A becomes the n rows whose products `entry` has, with their right-hand sides [n]. @returns false, with A empty,
  /// where they are not independent up to rounding.
  bool factorise(int n, const double* rhs);

  /// Tries a row whose products with A are w (size(); zeros before `first`), with itself w_rr. @returns whether it is
  /// independent of A: more than 1e-10 of |row|² = w_rr lies outside the span. Then `append` may follow, otherwise
  /// `null_direction`.
  bool independent(const double* w, int first, double w_rr);
  /// The part of |row|² of the row tried last that lies outside the span of A, up to rounding.
  double rest() const { return rest_; }
  /// Sets a more accurate value of `rest`, which the caller found by other means. Then `append` may follow.
  void set_rest(double rest) { rest_ = rest; }
  /// The row tried last joins A with its right-hand side. @pre it is independent and A is not full.
  void append(double rhs);
  /// Whether A has as many rows as its capacity.
  bool full() const { return n_ == capacity_; }
  /// Becomes a copy of `other` with at least its capacity, and the row it tried last; right-hand sides are zero.
  void copy(const DelassusFactor& other);
  /// Removes row k of A: later rows move up by one.
  void remove(int k);
  /// λ = W_AA⁻¹ a, size() values.
  void solve(double* lambda) const;
  /// x ← W_AA⁻¹ x.
  void solve_for(double* x) const;
  /// p = −W_AA⁻¹ w of the row tried last: how the multipliers of A move when its own grows by one.
  void null_direction(double* p) const;
  /// Sets the right-hand sides of all rows of A to zero.
  void clear_rhs();

 private:
  int n_ = 0, capacity_ = 0, ld_ = 0, first_ = 0;
  double rest_ = 0;                             // |row|² outside the span of A
  std::vector<double> U_, y_, column_, floor_;  // the diagonal of U as reciprocals
};

}  // namespace deft::solvers::linear
