#pragma once
// Sparse Cholesky factor in dense 8 × 8 tiles. Private to src/deft/solvers.

#include <span>
#include <utility>
#include <vector>

namespace deft::solvers::linear {

/// PᵀHP = UᵀU for a symmetric positive definite H whose columns come in tiles of up to 8 (a body, a few joints). The
/// order P of the tiles is one of approximate minimum degree; it and the pattern of U are kept while the pattern of H
/// stays. Tiles are eliminated one after the other, each updating the tiles of its neighbours; all arithmetic is on
/// full tiles. P. Amestoy, T. Davis, I. Duff, SIAM J. Matrix Anal. 17 (1996), the order.
class TileCholesky {
 public:
  /// Sets the pattern: sizes of the tiles in the order of the columns, and the pairs (first < second) of tiles that H
  /// couples. Values become zero. `pairs` is sorted in place, repeated ones count once.
  void start(std::span<const int> sizes, std::vector<std::pair<int, int>>& pairs);
  /// H(cols, cols) += the symmetric n × n matrix whose upper triangle is in `values`, row-major with row length ld.
  /// `cols` ascends; the tiles of any two columns must be a pair of the pattern.
  void add(int n, const int* cols, const double* values, int ld);
  /// H(column, column) += value.
  void add_diagonal(int column, double value);
  /// Keeps a copy of the values added so far.
  void remember();
  /// Sets the values to those remembered, after a factorisation. @pre `remember` has been called since `start`.
  void recall();
  /// Factors H in place; pivots below `noise` times the diagonal entry they come from are frozen as in
  /// DenseKernels::factor. @returns the number of frozen pivots.
  int factor(double noise);
  /// x ← H⁻¹x, x in the order of the columns. @pre `factor` has been called.
  void solve(double* x);

  /// Number of tiles on the diagonal.
  int num_tiles() const { return static_cast<int>(first_.size()) - 1; }
  /// Number of tiles of U off the diagonal, fill included.
  int num_filled() const { return static_cast<int>(rows_.size()); }

 private:
  void analyse(std::span<const int> sizes);
  double* tile(int p, int q);

  std::vector<int> sizes_;
  std::vector<std::pair<int, int>> pairs_;
  std::vector<int> tile_of_column_, first_column_, position_, tile_at_;
  std::vector<int> first_, rows_;          // off-diagonal tiles of each position: their row positions, ascending
  std::vector<std::size_t> first_target_;  // into targets_, per position
  std::vector<int> targets_;               // tile updated by the pair (a, b), a < b, of a position's tiles
  std::vector<double> diagonal_, tiles_, floor_, x_, kept_diagonal_, kept_tiles_;
};

}  // namespace deft::solvers::linear
