#pragma once
// The search tree over the modes of complementarity pairs. Internal to solvers; branch_and_bound.hpp is the public
// door.

#include <memory>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/lcs/rounding.hpp"

namespace deft::solvers::lcs {

/// Searches one program. Nodes are explored in rounds of short dives from the nodes of least bound; a dive sees the
/// incumbent of the start of its round only, so that the tree does not depend on the number of threads.
class LcsSearch {
 public:
  /// @param any_weight  search even if the proximal term is heavy.
  LcsSearch(const LcsMpcProgram& program, const LcsStages& stages, const BranchAndBoundSettings& settings,
            bool any_weight);
  ~LcsSearch();

  /// @param suggestions  inputs to round first.
  /// @returns false, with nothing found, where the proximal term of `stages` is no small part of the root's value.
  bool run(const std::vector<Eigen::MatrixXd>& suggestions, LcsMpcResult& result);

 private:
  struct Node {
    std::vector<int> path;  // decisions: 2·pair, plus one for s = 0
    std::vector<LcsMultiplier> working;
    double bound = 0;
    std::int64_t number = 0;
  };
  struct Dive;
  class Worker;

  void begin(const std::vector<Eigen::MatrixXd>& suggestions, LcsMpcResult& result);
  void take(std::optional<LcsCandidate>& candidate, LcsMpcResult& result);
  void merge(Dive& dive, LcsMpcResult& result);
  void push(Node node);
  Node pop();
  double find_ceiling() const;
  double cutoff(double cost) const;
  void find_bound(LcsMpcResult& result) const;
  bool report(LcsMpcResult& result) const;
  void finish(LcsMpcResult& result) const;

  const LcsMpcProgram* program_;
  const LcsStages* stages_;
  BranchAndBoundSettings settings_;
  LcsPropagation propagation_;
  LcsPropagation::Scratch scratch_;
  LcsIntervals root_intervals_;
  std::vector<PairMode> root_modes_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Node> open_;  // a heap, least bound first
  std::int64_t numbers_ = 0;
  bool any_weight_;
  bool heavy_ = false;     // the proximal term
  bool unproven_ = false;  // a node without open pairs could not be solved
  double unproven_bound_ = 0;
  double least_cost_ = 0;
  double ceiling_ = std::numeric_limits<double>::infinity();
  Stopwatch clock_;
};

}  // namespace deft::solvers::lcs
