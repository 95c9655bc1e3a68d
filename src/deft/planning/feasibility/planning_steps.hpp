#pragma once
// Steps as planners take them: exact for the state, smoothed for the gradient.

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/planning/feasibility/deadline.hpp"
#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/joint_limits.hpp"
#include "deft/planning/feasibility/world.hpp"

namespace deft::planning {

/// The scene as planners take it: κ = ∞ (exact steps), any forces that balance (step.forces).
scene::Scene planning_scene(const scene::Scene& scene);

/// A point of a motion under commands.
struct Instant {
  Eigen::VectorXd q, u;                   // configuration, size nq, and last command, size nu
  std::vector<Eigen::VectorXd> q_worlds;  // configurations after the same commands in the other worlds
  std::vector<Eigen::VectorXd> v_worlds;  // velocities there, size nv; empty in worlds of first order
};
/// The point from which everything starts: at rest in all worlds, at q or where the world says.
Instant start_instant(const Ensemble& ensemble, const Eigen::VectorXd& q, const Eigen::VectorXd& u);

/// A motion: a point, and the commands that led there.
struct Motion : Instant {
  std::vector<Eigen::VectorXd> commands;  // one per step

  /// All of it through a Packer or an Unpacker.
  template <typename Pass>
  void pass(Pass& through) {
    through(q, u, q_worlds, v_worlds, commands);
  }
};

/// A contact of a finger with an object in a smoothed step, and how its force follows the command.
struct GripForce {
  double mu = 0;                                    // [-]
  Eigen::Vector3d force = Eigen::Vector3d::Zero();  // (f_n, f_t1, f_t2) [N]
  Eigen::MatrixXd by_command;                       // ∂force/∂u, 3 × nu [N/rad, N/m]
};

/// How far the objects went from one configuration to another, a radian counting 0.1 m [m].
double object_motion(const scene::Scene& scene, const Eigen::VectorXd& q_from, const Eigen::VectorXd& q_to);
/// The largest over all worlds [m].
double object_motion(const scene::Scene& scene, const Instant& from, const Instant& to);

/// Steps and linearisations of one thread. The exact step is that of the check of plans: the same model, the same
/// settings.
class PlanningSteps {
 public:
  /// @param scene  of planning_scene; must outlive this object. @param deadline  when it is due every step fails at
  /// once; none: never. @param ensemble  worlds that are moved with the scene, must outlive this object; none: those of
  /// settings.refine. @throws InputError as make_step_model, and for what planning cannot use: models of second
  /// order, whose state has a velocity; wrenches that come and go, because a node of a search has no time; and where an
  /// effort limit does not even carry the robot at the start.
  explicit PlanningSteps(const scene::Scene& scene, const Deadline* deadline = nullptr,
                         const Ensemble* ensemble = nullptr);

