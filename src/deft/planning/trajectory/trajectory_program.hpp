#pragma once
// What a trajectory costs, and the program over the horizon that its linearised steps make of that.

#include <span>
#include <vector>

#include "deft/planning/trajectory/trajectory_optimizer.hpp"

namespace deft::planning {

/// A trajectory: T commands and the T + 1 configurations they lead to.
struct CommandedMotion {
  std::vector<Eigen::VectorXd> u, q;  // sizes nu, nq
  double cost = 0;                    // without the price of limits
  double violation = 0;               // of limits, largest
  double merit = 0;                   // cost + weight · Σ of what exceeds limits
};

/// Cost and limits of a problem in the tangent space: errors e = q^d ⊖ q [rad, m], rotations by Log(R^d Rᵀ).
class TrajectoryProgram {
 public:
  /// @param problem  must outlive this object. @throws std::invalid_argument naming what has the wrong size or range.
  TrajectoryProgram(const scene::Scene& scene, const TrajectoryProblem& problem);

  /// Clamps the command, entry by entry, first to the limit of its offset from the joints of q, then to that of its
  /// change from `u_before`, last to its own bounds, which so hold always.
  void clamp(const Eigen::VectorXd& q, const Eigen::VectorXd& u_before, Eigen::VectorXd& u) const;
  /// What the commands and configurations of `motion` cost, and by how much they exceed limits other than forces'.
  void evaluate(CommandedMotion& motion) const;
  /// Adds to `motion` what its configuration t and its command t, if there is one, cost and exceed. Nothing is
  /// negative: what a motion costs so far is a lower bound.
  void add_stage(std::size_t t, CommandedMotion& motion) const;
  /// Adds to `motion` by how much a normal force exceeds its limit.
  void charge_force(double normal_force, CommandedMotion& motion) const;
  /// Whether there is a limit of normal forces.
  bool limits_forces() const { return problem_->limits.normal_force < kInfinity; }
  /// The program of second order about `motion`: x_t are displacements of its configurations, u_t commands.
  /// ‖e − J δ‖² with J = J_l(−e)⁻¹ on rotations, since Log(Exp(e) Exp(−δ)) ≈ e − J δ.
  void expand(const CommandedMotion& motion, std::span<const LinearStep> steps, solvers::horizon::HorizonQp& qp) const;

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  void check() const;
  const Eigen::VectorXd& desired(std::size_t t) const;
  const Eigen::VectorXd& weight(std::size_t t) const;
  double joint(const Eigen::VectorXd& q, int command) const;
  void charge(double excess, CommandedMotion& motion) const;
  void expand_cost(const Eigen::VectorXd& q, std::size_t t, solvers::horizon::HorizonStage& stage) const;
  void add_rows(const CommandedMotion& motion, const LinearStep* step, std::size_t t,
                solvers::horizon::HorizonStage& stage) const;

  const scene::Scene* scene_;
  const TrajectoryProblem* problem_;
  std::vector<int> rotations_;  // first velocity index of each
  Eigen::VectorXd stiffness_;   // size nu
};

}  // namespace deft::planning
