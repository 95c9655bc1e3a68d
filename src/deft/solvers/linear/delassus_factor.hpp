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
  /// Empties A and makes room for `capacity` rows; allocates only while the capacity grows.
  void clear(int capacity);
  int size() const { return n_; }

  /// For a whole set at once: `begin`, add to `entry` (k, r), k ≤ r, the product of rows k and r, then `factorise`.
  /// Entries are zero at first and row-major, `stride` apart; those below the diagonal are not read.
  void begin(int n);
  double& entry(int k, int r) { return U_[to_size(k) * ld_ + r]; }
  int stride() const { return ld_; }
  /// A becomes the n ≤ capacity rows whose products `entry` has, with their right-hand sides. @returns false, with A
  /// empty, where they are not independent.
  bool factorise(int n, const double* rhs);

  /// Looks at a row whose products with A are w (size(); zeros before `first`), with itself w_rr. @returns whether it
  /// is independent of A, up to rounding. Then `append` may follow, otherwise `null_direction`.
  bool independent(const double* w, int first, double w_rr);
  /// What of |row|² of the row looked at last lies outside the span of A, up to rounding; and a better value of it,
  /// which the caller found by other means. Then `append` may follow.
  double rest() const { return rest_; }
  void set_rest(double rest) { rest_ = rest; }
  /// The row looked at last joins A with its right-hand side. @pre it is independent and A is not full.
  void append(double rhs);
  bool full() const { return n_ == capacity_; }
  /// Becomes a copy of `other` in its present size, and of the row it looked at last; the right-hand side is left out.
  void copy(const DelassusFactor& other);
  /// Removes row k of A.
  void remove(int k);
  /// λ = W_AA⁻¹ a, size() values.
  void solve(double* lambda) const;
  /// x ← W_AA⁻¹ x.
  void solve_for(double* x) const;
  /// p = −W_AA⁻¹ w of the row looked at last: how the multipliers of A move when its own grows by one.
  void null_direction(double* p) const;
  /// The right-hand side becomes zero.
  void clear_rhs();

 private:
  int n_ = 0, capacity_ = 0, ld_ = 0, first_ = 0;
  double rest_ = 0;                             // |row|² outside the span of A
  std::vector<double> U_, y_, column_, floor_;  // the diagonal of U as reciprocals
};

}  // namespace deft::solvers::linear
