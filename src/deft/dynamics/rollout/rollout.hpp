#pragma once

#include <functional>
#include <span>
#include <string>

#include "deft/dynamics/step_model.hpp"
#include "deft/dynamics/trajectory.hpp"

namespace deft::dynamics {

/// A trajectory with the names of the model's scene and the state `start`, without steps yet. Velocities are recorded
/// for models of second order only.
Trajectory start_trajectory(const StepModel& model, const State& start);

/// What ended a roll-out.
struct RolloutEnd {
  bool completed = false;                             // all steps done and every one usable
  solvers::Status status = solvers::Status::kSolved;  // of the first failed step
  bool interrupted = false;                           // on_step returned false
  std::string reason;  // contacts and limits that leave the failed step without a solution, if known
};

/// How many steps to take, under which commands, and what to call after each.
struct RolloutOptions {
  int steps = 0;  // ≥ 0
  /// Called after each step with the index of the step; return false to stop (Ctrl-C).
  std::function<bool(int step, const StepResult&, const Trajectory&)> on_step;
  /// Instead of the scene's commands: the joint targets of each step, at least `steps` of them, size nu each.
  std::span<const Eigen::VectorXd> commands{};
  /// Instead of both: called at the start of each step with the state; sets the command (size nu, that of the last step
  /// before) and may record what it planned in Trajectory::horizons.
  std::function<void(const State& state, Eigen::VectorXd& u, Trajectory&)> controller{};
};

/// The initial configuration of the model's scene, with its velocity, at time 0.
State initial_state(const StepModel& model);

/// Simulates the scene's commands, or those of `options`, from `start`, and appends every step to `trajectory`, which
/// start_trajectory made. Stops after the first step that is not Solved or NotUnique; that step is recorded too.
/// @throws std::invalid_argument for fewer commands than steps; otherwise as StepModel::step.
RolloutEnd rollout(StepModel& model, const State& start, const RolloutOptions& options, Trajectory& trajectory);

}  // namespace deft::dynamics
