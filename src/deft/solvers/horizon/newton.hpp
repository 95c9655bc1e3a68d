#pragma once
// Newton's method on the active rows (a primal–dual active set), for horizon programs.
// Source: M. Hintermüller, K. Ito, K. Kunisch, SIAM J. Optim. 13 (2003), with the method of multipliers in place of
// equalities.

#include <vector>

#include "deft/solvers/horizon/iterate.hpp"

namespace deft::solvers::horizon {

/// Every row is inactive (λ = 0), active (G z = d) or, if soft, relaxed (λ = ρ). Each step minimises
///   cost + Σ_active [λ_i (g_i z − d_i) + ½ w_i (g_i z − d_i)²] + Σ_relaxed ρ_i g_i z
/// along the dynamics, with a w so stiff that λ ← λ + w(G z − d) is the multiplier after one step, and then moves every
/// row in the wrong state by one state at once. Where it converges it is exact. It may cycle: it ends without success
/// when the rows that move do not become fewer.
class HorizonNewton {
 public:
  /// From the multipliers `at.l`; rows with 0 < λ < ρ begin as active, those with λ = ρ as relaxed. `at` holds the last
  /// point and its multipliers afterwards. At most `limit` factorisations.
  /// @returns whether all rows were in the right state in the end and the active ones hold to a tenth of `tolerance`,
  /// relative to their terms. No allocation when sizes repeat.
  bool run(HorizonIterate& at, double tolerance, int limit);

 private:
  enum class Row : char { kInactive, kActive, kRelaxed };
  void begin(HorizonIterate& at);
  void factor(HorizonIterate& at);
  /// The first step, from z = 0 along the dynamics x⁺ = A x + B u + c.
  void first_step(HorizonIterate& at);
  /// λ ← λ + w(G z − d) on active rows, then moves rows in the wrong state. @returns the number of those that moved;
  /// sets worst_.
  int update_active_set(HorizonIterate& at);
  void step(HorizonIterate& at);

  std::vector<Row> row_;
  std::vector<double> w_, weight_, form_weight_, estimate_, Gz_, g_, dz_;
  double worst_ = 0;  // |G z − d| of rows that stay active, relative
};

}  // namespace deft::solvers::horizon
