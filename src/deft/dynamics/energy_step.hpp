#pragma once
// What the step models that minimise, or balance, an energy ½δᵀQδ + bᵀδ over contacts share: how a step goes.

#include <Eigen/Core>
#include <cstdint>
#include <utility>
#include <vector>

#include "deft/dynamics/contact_finder.hpp"
#include "deft/dynamics/energy_terms.hpp"
#include "deft/dynamics/rolling_friction.hpp"
#include "deft/dynamics/step_model.hpp"

namespace deft::dynamics {

/// @returns step.h. @throws InputError if the scene has none.
double required_step_length(const scene::Scene& scene);

/// Checks the start of a step. @throws std::invalid_argument on wrong sizes or entries that are not finite.
void check_start(const scene::Scene& scene, const State& start, const Eigen::VectorXd& u);

/// One value of `step.joint_damping` per command [N s/m, N·m·s/rad]: a number for all, a list over the joints of all
/// robots, or a map by "joint" or "robot/joint". @throws InputError for wrong lengths and names.
Eigen::VectorXd joint_damping(const scene::Scene& scene);

/// ½δᵀQδ + bᵀδ [J].
double quadratic_energy(const solvers::contact::ContactProgram& program, const Eigen::VectorXd& delta);

/// A step model of this file's head: contacts at the start, the energy over them, its solution, the motion. One object
/// per thread: it keeps scratch.
class EnergyStep : public StepModel {
 public:
  using StepModel::step;
  void step(const State& start, const Eigen::VectorXd& u, StepResult& result) final;
  bool second_order() const final { return second_order_; }
  scene::SceneState* start_state() final { return &contacts_.lend(); }
  void reset() final;
  double h() const final { return h_; }
  const scene::Scene& scene() const final { return *scene_; }

 protected:
  /// Whether velocities are part of the state.
  enum class Order { kFirst, kSecond };
  /// @param damping  D_a per robot joint, as in add_joint_damping.  @throws InputError if the scene has no step length.
  EnergyStep(const scene::Scene& scene, Order order, EnergyLayout layout, Eigen::VectorXd damping);

  /// Q and b of the energy from `start`.
  virtual void add_energy(const StepStart& start, contact::ContactProblem& problem) = 0;
  /// Solves the problem in result.problem; fills everything of `result` but q_next, v_next, energy and step_us.
  /// @returns the time that certifying took [µs], which is no part of a step.
  virtual double solve(const State& start, const Eigen::VectorXd& u, StepResult& result) = 0;
  /// Forgets warm starts of the solver.
  virtual void forget() = 0;
  /// First order: the motion whose energy is reported.
  virtual const Eigen::VectorXd& motion_of_energy(const StepResult& result) const { return result.delta; }

  /// Second order: raises the gaps of contacts linearised again within the step, found by id, by the depth at its start
  /// that `step.recovery_speed` leaves [m], so that the whole step parts them no faster.
  void keep_recovery_limit(contact::ContactProblem& problem) const;

  const scene::SceneState& at_start() const { return contacts_.state(); }  // of the step at hand
  const EnergyLayout& layout() const { return layout_; }                   // the blocks of Q
  const Eigen::VectorXd& damping() const { return damping_; }              // D_a per robot joint, size nu
  TermScratch& scratch() { return scratch_; }                              // of the sums of terms

 private:
  const scene::Scene* scene_;
  double h_;
  bool second_order_;
  EnergyLayout layout_;
  Eigen::VectorXd damping_;
  ContactFinder contacts_;
  BlockDiagonal M_;
  TermScratch scratch_;
  // Second order:
  bool limit_recovery(contact::ContactProblem& problem);  // @returns whether it was reached
  /// @returns whether any torque acts.
  bool resist_rolling(const State& start, const Eigen::VectorXd& v, contact::ContactProblem& problem);
  void remember_loads(const StepResult& result);

  std::vector<std::pair<std::uint64_t, double>> left_inside_;  // ids, and depths that the step may not undo [m]
  scene::SceneState end_;
  bool ended_ = false;       // end_ and M_ are those of the end of the last step
  Eigen::VectorXd at_rest_;  // v = 0
  RollingFriction rolling_;
  std::vector<LoadedContact> loads_;  // of the last step, which ended at q_loads_
  Eigen::VectorXd q_loads_, forces_;
  std::vector<BodyTorque> torques_;
};

}  // namespace deft::dynamics
