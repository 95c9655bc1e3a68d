#pragma once
// Depth-first search over the modes of a complementarity problem (z_i = 0 or w_i = 0 for each pair). Internal to
// solvers.

#include <deque>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/lcp/mode_table.hpp"

namespace deft::solvers::lcp {

/// Each node is a linear program (ModeTable): the modes that its fixings leave, relaxed. An infeasible one is refuted
/// by multipliers, which mostly need few of the fixings; where they do not need the last one its other side is refuted
/// too (backjumping). The leaves together prove that there is no solution.
class ModeSearch {
 public:
  /// When to stop.
  struct Limits {
    int nodes = 100000;                                     // of the tree, the trials at the root included
    double work = std::numeric_limits<double>::infinity();  // multiplications
    const Stopwatch* clock = nullptr;                       // no time limit without one
    double time_s = 0;                                      // seconds on it
  };
  /// Whether the point of a table, complementary up to rounding, is what is looked for.
  using Accept = std::function<bool(const ModeTable&)>;

  /// Looks for any solution. @returns whether one was accepted. @pre the problem outlives the call of `proof`.
  /// Allocates.
  bool find_any(const ScaledComplementarity& problem, const Accept& accept, const Limits& limits);
  /// The known solution, and by how much another motion differs from its motion.
  struct Known {
    std::span<const double> z;            // the known solution, n, scaled
    std::span<const double> motion;       // coefficients of one combination of the motions, n
    double value = 0, apart = 0;          // motionᵀz of the known one; what differs from it by more is another motion
    const EnergyBound* energy = nullptr;  // if the problem has one
  };
  /// Looks for a solution with |motionᵀz − value| > apart: nodes whose largest and smallest motion stay within are
  /// closed. Pairs of which only one choice is possible at all are decided first; tangents of the energy bound are
  /// added where a node's extremes violate it. @returns whether one was accepted. Allocates.
  bool find_other(const ScaledComplementarity& problem, const Known& known, const Accept& accept, const Limits& limits);

  /// After a search that accepted nothing: whether all modes were closed, so that there is no such solution.
  bool complete() const { return complete_; }
  int nodes() const { return nodes_; }  // of the last run
  /// Multiplications of the last run, in round numbers.
  double work() const { return work_; }
  /// After find_any that was complete: the leaves, in the program's own units.
  std::vector<RefutedModes> proof() const;

 private:
  /// Of a node and all below it: a point was accepted, there is none, a limit was met.
  enum class Outcome { kFound, kClosed, kStopped };
  using Fixings = std::vector<char>;  // per pair: 0, kZ or kW
  struct Leaf {
    Fixings fixed;
    std::vector<double> y;
  };

  void start(const ScaledComplementarity& problem, const Accept& accept, const Limits& limits);
  bool exhausted() const;
  ModeTable::End restore(ModeTable& table);
  ModeTable::Top climb(ModeTable& table, double sign);
  bool decide_pairs();
  bool decide(int pair, bool& any);
  bool cut_off(const ModeTable& table);
  Outcome explore(std::size_t depth, Fixings& used);
  Outcome branch(std::size_t depth, int pair, bool z_first, Fixings& used);
  void add_leaf(const ModeTable& table, Fixings& used);
  bool choose_pair(const ModeTable& table, double least, int& pair, bool& z_first) const;
  Outcome settle(const ModeTable& table, int& pair, bool& z_first);
  Outcome bound_motion(std::size_t depth, int& pair, bool& z_first, Fixings& used);

  const ScaledComplementarity* problem_ = nullptr;
  const Accept* accept_ = nullptr;
  Limits limits_;
  std::vector<double> motion_;
  Known known_;
  std::deque<Cut> cuts_;
  std::deque<ModeTable> tables_;  // along the path
  ModeTable scratch_;
  std::vector<double> point_, border_;
  Fixings path_;
  std::vector<Leaf> leaves_;
  bool complete_ = false;
  int nodes_ = 0;
  double work_ = 0;
};

}  // namespace deft::solvers::lcp
