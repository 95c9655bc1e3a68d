#pragma once
// The commands of one segment of a plan, improved in several worlds at once:
//
//   min  (‖ē_T‖² + w² mean ‖e_i,T − ē_T‖²)/tol² + r Σ‖u_t − u_{t−1}‖² + p · mean_t Σ [‖f_t‖ − s μ f_n]₊ / f_0
//
// over the knots u_1 … u_T of the commands, e_i the error of world i after the last one and its rest, f the forces of
// fingers; within the limits of joints, springs and normal forces. Each iteration: linearisation of all steps of all
// worlds smoothed at κ_i, a quadratic program within the trust region and the linearised friction cones, and the first
// of some shares of its step that costs less when it is carried out (README.md).

#include <memory>
#include <vector>

#include "deft/planning/trajectory/segment_program.hpp"

namespace deft::planning {

/// An iteration of SegmentOptimizer, in plain numbers.
struct SegmentIteration {
  double cost = 0;      // of the motion that the iteration left
  double distance = 0;  // of it [m]
  double excess = 0;    // of it
  double kappa = 0;     // [1/J], of its linearisation
  double radius = 0;    // [rad, m], of its trust region
  double step = 0;      // share of the program's step that was taken; 0: none was better
};

/// What became of a segment.
struct SegmentResult {
  bool ok = false;                        // the first commands could be carried out
  SegmentMotion best;                     // the motion of least cost
  std::vector<SegmentIteration> history;  // [0]: the first commands
};

/// Optimises segments of one scene; keeps models and scratch. One caller at a time.
class SegmentOptimizer {
 public:
  /// @param goal, hand  of the scene of `steps`. @param steps  whose worlds all commands are tried in. All must outlive
  /// this object. @param threads  of the linearisation, 0: one per core; the result does not depend on it.
  SegmentOptimizer(const Goal& goal, const Hand& hand, PlanningSteps& steps, int threads);
  ~SegmentOptimizer();

  /// Carries out the commands in all worlds, from the start of the problem. @returns false if a step failed.
  bool roll_out(const SegmentProblem& problem, const std::vector<Eigen::VectorXd>& knots, SegmentMotion& motion);
  /// Improves the first of these lists of knots that costs least. The cost of the result is never above theirs. Ends
  /// early when the deadline of the steps is due: then with the best so far.
  SegmentResult optimize(const SegmentProblem& problem, const std::vector<std::vector<Eigen::VectorXd>>& starts);
  /// Steps solved for linearisations so far.
  long solves() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

/// At most `count` of the commands: the last, and others evenly before it; none that only repeats the one before.
std::vector<Eigen::VectorXd> choose_knots(const std::vector<Eigen::VectorXd>& commands, const Eigen::VectorXd& u_before,
                                          int count);

}  // namespace deft::planning
