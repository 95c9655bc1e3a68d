#pragma once
// Branch and bound over the modes of complementarity pairs. Internal to solvers; LcsMpcSolver is the public interface.

#include <memory>
#include <optional>
#include <vector>

#include "deft/solvers/lcs/dive.hpp"

namespace deft::solvers::lcs {

/// Searches one program. Nodes are explored in rounds of short dives from the nodes of least bound; a dive sees the
/// incumbent of the start of its round only, so that the tree does not depend on the number of threads.
class LcsSearch {
 public:
  /// @param program, stages  must outlive this object; stages.fits(program).
  /// @param any_weight  search even if the proximal term is heavy.
  LcsSearch(const LcsMpcProgram& program, const LcsStages& stages, const BranchAndBoundSettings& settings,
            bool any_weight);
  LcsSearch(const LcsSearch&) = delete;  // its divers point to its task
  LcsSearch& operator=(const LcsSearch&) = delete;

  /// Searches until all leaves are closed or a limit of the settings ends it; may be called once.
  /// @param suggestions  inputs [nu × N] to round first.
  /// @param result  a new one, but for counts of earlier searches.
  /// @returns false, with nothing found, where the proximal term of `stages` is no small part of the root's value.
  bool run(const std::vector<Eigen::MatrixXd>& suggestions, LcsMpcResult& result);

 private:
  void open_root(const std::vector<Eigen::MatrixXd>& suggestions, LcsMpcResult& result);
  std::optional<Status> limit_passed(const LcsMpcResult& result) const;
  void choose_dives(const LcsMpcResult& result, std::vector<LcsDive>& dives);
  void merge(LcsDive& dive, LcsMpcResult& result);
  void take(std::optional<LcsCandidate>& candidate, LcsMpcResult& result);
  void push(LcsNode node);
  LcsNode pop();
  double find_least_cost() const;
  double find_ceiling() const;
  double largest_deviation(int place, double from) const;
  double largest_payment(int k, int i) const;
  void find_bound(LcsMpcResult& result) const;
  bool report(LcsMpcResult& result) const;
  void finish(LcsMpcResult& result) const;

  LcsSearchTask task_;
  std::vector<std::unique_ptr<LcsDiver>> divers_;  // one per thread
  std::vector<LcsNode> open_;                      // a heap, least bound first
  std::int64_t nodes_numbered_ = 0, dives_started_ = 0;
  bool heavy_ = false;     // the proximal term
  bool unproven_ = false;  // a node without open pairs could not be solved
  double unproven_bound_ = kInfinity;
};

}  // namespace deft::solvers::lcs
