#pragma once
// Newton's method on the rows that bind (a primal–dual active set), for horizon programs.

#include <vector>

#include "deft/solvers/horizon/iterate.hpp"

namespace deft::solvers::horizon {

/// Every row is off (λ = 0), held (G z = d) or, if soft, given up (λ = ρ). Each step minimises
///   cost + Σ_held [λ_i (g_i z − d_i) + ½ w_i (g_i z − d_i)²] + Σ_given up ρ_i g_i z
/// along the dynamics, with a w so stiff that λ ← λ + w(G z − d) is the multiplier after one step, and then moves every
/// row that is wrong by one state at once. Where it ends it is exact; it may cycle, and then gives up.
class HorizonNewton {
 public:
  /// From the multipliers `at.l`; rows with 0 < λ < ρ begin as held. At most `limit` factorisations.
  /// @returns whether all rows were right in the end. No allocation when sizes repeat.
  bool run(HorizonIterate& at, double tolerance, int limit);

 private:
  enum class Row : char { kOff, kHeld, kGivenUp };
  void begin(HorizonIterate& at);
  void factor(HorizonIterate& at);
  /// Moves rows to other states. @returns the number of those that moved; sets worst_.
  int judge(HorizonIterate& at);
  void step(HorizonIterate& at);

  std::vector<Row> row_;
  std::vector<double> w_, weight_, form_weight_, pull_, Gz_, g_, dz_;
  double worst_ = 0;  // |G z − d| of held rows, relative
};

}  // namespace deft::solvers::horizon
