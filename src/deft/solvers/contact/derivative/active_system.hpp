#pragma once
// The dense linear system of one island behind a derivative. Private to src/deft/solvers.

#include <vector>

#include "deft/core/index.hpp"

namespace deft::solvers::contact {

/// H ⪰ 0 (n × n) with held rows G (m × n), of any rank:
///
///   [H −Gᵀ; −G 0] [x; y] = [p; r]:   H x − Gᵀy = p,  −G x = r.
///
/// With H = UᵀU and the unit columns of U⁻ᵀGᵀ = Q T Z (Q, Z of orthonormal columns and rows, T lower triangular) rows
/// may depend on each other: then y is the shortest in units of |G_k|_{H⁻¹}, and r is met as nearly as possible.
///
/// A row that gives way, −G_k x − y_k = r_k, is a held one with a variable of its own in H and G. As a stiffness in H
/// it would drown what it does not resist in its rounding; such rows never depend on others.
/// Keeps its memory; one object per thread.
class ActiveSystem {
 public:
  /// Starts again with zeros. Of the n variables the last `yielding` belong to rows that give way.
  void reset(int n, int m, int yielding = 0);
  int size() const { return n_; }
  /// Held row k gives way by the next of the variables for that.
  void yield(int k);
  int num_active() const { return m_; }
  /// Row i of H (symmetric, all entries are to be filled) and row k of G.
  double* H(int i) { return H_.data() + to_size(i) * n_; }
  double* G(int k) { return G_.data() + to_size(k) * n_; }

  /// U of H. @returns whether H is definite; only then the rest may be called.
  bool factor();
  /// Adds G_kᵀG_k/|G_k|² in the metric 1/`metric` to H for all held rows: the answer stays, what they hold is definite.
  void add_penalties(const double* metric);
  /// Q, T, Z of the held rows.
  void eliminate();

  /// Solves for k right-hand sides, row-major with rows of `ld` = padded(k) finite doubles:  x (n rows) in place of p,
  /// y (m rows) in place of r. @returns whether rows that depend on each other agree about r.
  bool solve(int k, int ld, double* p, double* r);
  /// How much of held row k's multiplier others may take over: 0 where the system fixes it, up to 1.
  double free_multiplier(int k) const;
  /// Share of `row` (size n) that the held rows do not span, in the metric 1/`metric`.
  double free_share(const double* row, const double* metric);

 private:
  void orthogonalise();
  void triangularise();
  /// The part of `solve` in ξ = U D⁻¹ x.
  bool hold(int k, int ld, double* xi, double* r);

  int n_ = 0, m_ = 0, ld_ = 0, rank_ = 0;
  int next_yielding_ = 0;
  std::vector<char> yields_;  // per held row
  std::vector<double> H_, G_;
  std::vector<double> U_, floor_, scale_;    // U of D H D, D = scale
  std::vector<double> penalty_, row_scale_;  // per held row
  std::vector<double> N_;                    // m × n: rows (U⁻ᵀ D G_k)/|·|, later what the others leave of them
  std::vector<double> Q_, R_, T_, Z_;        // rank × n, rank × m, rank × rank, rank × m
  std::vector<int> pivots_;
  std::vector<char> is_pivot_;
  std::vector<double> a_, b_, work_;
};

}  // namespace deft::solvers::contact
