#pragma once
// Nodes of the search tree over the modes of complementarity pairs, and how one is explored: its bound, its rounding
// and its children. Internal to solvers.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "deft/core/infinity.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/solvers/lcs/rounding.hpp"

namespace deft::solvers::lcs {

/// A node: the program with some pairs fixed.
struct LcsNode {
  std::vector<int> path;               // decisions from the root on: 2·pair, plus one for s = 0
  std::vector<LcsMultiplier> working;  // of the parent's relaxation: where this one starts
  double bound = 0;                    // no trajectory of the node costs less
  std::int64_t number = 0;             // by which nodes of equal bound are ordered
};

/// One program as all threads of a search see it; nothing changes while dives run.
struct LcsSearchTask {
  const LcsMpcProgram* program;      // not null
  const LcsStages* stages;           // its regulator, not null
  BranchAndBoundSettings settings;   // limits, gap, whether to keep the proof
  bool any_weight;                   // search even if the proximal term is heavy
  LcsPropagation propagation;        // of `program`
  LcsIntervals root_intervals;       // what propagation finds at the root
  std::vector<PairMode> root_modes;  // likewise
  double least_cost = 0;             // a smaller cost counts as this much in relative gaps
  double ceiling = kInfinity;        // no trajectory costs more
  Stopwatch clock;                   // since the search began

  /// The bound at which a node closes while the best trajectory costs `cost` (infinity: there is none yet).
  double cutoff(double cost) const;
};

/// What one dive is given and what it found.
struct LcsDive {
  LcsNode start;                          // moved into `open` when the dive begins
  double cutoff = kInfinity;              // LcsSearchTask::cutoff of the incumbent
  double incumbent = kInfinity;           // cost of the best trajectory so far
  bool round = false;                     // whether the first node is rounded
  std::vector<LcsNode> open;              // what is left to be explored
  std::vector<LcsLeaf> leaves;            // closed nodes, if the proof is kept
  std::optional<LcsCandidate> candidate;  // the best trajectory that this dive found
  std::int64_t nodes = 0;                 // explored
  bool heavy = false;     // the proximal term is no small part of the root's value: the search must start again with a
                          // lighter one
  bool unproven = false;  // a node without open pairs kept a gap from rounding
  double unproven_bound = kInfinity;  // least bound of such nodes
};

/// One thread's tools: explores from one node downwards, the child with the smaller estimated gain first.
class LcsDiver {
 public:
  /// @param task  must outlive this object.
  explicit LcsDiver(const LcsSearchTask& task);

  /// Explores from dive.start until a few nodes are done, none is left or time is up.
  void run(LcsDive& dive);

  LcsRounding& rounding() { return rounding_; }  // for inputs given from outside
  /// Changes of active sets in all relaxations so far.
  long iterations() const { return relaxation_.iterations() + rounding_.iterations(); }

 private:
  /// A pair to fix both ways, and which of its children comes first.
  struct Branching {
    int pair = -1;  // −1: none
    bool slack_first = false;
  };

  bool explore(LcsNode& node, bool at_hand);
  bool restore(const LcsNode& node);
  LcsRelaxation::End relax(const LcsNode& node);
  bool is_heavy() const;
  void round();
  Branching choose(std::size_t depth);
  void list_violated();
  Branching first_open() const;
  bool branch(const LcsNode& node, Branching branching);
  bool finish_leaf(LcsNode& node);
  void bound_fixed(LcsNode& node);
  void offer(std::optional<LcsCandidate> candidate);
  void close(const LcsNode& node, double bound);

  const LcsSearchTask& task_;
  LcsRelaxation relaxation_;
  LcsRounding rounding_;
  int ng_;
  LcsDive* dive_ = nullptr;
  std::vector<PairMode> modes_;  // of the node at hand
  LcsIntervals intervals_;       // likewise
  LcsPropagation::Scratch scratch_;
  std::vector<std::pair<double, int>> candidates_;  // violated pairs, with their violations
};

}  // namespace deft::solvers::lcs
