#pragma once
// From inputs to feasible trajectories: the system is simulated with given inputs, the modes that occur are fixed, and
// the convex program that they leave is solved; pairs at the corner of both modes then change sides while that pays.
// Internal to solvers.

#include <limits>
#include <optional>

#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "deft/solvers/lcs/relaxation.hpp"

namespace deft::solvers::lcs {

/// A feasible trajectory that passed the certificate.
struct LcsCandidate {
  LcsTrajectory trajectory;    // with γ = 0 where the mode says so
  LcsCertificate certificate;  // residuals below 1e-8 of 1 + the largest entry
};

/// Makes trajectories of inputs and modes. One object per thread; it owns a relaxation of its own, so that the one of
/// the node at hand stays as it is.
class LcsRounding {
 public:
  /// @param program, stages, layout  must outlive this object.
  LcsRounding(const LcsMpcProgram& program, const LcsStages& stages, const LcsPropagation& layout);

  /// The modes that occur under `u` (nu × N). @returns nothing where a step has no solution.
  std::optional<std::vector<PairMode>> simulate(const Eigen::MatrixXd& u);
  /// The best trajectory with these modes, all fixed, and with those that changing sides at corners leads to.
  /// @param working  a working set to start from, or none.
  /// @returns nothing where it would not cost less than `cutoff`, or none passes the certificate.
  std::optional<LcsCandidate> improve(std::vector<PairMode> modes, std::span<const LcsMultiplier> working,
                                      double cutoff);
  /// The inputs of a point of the relaxation: nu × N.
  Eigen::MatrixXd inputs(const LcsStagePoint& point) const;
  /// Changes of active sets so far.
  long iterations() const { return relaxation_.iterations(); }

 private:
  LcsCandidate read(const LcsStagePoint& point, const std::vector<PairMode>& modes) const;
  int change_sides(std::vector<PairMode>& modes) const;

  const LcsMpcProgram* program_;
  const LcsStages* stages_;
  LcsRelaxation relaxation_;
  LcsIntervals intervals_;
  Eigen::MatrixXd M_;
};

}  // namespace deft::solvers::lcs
