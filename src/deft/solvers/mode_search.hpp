#pragma once
// Depth-first search over the modes of a complementarity problem (z_i = 0 or w_i = 0 for each pair). Internal to solvers.

#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/mode_table.hpp"

namespace deft::solvers {

/// Each node is a linear program (ModeTable): the modes that its fixings leave, relaxed. An infeasible one is refuted by multipliers, which
/// mostly need few of the fixings; where they do not need the last one its other side is refuted too (backjumping). The leaves
/// together prove that there is no solution.
class ModeSearch {
 public:
  /// When to stop.
  struct Limits {
    int nodes = 100000;
    const Stopwatch* clock = nullptr;
    double time_s = 0;  // counts if there is a clock
  };
  /// Asks whether the point of a table, complementary up to rounding, is what is looked for.
  using Accept = std::function<bool(const ModeTable&)>;

  /// Looks for any solution. @returns whether one was accepted.
  bool find_any(const ScaledComplementarity& problem, const Accept& accept, const Limits& limits);
  /// Looks for a solution with |motionᵀz − value| > apart: nodes whose largest and smallest motion stay within are closed.
  bool find_other(const ScaledComplementarity& problem, std::span<const double> motion, double value, double apart, const Accept& accept,
                  const Limits& limits);

  /// Whether all modes were settled (without the answer yes).
  bool complete() const { return complete_; }
  int nodes() const { return nodes_; }
  /// After find_any that was complete: the leaves, in the program's own units.
  std::vector<RefutedModes> proof() const;

 private:
  enum class Verdict { kFound, kClosed, kStopped };
  using Fixings = std::vector<char>;  // per pair: 0, kZ or kW
  struct Leaf {
    Fixings fixed;
    std::vector<double> y;
  };

  bool run(const ScaledComplementarity& problem, const Accept& accept, const Limits& limits);
  Verdict explore(std::size_t depth, Fixings& used);
  Verdict branch(std::size_t depth, int pair, bool z_first, Fixings& used);
  void add_leaf(const ModeTable& table, Fixings& used);
  bool choose_pair(const ModeTable& table, double least, int& pair, bool& z_first) const;
  Verdict settle(const ModeTable& table, int& pair, bool& z_first);
  Verdict look_both_ways(std::size_t depth, int& pair, bool& z_first);

  const ScaledComplementarity* problem_ = nullptr;
  const Accept* accept_ = nullptr;
  Limits limits_;
  std::vector<double> motion_;
  double value_ = 0, apart_ = 0;
  std::deque<ModeTable> tables_;  // along the path
  ModeTable scratch_;
  Fixings path_;
  std::vector<Leaf> leaves_;
  bool complete_ = false;
  int nodes_ = 0;
};

}  // namespace deft::solvers
