#pragma once
// H = Q + JᵀCJ over the islands of a packed program, its factor, and products with J. Private to src/deft/solvers.

#include <vector>

#include "deft/solvers/arrow.hpp"
#include "deft/solvers/packed_program.hpp"

namespace deft::solvers {

/// The block operator C of one block, row-major rows × rows in row space; `zero` blocks are skipped.
struct BlockCurvature {
  bool zero = true;
  double C[kMaxConeRows * kMaxConeRows] = {};
};

class NewtonSystem {
 public:
  /// H ← Q + JᵀCJ and its factor. @returns the number of directions without curvature, which the solve leaves alone.
  int factor(const PackedProgram& program, const std::vector<BlockCurvature>& curvature);
  /// x ← H⁻¹x, packed order.
  void solve(const PackedProgram& program, std::vector<double>& x) const;

  /// z = J v.
  void multiply(const PackedProgram& program, const std::vector<double>& v, std::vector<double>& z);
  /// out += Jᵀ y.
  void add_transposed(const PackedProgram& program, const std::vector<double>& y, std::vector<double>& out);

 private:
  std::vector<double> H_, floor_, J_scratch_, T_scratch_, local_;
};

/// out = Q v + b.
void energy_gradient(const PackedProgram& program, const std::vector<double>& v, std::vector<double>& out);
/// Slacks without the g and R terms: E z of one block.
void slacks_of_rows(const PackedProgram& program, const PackedBlock& block, const double* z, double* out);
/// Row forces Eᵀ λ of one block.
void rows_of_slacks(const PackedProgram& program, const PackedBlock& block, const double* lambda, double* out);
/// C = Eᵀ diag(D) E of a polyhedral block.
void curvature_of_rays(const PackedProgram& program, const PackedBlock& block, const double* D, BlockCurvature& out);

}  // namespace deft::solvers
