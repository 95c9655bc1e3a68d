#pragma once
// The hot dense kernels of the contact solvers: raw pointers and sizes, no Eigen (its objects must not cross between
// instruction sets). All matrices are row-major; `ld` is a multiple of 8 and padding columns hold finite values.
// One table per instruction set, chosen once at run time (isa.hpp).

namespace deft::solvers::kernels {

/// Width to which rows are padded, in doubles: one AVX-512 register.
inline constexpr int kLane = 8;
/// n rounded up to whole lanes.
constexpr int padded(int n) { return (n + kLane - 1) / kLane * kLane; }

/// The kernels of one instruction set. None allocates; all may be called from many threads.
struct DenseKernels {
  /// H = UᵀU in place, upper triangle only, n ≤ ld; the diagonal of U holds the reciprocals of its entries. Pivots that
  /// fall below `floor[i]` mean a direction without curvature up to rounding: they are replaced by a huge one, which
  /// freezes that direction. @returns the number of such pivots.
  int (*factor)(int n, int ld, double* H, const double* floor);
  /// The first `pivots` steps of the same: their rows become [U₁₁ U₁₂] (the diagonal of U₁₁ as reciprocals), the upper
  /// triangle of the others what remains, H₂₂ − U₁₂ᵀU₁₂. Pivots that are not above max(floor[i], 1e-290) are raised to
  /// it. @returns the number of raised pivots.
  int (*factor_leading)(int pivots, int n, int ld, double* H, const double* floor);
  /// x ← (UᵀU)⁻¹ x.
  void (*solve)(int n, int ld, const double* U, double* x);
  /// x ← U⁻ᵀ x (forward substitution only): |x| is then the norm in the metric of the inverse.
  void (*forward)(int n, int ld, const double* U, double* x);
  /// x ← U⁻¹ x (backward substitution only).
  void (*backward)(int n, int ld, const double* U, double* x);
  /// (a, b) ← (c a + s b, c b − s a), a and b of length n.
  void (*rotate)(int n, double c, double s, double* a, double* b);
  /// z = J v, J rows × ld, v padded to ld with zeros.
  void (*multiply)(int rows, int ld, const double* J, const double* v, double* z);
  /// out += Jᵀ y, out padded to ld.
  void (*multiply_transposed)(int rows, int ld, const double* J, const double* y, double* out);
  /// T = C J, C rows × rows, J and T rows × ld.
  void (*weigh)(int rows, int ld, const double* C, const double* J, double* T);
  /// H(cols, cols) += JᵀT, upper triangle, J and T rows × ld of which `n` columns count; `contiguous` says that cols[k]
  /// = cols[0] + k and that H may be written (with zeros) up to padded(n) columns after cols[0].
  void (*add_product)(int rows, int n, int ld, const double* J, const double* T, const int* cols, bool contiguous,
                      double* H, int ld_H);

  // Many right-hand sides: X and Y row-major, one row per unknown, `k` columns rounded up to whole lanes. Entry (i, j)
  // of A is A[i * row_step + j * col_step], so that a transposed matrix needs no copy.
  /// Y += alpha A X, A rows × inner.
  void (*multiply_many)(int rows, int inner, double alpha, const double* A, int row_step, int col_step, const double* X,
                        int ld_X, double* Y, int ld_Y, int k);
  /// X ← A⁻¹ X with A triangular, its diagonal holding reciprocals: lower, or upper if `backward`.
  void (*substitute_many)(int n, const double* A, int row_step, int col_step, bool backward, double* X, int ld_X,
                          int k);

  /// Rays of contacts, `count` contacts (padded) with `rays` rays each: n, t, o [count] are the slacks of their normals
  /// and tangents; a, b, weight [rays × count]. @returns the index k count + i of the ray with the largest weight s²
  /// above `least` of those with s = n_i + a t_i + b o_i < 0; −1 where there is none.
  int (*most_violated)(int rays, int count, const double* n, const double* t, const double* o, const double* a,
                       const double* b, const double* weight, double least);

  // Square tiles of kLane rows, row-major and contiguous (tile_cholesky.hpp).
  /// One step of UᵀU by tiles: each of `count` tiles ← U⁻ᵀ tile with the factored `diagonal`; then for all pairs a ≤ b
  /// of them the tile that couples rows[a] with rows[b] −= tile_aᵀ tile_b: diagonals[rows[a]] where a = b, otherwise
  /// the next one of `targets` in `all`.
  void (*eliminate_tile)(int count, const double* diagonal, double* tiles, const int* rows, const int* targets,
                         double* diagonals, double* all);
  /// x[rows[a]] −= tile_aᵀ y for all tiles; x in pieces of kLane.
  void (*forward_tiles)(int count, const double* tiles, const int* rows, const double* y, double* x);
  /// y −= Σ tile_a x[rows[a]].
  void (*backward_tiles)(int count, const double* tiles, const int* rows, const double* x, double* y);
};

}  // namespace deft::solvers::kernels
