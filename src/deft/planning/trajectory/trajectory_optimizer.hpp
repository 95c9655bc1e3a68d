#pragma once
// Commands over a horizon that bring the objects along a desired path, improved step by step:
//
//   min  Σ_{t<T} ‖x_t^d ⊖ x_t‖²_Q + ‖u_t − u_{t−1}‖²_R  +  ‖x_T^d ⊖ x_T‖²_{Qd},     x_{t+1} = f(x_t, u_t), within
//   limits.
//
// Each iteration: roll-out, linearisation smoothed at κ_i, quadratic program over the horizon, line search on the true
// cost. After T. Pang, H. J. T. Suh, L. Yang, R. Tedrake, Global planning for contact-rich manipulation via local
// smoothing of quasi-dynamic contact models, T-RO 2023 (their iMPC; what differs: README.md).

#include <Eigen/Core>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "deft/planning/trajectory/horizon_linearization.hpp"
#include "deft/scene/scene.hpp"
#include "deft/solvers/horizon/qp_solver.hpp"

namespace deft::planning {

/// What must not be exceeded. Vectors of size nu, or empty: no such limit. Those of the commands always hold; the
/// others are predicted by the linearised step and priced at `weight`.
struct TrajectoryLimits {
  Eigen::VectorXd u_lower{}, u_upper{};  // of commands [rad, m]
  Eigen::VectorXd change{};              // of |u_t − u_{t−1}| > 0 [rad, m]
  Eigen::VectorXd offset{};              // of |u_t − q_a,t| > 0, the joints at the start of the step [rad, m]
  Eigen::VectorXd q_lower{}, q_upper{};  // of joint positions [rad, m]
  Eigen::VectorXd effort{};              // of K|u_t − q_a,t+1| > 0, the springs at the end of the step [N, N·m]
  double normal_force = std::numeric_limits<double>::infinity();  // > 0, of every contact [N]
  double weight = 1e4;  // cost per rad or m, and for forces per share of the limit, of what exceeds it
};

/// The task.
struct TrajectoryProblem {
  Eigen::VectorXd q_start, u_before;           // x_0 of size nq; u_{−1} of size nu
  int steps = 20;                              // T ≥ 1
  std::vector<Eigen::VectorXd> q_desired;      // T + 1 configurations, or one that is desired all the time
  Eigen::VectorXd state_weight, final_weight;  // diagonals of Q and Qd, size nv ≥ 0
  Eigen::VectorXd command_weight;              // diagonal of R, size nu > 0
  TrajectoryLimits limits{};                   // none by default
};

/// How it is solved.
struct TrajectoryOptions {
  int iterations = 20;                          // ≥ 0, at most
  double kappa_first = 100, kappa_last = 2000;  // [1/J], geometric in between
  LinearizationOptions gradient{};              // kappa, forces and threads are set by the optimizer
  double sigma_decay = 0.8;                     // bundles: sigma_u / i^decay in iteration i = 1, 2, …
  double rollout_kappa = std::numeric_limits<double>::infinity();  // [1/J], of the states; infinity: exact steps
  double cost_enough = 0;                                          // ends when the cost is no higher
  double gain_min = 1e-6;  // at the last κ: ends when an iteration gains less than this share of the cost
  int threads = 0;         // 0: one per core; the result does not depend on it
  std::stop_token stop{};  // asked before every iteration
};

/// Why an optimisation ended. Whatever it was, the best commands are there.
enum class TrajectoryStatus {
  kConverged,       // no gain at the last κ
  kEnough,          // cost_enough reached
  kIterationLimit,  // all iterations done
  kStopped,         // by the stop token
  kStepFailed       // the roll-out of the first commands or a linearisation failed
};
/// "Converged", "Enough", …
std::string_view name(TrajectoryStatus status);

/// One iteration, in plain numbers.
struct TrajectoryIteration {
  double cost = 0;       // of the trajectory that the iteration left, without the price of limits
  double violation = 0;  // of limits, largest [rad, m, share of the force limit]
  double kappa = 0;      // [1/J], of its linearisation
  double step = 0;       // share of the program's step that was taken, 0: none was better
  solvers::horizon::HorizonStatus program = solvers::horizon::HorizonStatus::kSolved;  // how its program ended
  int program_iterations = 0;                                                          // of the program's solver
};

/// The best trajectory found.
struct TrajectoryResult {
  TrajectoryStatus status = TrajectoryStatus::kStepFailed;  // why it ended
  std::vector<Eigen::VectorXd> u;                           // T, size nu; fewer if the first roll-out failed
  std::vector<Eigen::VectorXd> q;                           // T + 1, size nq, by the roll-out's steps
  double cost = 0, violation = 0;                           // as in TrajectoryIteration
  std::vector<TrajectoryIteration> history;                 // [0]: the first commands
  long solves = 0;                                          // steps solved
};

/// Optimises trajectories of one scene; keeps models and scratch. One caller at a time.
class TrajectoryOptimizer {
 public:
  /// @param scene  of planning_scene; must outlive this object. @throws InputError as make_step_model, and for models
  /// of second order.
  explicit TrajectoryOptimizer(const scene::Scene& scene);
  ~TrajectoryOptimizer();

  /// Runs the loop of this file's head. @param u_first  commands to begin with, T of them; empty: u_before is held.
  /// @throws std::invalid_argument naming what has the wrong size or range; InputError as StepDifferentiator.
  TrajectoryResult optimize(const TrajectoryProblem& problem, const TrajectoryOptions& options,
                            std::span<const Eigen::VectorXd> u_first = {});

 private:
  struct Task;
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace deft::planning
