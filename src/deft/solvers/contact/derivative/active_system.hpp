#pragma once
// The dense linear system of one island behind a derivative. Private to src/deft/solvers.

#include <vector>

#include "deft/core/index.hpp"

namespace deft::solvers::contact {

/// H ⪰ 0 [n × n] with active rows G [m × n] of any rank:
///
///   [H −Gᵀ; −G 0] [x; y] = [p; r]:   H x − Gᵀy = p,  −G x = r.
///
/// With H = UᵀU and the unit columns of U⁻ᵀGᵀ = Q T Z (Q, Z of orthonormal columns and rows, T lower triangular) rows
/// may depend on each other: then y is the shortest in units of |G_k|_{H⁻¹}, and r is met in the least squares. A row
/// of zeros has no multiplier.
///
/// A compliant row, −G_k x − y_k = r_k, is an active one with a variable of its own in H and G. As a stiffness in H its
/// rounding would exceed the stiffness of directions that it does not resist. Compliant rows never depend on others.
/// Keeps its memory; one object per thread.
class ActiveSystem {
 public:
  /// Sets all entries to zero: n variables, m active rows. The last `num_compliant` variables belong to compliant rows.
  void reset(int n, int m, int num_compliant = 0);
  /// n, compliant rows' variables included.
  int size() const { return n_; }
  /// Makes active row k compliant: takes the next one of the variables kept for that. @pre fewer than `num_compliant`
  /// rows are.
  void make_compliant(int k);
  /// m.
  int num_active() const { return m_; }
  /// Row i of H (n entries; symmetric, all are to be filled).
  double* H(int i) { return H_.data() + to_size(i) * n_; }
  /// Row k of G (n entries).
  double* G(int k) { return G_.data() + to_size(k) * n_; }

  /// Factors H = UᵀU. @returns whether H is definite, up to relative pivots of 1e-12; only then `eliminate` may be
  /// called, and after it the functions that follow.
  bool factor();
  /// H += Σ G_kᵀG_k/|G_k|² over the active rows, |·| in the metric diag(metric)⁻¹ [n]: makes H definite where the
  /// active rows act and leaves the solution as it is.
  void add_penalties(const double* metric);
  /// Computes Q, T and Z of the active rows.
  void eliminate();

  /// Solves for k right-hand sides, row-major with rows of `ld` = padded(k) finite doubles: x [n × ld] in place of p, y
  /// [m × ld] in place of r. @returns whether rows that depend on each other agree about r, to 1e-7 of its size.
  bool solve(int k, int ld, double* p, double* r);
  /// How much of the multiplier of active row k other rows may take over: 0 where the system determines it, up to 1.
  double free_multiplier(int k) const;
  /// Part of `row` [n] outside the span of the active rows, relative to its length, in the metric diag(metric)⁻¹ [n].
  double free_share(const double* row, const double* metric);

 private:
  void orthogonalise();
  void triangularise();
  /// The part of `solve` in ξ = U D⁻¹ x.
  bool satisfy_active_rows(int k, int ld, double* xi, double* r);

  int n_ = 0, m_ = 0, ld_ = 0, rank_ = 0;
  int next_compliant_ = 0;          // the next variable for a compliant row
  std::vector<char> is_compliant_;  // per active row
  std::vector<double> H_, G_;
  std::vector<double> U_, floor_, scale_;    // U of D H D, D = scale
  std::vector<double> penalty_, row_scale_;  // per active row
  std::vector<double> N_;                    // m × n: rows (U⁻ᵀ D G_k)/|·|, later what the others leave of them
  std::vector<double> Q_, R_, T_, Z_;        // rank × n, rank × m, rank × rank, rank × m
  std::vector<int> pivots_;
  std::vector<char> is_pivot_;
  std::vector<double> a_, b_, work_;
};

}  // namespace deft::solvers::contact
