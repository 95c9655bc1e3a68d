#pragma once
// Intervals of everything in an LcsMpcProgram, tightened along the horizon until nothing changes: what the program and
// the modes of some pairs imply for states, multipliers, slacks, and the modes of other pairs. Internal to solvers.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "deft/solvers/lcs/force_bound.hpp"
#include "deft/solvers/lcs/mpc_settings.hpp"

namespace deft::solvers::lcs {

/// What the rows of a stage have not seen yet.
struct LcsPending {
  std::uint64_t moved = ~std::uint64_t{0};  // entries, the i-th of the stage as bit i mod 64
  bool new_modes = true;                    // whether a γ was fixed to zero since the vertices were used; at first, yes
};

/// Lower and upper ends, stage after stage: x_k, u_k, γ_{k+1}, s_{k+1}, and x_N at the end.
struct LcsIntervals {
  std::vector<double> lo, hi;       // lower and upper ends, places as LcsPropagation::x, u, gamma, slack
  std::vector<LcsPending> pending;  // of each stage
};

/// The rules, made once per program (README.md): interval arithmetic on the dynamics, on the slacks, on the slacks with
/// the dynamics put in, and on the combinations of the dynamics without γ; complementarity; and bounds of
/// multipliers that no row bounds. Ends are rounded outwards by 1e-9 of themselves and 1e-12 of the terms they come
/// from. Safe to use from many threads, each with its own scratch.
class LcsPropagation {
 public:
  /// Scratch of one thread.
  using Scratch = LcsForceBound::Scratch;

  /// @param program  must outlive this object.  @param without_loss  use bounds that hold for one set of multipliers at
  /// least of each x, u and modes that are possible, not for all.
  explicit LcsPropagation(const LcsMpcProgram& program, bool without_loss = true);

  int x(int k, int i) const { return k * stride_ + i; }                        // place of (x_k)_i, 0 ≤ k ≤ N
  int u(int k, int j) const { return k * stride_ + nx_ + j; }                  // of (u_k)_j, k < N
  int gamma(int k, int i) const { return k * stride_ + nx_ + nu_ + i; }        // of (γ_{k+1})_i
  int slack(int k, int i) const { return k * stride_ + nx_ + nu_ + ng_ + i; }  // of (s_{k+1})_i

  /// Whether γ_i may be lowered without loss.
  bool is_idle(int i) const { return is_idle_[i]; }

  /// The bounds of the program itself: x0, and its bounds of x, u and γ; s ≥ 0. States with soft bounds are free.
  LcsIntervals start() const;
  /// Tightens, passing forwards and backwards over the stages that are pending and those whose modes are new, until
  /// nothing moves by 1e-3 of its interval or `rounds` passes are done; fixes the modes of open pairs that have one
  /// possible side left. @returns false where some interval is empty: no trajectory has these modes.
  bool run(LcsIntervals& intervals, std::vector<PairMode>& modes, int rounds, Scratch& scratch) const;
  /// Runs, and once more with the bounds of multipliers that what was found allows: for a root.
  bool run_twice(LcsIntervals& intervals, std::vector<PairMode>& modes, int rounds, Scratch& scratch) const;
  /// Narrows the entry at `place` to [lower, upper] (infinite ends: none), rounded outwards by `error`, the error with
  /// which they were computed. @returns false where it becomes empty.
  bool narrow(LcsIntervals& intervals, int place, double lower, double upper, double error) const;

 private:
  struct Term {
    int offset;  // from the first entry of the stage
    double a;
  };
  /// Σ a·v = rhs at every stage. Rows of a slack s_i start with it, a = 1.
  struct Row {
    std::vector<Term> terms;
    double rhs = 0;
    int own = -1;            // the term of γ_i in a row of s_i
    std::uint64_t mask = 0;  // its entries, as LcsPending
  };
  /// γ_i that may be lowered until some s_j = rest + E_ji γ_i is zero.
  struct Idle {
    int offset;
    std::vector<std::pair<int, double>> slacks;  // j, E_ji
    std::uint64_t mask = 0;                      // of the entries of their rows
  };
  /// Of a row: the largest and least Σ a·v, in finite parts and numbers of others.
  struct Range {
    double least = 0, most = 0;
    int least_open = 0, most_open = 0;
  };
  /// One stage at work.
  struct Stage {
    double *lo, *hi;
    std::uint64_t moved = 0;  // entries of this stage, of the one before, of the one after
    std::uint64_t before = 0, after = 0;
    bool new_modes = false, empty = false;
  };

  void append(Row& row, int offset, const Eigen::Ref<const Eigen::RowVectorXd>& factors) const;
  void add_rows(const LinearComplementaritySystem& s);
  void add_substituted_slacks(const LinearComplementaritySystem& s);
  void add_rows_without_forces(const LinearComplementaritySystem& s);
  void find_idle(const LinearComplementaritySystem& s);

  bool is_pair(int offset) const { return offset >= nx_ + nu_ && offset < stride_; }
  static std::uint64_t bit(int offset) { return std::uint64_t{1} << (offset % 64); }
  void note(Stage& stage, int offset) const;
  void pass_on(LcsIntervals& intervals, int k, const Stage& stage) const;
  void raise_lower(Stage& stage, int offset, double bound) const;
  void reduce_upper(Stage& stage, int offset, double bound) const;
  Range range(const Stage& stage, const Row& row, int without, int and_without) const;
  double error(const Stage& stage, const Row& row) const;
  void propagate(Stage& stage, const Row& row) const;
  void propagate_own(Stage& stage, const Row& row) const;
  void lower_idle(Stage& stage, std::uint64_t moved) const;
  std::pair<double, double> rest(const Stage& stage, const Row& row, const Scratch& scratch) const;
  void bound_by_energy(Stage& stage, Scratch& scratch) const;
  void bound_by_vertices(Stage& stage, bool all, Scratch& scratch) const;
  void settle_modes(Stage& stage, PairMode* modes) const;
  bool crossed(const LcsIntervals& intervals, int k) const;

  int nx_, nu_, ng_, N_, stride_;
  bool without_loss_;
  const LcsMpcProgram* program_;
  std::vector<Row> rows_;         // dynamics, slacks, then what follows from them
  std::vector<int> substituted_;  // of each slack: its row with the dynamics put in, or −1
  std::vector<Idle> idle_;
  std::vector<bool> is_idle_, capped_;  // of each pair: lowered; γ_max is finite
  LcsForceBound forces_;
};

}  // namespace deft::solvers::lcs
