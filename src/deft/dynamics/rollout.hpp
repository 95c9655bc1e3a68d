#pragma once

#include <functional>

#include "deft/dynamics/step_model.hpp"
#include "deft/dynamics/trajectory.hpp"

namespace deft::dynamics {

/// Names, time 0 and the start configuration; no steps yet.
Trajectory start_trajectory(const scene::Scene& scene, const Eigen::VectorXd& q0, double t0);

/// What ended a roll-out.
struct RolloutEnd {
  bool completed = false;                        // all steps done and every one usable
  solvers::Status status = solvers::Status::kSolved;  // of the first failed step
  bool interrupted = false;
};

/// How far to simulate, from which time [s], and whom to tell.
struct RolloutOptions {
  int steps = 0;
  double t0 = 0;
  /// Called after each step with the index of the step; return false to stop (Ctrl-C).
  std::function<bool(int step, const StepResult&, const Trajectory&)> on_step;
};

/// Simulates the scene's commands from q0, appending to a Trajectory. Stops at the first step that is not Solved or NotUnique.
RolloutEnd rollout(StepModel& model, const Eigen::VectorXd& q0, const RolloutOptions& options, Trajectory& trajectory);

}  // namespace deft::dynamics