  /// The scene that was given.
  const scene::Scene& scene() const { return *scene_; }
  /// Length of the exact step [s].
  double h() const { return exact_->h(); }
  /// q⁺ of the exact step. @returns false if the step failed; q_next is then q.
  bool step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, Eigen::VectorXd& q_next);
  /// One step of length h from the last command to `u`: exact, and in every world that decides; the others stay as
  /// they were. @param to  must not be `from`. @returns false if a step failed.
  bool advance(const Instant& from, const Eigen::VectorXd& u, Instant& to);
  /// Whether a step under the targets `u` took a joint beyond a limit that is stated: of velocity, or of effort and
  /// further than it was at rest before.
  bool exceeds_limits(const Instant& from, const Eigen::VectorXd& u, const Instant& to);
  /// The command goes to `u` in steps no longer than `longest` per entry (size nu; empty: in one); the steps are added.
  /// @returns false if one failed, or took a joint beyond a limit of effort or velocity that is stated.
  bool move_to(const Eigen::VectorXd& u, const Eigen::VectorXd& longest, Motion& motion);
  /// Lets the worlds decide that are furthest from the mean of all, as many as the ensemble says.
  void choose_deciding(const Instant& at, const Goal& goal);
  /// Brings the worlds that did not decide from `start` through the commands of the motion. @returns false if a step
  /// failed.
  bool catch_up(const Instant& start, Motion& motion);
  /// All worlds decide again.
  void all_decide();
  /// Per world of the ensemble whether it decides.
  const std::vector<char>& deciding() const { return deciding_; }
  /// The worlds that are moved with the scene.
  const Ensemble& ensemble() const { return *ensemble_; }
  /// Holds the last command until the objects rest, at most 10 steps of length h, or as many as the ensemble says,
  /// and joints with damping have arrived, at most kLongestRest. A joint has arrived where its balance ends to 1e-4:
  /// alone it has D/(hK) of its last step left to go, since (K + D/h) δ = K (u − q). @returns false if a step failed.
  bool rest(Motion& motion);
  /// Whether joints have damping, so that they follow their targets late.
  bool follows_late() const { return lateness_.size() > 0; }
  /// Whether the deadline is due, so that no step is taken any more.
  bool is_over() const { return deadline_ != nullptr && deadline_->due(); }
  /// Whether motions must hold in other worlds too.
  bool has_worlds() const { return !worlds_.empty(); }
  /// Whether one of them is of second order, so that objects go on by themselves.
  bool has_second_order() const { return has_second_order_; }
  /// The last exact step.
  const dynamics::StepResult& result() const { return result_; }
  /// The smoothed step at κ [1/J]: q⁺ and B = ∂q⁺/∂u, nv × nu. With other worlds motions rest between commands: the
  /// step is then kRest times longer and κ kRest² times larger, which leaves the reach of the smoothing as it was.
  /// @returns false if it failed.
  /// @param grips  if not null: the contacts between what joints move and objects, with their forces in that step.
  bool linearize(const Eigen::VectorXd& q, const Eigen::VectorXd& u, double kappa, Eigen::VectorXd& q_next,
                 Eigen::MatrixXd& B, std::vector<GripForce>* grips = nullptr);
  /// The smoothed step alone. @returns false if it failed; q_next is then q.
  bool smoothed_step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, double kappa, Eigen::VectorXd& q_next);
  /// How hard joints may be driven: what targets keep to, and how much of it is used.
  DriveLimits& drive_limits() { return drive_limits_; }
  /// Through all commands. @returns the points after each, `start` first; it ends where a step fails.
  std::vector<Instant> simulate(const Instant& start, const std::vector<Eigen::VectorXd>& commands);
  /// Forgets warm starts, so that what follows does not depend on what was before.
  void reset();
  /// Steps taken so far, exact and smoothed.
  long solves() const;

 private:
  static constexpr double kRest = 5;
  static constexpr double kLeastGrip_N = 1e-2;  // smoothed contacts with less are far off
  /// The contacts of fingers with objects that bear a force in the smoothed step.
  void find_grips(std::vector<GripForce>& grips);
  static constexpr int kLongestRest = 300;
  /// What joints with damping have left to go after a motion in one step of length h: the longest [rad, m].
  double left_to_go(const Instant& from, const Instant& to) const;

  const scene::Scene* scene_;
  const Deadline* deadline_;
  DriveLimits drive_limits_;
  JointSpeeds speeds_;
  Eigen::VectorXd lateness_;  // D/(hK) of each joint, size nu; empty if no joint has damping
  Ensemble halved_;           // of settings.refine, if no other was given
  const Ensemble* ensemble_;
  std::vector<std::unique_ptr<WorldSteps>> worlds_;
  std::vector<char> deciding_;  // per world
  bool has_second_order_ = false;
  std::unique_ptr<scene::Scene> resting_;  // none without worlds
  std::unique_ptr<dynamics::StepModel> exact_, smooth_;
  dynamics::StepDifferentiator differentiator_;
  dynamics::StepResult result_, smoothed_;
  dynamics::StepDerivative derivative_;
  std::vector<int> listed_;                    // contacts whose forces are differentiated
  std::vector<char> is_actuated_, is_object_;  // per body: moved by commands, or not by them but by other joints
  long solves_ = 0;                            // at h
};

}  // namespace deft::planning
