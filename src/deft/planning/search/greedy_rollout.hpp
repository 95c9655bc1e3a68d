#pragma once
// Steps that come nearer to a target, one linearised step at a time, until no command does.

#include "deft/planning/feasibility/command_law.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/grasps/transit.hpp"

namespace deft::planning {

/// Where a roll-out ended.
struct RolloutReport {
  bool holds_goal = false;  // and stays for settings.hold_steps more
  bool moved = false;       // came nearer to its target
};

/// The greedy roll-out. One per thread.
class GreedyRollout {
 public:
  /// @param goal, hand, steps  of one scene; must outlive this object.
  GreedyRollout(const Goal& goal, const Hand& hand, PlanningSteps& steps);

  /// At each step, with B and c of the step smoothed at κ about the last command ū:
  ///   δu = argmin ‖W (q_target ⊖ c − B δu)‖² + λ‖δu‖²,  ‖δu‖ ≤ ε, joint limits,
  /// then exact steps with δu, 0.4 δu and 0.16 δu; the first that comes nearer by settings.progress is taken, or else
  /// the best; without progress κ grows five-fold, twice. Ends at the pose nearest to the target, or where
  /// the goal is met on the way and holds. With other worlds δu is the least in the sum of distance² over those
  /// that decide, its steps are no longer than the ensemble's, and rest follows each.
  RolloutReport run(const Eigen::VectorXd& q_target, Motion& motion);
  /// How near the first step of a roll-out from here comes to the target [m]; infinity if it fails. The distance by the
  /// reachable ellipsoid would not do: it counts pulling as if it were pushing.
  double first_step(const Motion& motion, const Eigen::VectorXd& q_target);
  /// ‖e‖ to a configuration [m]. With other worlds, of those that decide, ‖ē‖² + w² mean ‖e_i − ē‖², ē their mean, is
  /// its square.
  double distance(const Instant& at, const Eigen::VectorXd& q_target) const;
  /// Whether the goal is met, in all worlds that decide.
  bool reached(const Instant& at) const;
  /// Adds the settings.hold_steps steps for which the goal must hold: under the last command, or else with the springs
  /// unloaded. @returns false, and the motion as it was, if it does not.
  bool holds(Motion& motion);

 private:
  /// How many steps the goal must hold: with worlds of second order for 1 s.
  int hold_steps() const;
  /// Other worlds that decide.
  Eigen::Index count_deciding() const;
  /// The command of the law above into du_. @returns false if the smoothed step failed.
  bool choose_command(const Motion& motion, const Eigen::VectorXd& q_target, double kappa);

  /// The error of a world, as that of the first world and the way between both: half a turn away from the target worlds
  /// that differ by little would have errors of opposite sign.
  void residual_beside(const Eigen::VectorXd& q_first, const Eigen::VectorXd& q, const Eigen::VectorXd& q_target,
                       Eigen::VectorXd& e) const;
  struct GripRows;
  /// Turns du_ so that forces of fingers, to first order f + F δu, stay within their cones, ‖f_t‖ ≤ (cone_share) μ f_n,
  /// and fingers do not let go: contacts that stick and roll move objects alike in all worlds, those that slide do not.
  /// What is violated becomes a row of the least squares, a few times over.
  void keep_grip();
  void add_grip_rows(const GripForce& grip, double scale, GripRows& out) const;

  /// Of the exact steps with shares of du_ the first that comes nearer by settings.progress, or else the best, into
  /// chosen_. @param now  the distance before it [m]. @returns its distance [m]; infinity if all of them failed.
  double try_shares(const Motion& motion, const Eigen::VectorXd& q_target, double now);
  /// One command into next_, and rest if there are other worlds. @returns false if a step failed.
  bool move(const Motion& motion, const Eigen::VectorXd& u);

  const Goal* goal_;
  const Hand* hand_;
  PlanningSteps* steps_;
  const scene::PlanSettings* settings_;
  CommandBounds bounds_;
  Eigen::MatrixXd B_, B_rows_;
  Eigen::VectorXd c_, c_first_, e_, e_rows_, du_;
  Motion next_, chosen_;
  std::vector<GripForce> grips_, found_;  // of all worlds that decide; of the last linearised step
  double grip_N_ = -1;                    // the largest force of a finger when the roll-out began; negative: not known
};

}  // namespace deft::planning
