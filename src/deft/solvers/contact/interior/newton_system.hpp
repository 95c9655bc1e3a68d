#pragma once
// H = Q + JᵀCJ over the islands of a packed program, its factor, and products with J. Private to src/deft/solvers.

#include <vector>

#include "deft/solvers/contact/interior/packed_program.hpp"
#include "deft/solvers/linear/spectral_cone_operator.hpp"
#include "deft/solvers/linear/tile_cholesky.hpp"

namespace deft::solvers::contact {

/// The block operator C of one block, row-major rows × rows in row space; `zero` blocks are skipped.
struct BlockCurvature {
  bool zero = true;
  double C[linear::kMaxConeRows * linear::kMaxConeRows] = {};
};

/// Newton matrix and factor with their scratch: dense for small islands, in sparse tiles for large ones; one per
/// thread.
class NewtonSystem {
 public:
  /// H ← Q + JᵀCJ and its factor. @returns the number of directions without curvature, which the solve leaves alone.
  int factor(const PackedProgram& program, const std::vector<BlockCurvature>& curvature);
  /// x ← H⁻¹x, packed order.
  void solve(const PackedProgram& program, std::vector<double>& x);

  /// z = J v.
  void multiply(const PackedProgram& program, const std::vector<double>& v, std::vector<double>& z);
  /// out += Jᵀ y.
  void add_transposed(const PackedProgram& program, const std::vector<double>& y, std::vector<double>& out);

 private:
  void place_islands(const PackedProgram& program);
  void start_sparse(const PackedProgram& program, int island);
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

/// out = Q v + b.
void energy_gradient(const PackedProgram& program, const std::vector<double>& v, std::vector<double>& out);
/// Slacks without the g and R terms: E z of one block.
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

/// Row forces Eᵀ λ of one block.
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

/// C = Eᵀ diag(D) E of a polyhedral block.
void curvature_of_rays(const PackedProgram& program, const PackedBlock& block, const double* D, BlockCurvature& out);

}  // namespace deft::solvers::contact
