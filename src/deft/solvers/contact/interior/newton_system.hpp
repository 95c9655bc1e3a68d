#pragma once
// H = Q + JᵀCJ over the islands of a packed program, its factor, and products with J.

#include <vector>

#include "deft/solvers/contact/interior/packed_program.hpp"
#include "deft/solvers/linear/spectral_cone_operator.hpp"
#include "deft/solvers/linear/tile_cholesky.hpp"

namespace deft::solvers::contact {

/// The block of C that belongs to one block of rows.
struct BlockCurvature {
  bool zero = true;                                            // C = 0: the block is skipped
  double C[linear::kMaxConeRows * linear::kMaxConeRows] = {};  // [rows × rows], row-major, symmetric
};

/// Newton matrix and factor with their scratch: dense for small islands, in sparse tiles for large ones; one per
/// thread.
class NewtonSystem {
 public:
  /// H ← Q + JᵀCJ and its factor; `curvature` has one entry per block of the program. @returns the number of directions
  /// without curvature, in which solve() does not move.
  int factor(const PackedProgram& program, const std::vector<BlockCurvature>& curvature);
  /// x ← H⁻¹x, packed order, with the last factor.
  void solve(const PackedProgram& program, std::vector<double>& x);

  /// z = J v.
  void multiply(const PackedProgram& program, const std::vector<double>& v, std::vector<double>& z);
  /// out += Jᵀ y.
  void add_transposed(const PackedProgram& program, const std::vector<double>& y, std::vector<double>& out);

 private:
  struct LoadedRows {
    const double* J = nullptr;  // of the rows with curvature, padded as the group's
    int count = 0;
  };
  void place_islands(const PackedProgram& program);
  void start_sparse(const PackedProgram& program, int island);
  void add_energy(const PackedProgram& program);
  LoadedRows weigh_rows(const PackedProgram& program, const RowGroup& group,
                        const std::vector<BlockCurvature>& curvature);
  void add_rows(const PackedProgram& program, const std::vector<BlockCurvature>& curvature);
  void add_bounds(const PackedProgram& program, const std::vector<BlockCurvature>& curvature);
  int factor_islands(const PackedProgram& program);
  linear::TileCholesky* sparse(int island) {
    return sparse_of_island_[island] < 0 ? nullptr : &sparse_[sparse_of_island_[island]];
  }

  std::vector<int> sparse_of_island_;     // index into sparse_, −1: dense
  std::vector<std::size_t> first_value_;  // into H_, of dense islands
  std::vector<linear::TileCholesky> sparse_;
  std::vector<int> tile_sizes_, tile_of_column_, range_;
  std::vector<std::pair<int, int>> tile_pairs_;
  std::vector<double> H_, floor_, J_scratch_, T_scratch_, local_;
};

/// out = Q v + b; `out` has size nv already.
void energy_gradient(const PackedProgram& program, const std::vector<double>& v, std::vector<double>& out);

/// Slacks without the terms of g and R: E z of one block, z [rows], out [slacks].
inline void slacks_of_rows(const PackedProgram& program, const PackedBlock& block, const double* z, double* out) {
  if (block.law != Law::kRays || block.rows == 1) {
    for (int k = 0; k < block.rows; ++k) out[k] = z[k];
  } else if (block.rows == 2) {
    out[0] = z[0] + block.mu * z[1];
    out[1] = z[0] - block.mu * z[1];
  } else {
    for (int k = 0; k < block.slacks; ++k)
      out[k] = z[0] + block.mu * (program.ray_cos[k] * z[1] + program.ray_sin[k] * z[2]);
  }
}

/// Row forces Eᵀλ of one block, λ [slacks], out [rows].
inline void rows_of_slacks(const PackedProgram& program, const PackedBlock& block, const double* lambda, double* out) {
  if (block.law != Law::kRays || block.rows == 1) {
    for (int k = 0; k < block.rows; ++k) out[k] = lambda[k];
  } else if (block.rows == 2) {
    out[0] = lambda[0] + lambda[1];
    out[1] = block.mu * (lambda[0] - lambda[1]);
  } else {
    double n = 0, t = 0, o = 0;
    for (int k = 0; k < block.slacks; ++k)
      n += lambda[k], t += program.ray_cos[k] * lambda[k], o += program.ray_sin[k] * lambda[k];
    out[0] = n, out[1] = block.mu * t, out[2] = block.mu * o;
  }
}

/// C = Eᵀ diag(D) E of a polyhedral block, D [slacks].
void curvature_of_rays(const PackedProgram& program, const PackedBlock& block, const double* D, BlockCurvature& out);

}  // namespace deft::solvers::contact
