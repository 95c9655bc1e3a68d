#pragma once
// Intervals of everything in an LcsMpcProgram, tightened along the horizon until nothing changes: what the modes of some pairs imply
// for states, multipliers, slacks, and the modes of other pairs. Internal to solvers.

#include <vector>

#include "deft/solvers/branch_and_bound.hpp"

namespace deft::solvers {

/// Lower and upper ends, stage after stage: x_k, u_k, γ_{k+1}, s_{k+1}, and x_N at the end.
struct LcsIntervals {
  std::vector<double> lo, hi;
};

/// The rules, made once per program: interval arithmetic on each row of the dynamics and of the slacks, and on the rows of the dynamics
/// from which a combination of two eliminates γ; complementarity; and a bound without loss of multipliers that do not enter the dynamics
/// (README.md). Every end is widened by 1e-9 of its size, so that rounding cannot cut anything off.
class LcsPropagation {
 public:
  explicit LcsPropagation(const LcsMpcProgram& program);

  int x(int k, int i) const { return k * stride_ + i; }
  int u(int k, int j) const { return k * stride_ + nx_ + j; }
  int gamma(int k, int i) const { return k * stride_ + nx_ + nu_ + i; }
  int slack(int k, int i) const { return k * stride_ + nx_ + nu_ + ng_ + i; }

  /// What the program itself says. States with soft bounds are free.
  LcsIntervals start() const;
  /// Tightens; fixes the modes of open pairs that have one possible side left. @returns false where some interval is empty: no
  /// trajectory has these modes.
  bool run(LcsIntervals& intervals, std::vector<PairMode>& modes, int rounds) const;

 private:
  struct Term {
    int offset;
    double a;
  };
  struct Row {
    std::vector<Term> terms;  // Σ a·v = rhs
    double rhs;
  };
  /// γ_i ≤ max over rows of −(rest of s_j)/E_ji.
  struct Free {
    int offset;
    std::vector<std::pair<Row, double>> slacks;  // s_j without γ_i and its constant, E_ji
  };

  void add_row(std::vector<Term> terms, double rhs);
  void find_free(const LinearComplementaritySystem& system);
  bool settle_modes(int k, LcsIntervals& intervals, std::vector<PairMode>& modes, bool& changed) const;

  const LcsMpcProgram* program_;
  int nx_, nu_, ng_, N_, stride_;
  std::vector<Row> rows_;
  std::vector<Free> free_;
};

}  // namespace deft::solvers
