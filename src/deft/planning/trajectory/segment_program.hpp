#pragma once
// What the commands of a segment cost in several worlds at once, and the program over their horizon that its linearised
// steps make of that.

#include <span>
#include <vector>

#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/trajectory/finger_contacts.hpp"
#include "deft/planning/trajectory/horizon_linearization.hpp"
#include "deft/solvers/horizon/qp_solver.hpp"

namespace deft::planning {

/// What a segment shall do, and what counts how much.
struct SegmentProblem {
  Instant start;             // of all worlds of the steps
  Eigen::VectorXd q_target;  // where its objects should be at the end, size nq
  /// Of the optimisation: radius [rad, m], cone_share, weights, limits.
  scene::OptimizeSettings settings{};
};

/// Commands of a segment and where they lead in all worlds. Between its knots commands go linearly, in steps no longer
/// than the ensemble's; after the last everything comes to rest.
struct SegmentMotion {
  std::vector<Eigen::VectorXd> knots;  // T, size nu [rad, m]
  std::vector<Instant> at;             // where each begins, T
  Motion motion;                       // the end, and one command per step
  double distance = 0;                 // √(‖ē‖² + w² mean ‖e_i − ē‖²) at the end [m]
  double excess = 0;  // mean over the steps of Σ [‖f_t‖ − s μ f_n]₊ over the fingers' contacts, in shares of the scale
  double violation = 0;  // of limits of positions, efforts and normal forces, largest [rad, m, share of the limit]
  double cost = 0;       // (distance/tolerance)² + change_weight Σ‖u_t − u_{t−1}‖² + force_weight · excess + limits
};

/// Cost, limits and linear model of a segment. The states of the program are displacements of the objects in every
/// world and of the joints, which all worlds share:
///   x = (δ_1, …, δ_W, δ_a),  δ_i⁺ = A_i δ_i + A_ia δ_a + B_i δu.
class SegmentProgram {
 public:
  /// @param problem, goal, hand, steps  must outlive this object; of one scene.
  SegmentProgram(const SegmentProblem& problem, const Goal& goal, const Hand& hand, const PlanningSteps& steps);

  /// Errors of all worlds, e_i = e_1 + W (q_1 ⊖ q_i), size worlds · goal.size() [m].
  Eigen::VectorXd errors(const Instant& at) const;
  /// The distance of SegmentMotion [m].
  double distance(const Instant& at) const;
  /// By how much forces of fingers leave their cones, and exceed their limit.
  struct ForceExcess {
    double cone = 0;    // Σ [‖f_t‖ − s μ f_n]₊, in shares of force_scale
    double normal = 0;  // the largest f_n / limit − 1, not below 0
  };
  /// The excess of a step. @param largest  is raised to the largest f_n of a finger [N].
  ForceExcess force_excess(const dynamics::StepResult& step, double& largest) const;
  /// What a motion with this distance, excess and violation costs; sets motion.cost.
  void charge(SegmentMotion& motion) const;
  /// By how much joints of q exceed their limits, and springs under u their efforts [rad, m].
  double limit_excess(const Eigen::VectorXd& q, const Eigen::VectorXd& u) const;
  /// Commands within the joints' limits.
  void clamp(Eigen::VectorXd& u) const { u = u.cwiseMax(hand_->lower).cwiseMin(hand_->upper); }
  /// The displacement of `at` from `nominal` as a state of the program.
  Eigen::VectorXd displacement(const Instant& nominal, const Instant& at) const;
  /// The program about `motion`. @param steps  its steps, linearised: world by world, knot by knot.
  /// @param radius  most that a command changes [rad, m].
  void expand(const SegmentMotion& motion, std::span<const LinearStep> steps, double radius,
              solvers::horizon::HorizonQp& qp) const;

  /// Forces are measured in shares of it [N].
  double force_scale = 1;

 private:
  Eigen::Index worlds(const Instant& at) const { return 1 + static_cast<Eigen::Index>(at.q_worlds.size()); }
  /// ‖ē‖² + w² mean ‖e_i − ē‖² = Eᵀ S E over the stacked errors, in squared tolerances.
  Eigen::MatrixXd spread_matrix(Eigen::Index count) const;
  void expand_end(const Instant& end, solvers::horizon::HorizonStage& stage) const;
  struct Row;
  using RowList = std::vector<Row>;
  static void pack(const RowList& list, Eigen::Index nx, Eigen::Index nu, solvers::horizon::HorizonStage& stage);
  /// Joints and springs near their limits.
  void add_limit_rows(const Eigen::VectorXd& q, Eigen::Index nx, RowList& list) const;
  /// Forces of fingers near the sides of their cones, or limited.
  void add_force_rows(const SegmentMotion& motion, std::span<const LinearStep> steps, std::size_t t,
                      RowList& list) const;

  const SegmentProblem* problem_;
  const Goal* goal_;
  const Hand* hand_;
  const PlanningSteps* steps_;
  std::vector<int> objects_;  // velocities that no command moves
  FingerContacts contacts_;
  Eigen::VectorXd stretch_;  // most that springs are stretched, effort / stiffness, size nu [rad, m]
};

}  // namespace deft::planning
