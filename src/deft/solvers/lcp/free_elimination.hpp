#pragma once
// A mixed problem made pure: free variables are eliminated with free rows, the remaining ones are split. Internal to
// solvers.

#include <vector>

#include "deft/solvers/lcp/lemke.hpp"
#include "deft/solvers/lcp/scaled_complementarity.hpp"
#include "deft/solvers/linear/pivot_table.hpp"

namespace deft::solvers::lcp {

/// With the free rows solved for free variables, as many as the free block has independent ones (the largest pivot
/// first), the problem of the others is that of the Schur complement. Where free rows remain with a zero block, F(z) =
/// 0, their variables become z = z⁺ − z⁻ with 0 ≤ z⁺ ⟂ F ≥ 0 and 0 ≤ z⁻ ⟂ −F ≥ 0. Problems without free variables pass
/// as they are.
class FreeElimination {
 public:
  /// Allocates when sizes grow.
  void assign(const ScaledComplementarity& problem);
  /// The pure problem; valid as long as this and the scaled problem.
  LemkeProblem problem() const { return pure_; }
  /// How many free variables were split.
  int num_split() const { return num_split_; }
  /// A choice of basic variables of the pure problem as one of the mixed problem, n entries; 1 at a free variable means
  /// that it may differ from zero.
  void mark_basic(const std::vector<char>& pure, std::vector<char>& mixed) const;
  /// The reverse. @param z  of the mixed problem, scaled: its signs decide which half of a split variable is basic.
  void mark_pure(const std::vector<char>& mixed, const std::vector<double>& z, std::vector<char>& pure) const;
  /// The point of the mixed problem that belongs to one of the pure problem, scaled.
  void lift(const std::vector<double>& pure, std::vector<double>& mixed) const;

 private:
  void eliminate(const ScaledComplementarity& problem);

  LemkeProblem pure_;
  bool passes_ = true;
  int num_pairs_ = 0, num_split_ = 0;
  linear::PivotTable table_;
  std::vector<char> free_;
  std::vector<int> pairs_;  // pairs of the pure problem before the split ones, as indices of the mixed one
  std::vector<int> split_rows_, split_cols_;  // indices of the mixed problem
  std::vector<double> M_, q_;
};

}  // namespace deft::solvers::lcp
