#include "deft/planning/trajectory/trajectory_optimizer.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/planning/trajectory/trajectory_program.hpp"

namespace deft::planning {
namespace {

using Eigen::VectorXd;

constexpr double kSteps[] = {1.0, 0.5, 0.25, 0.1, 0.03};  // of the line search, in turn

/// κ of iteration k of `count`, geometric.
double kappa_of(const TrajectoryOptions& options, int k) {
  if (options.iterations < 2) return options.kappa_last;
  return options.kappa_first *
         std::pow(options.kappa_last / options.kappa_first, static_cast<double>(k) / (options.iterations - 1));
}

void check(const TrajectoryOptions& options) {
  if (options.iterations < 0) throw std::invalid_argument("trajectory: iterations must not be negative");
  if (!(options.kappa_first > 0 && options.kappa_last > 0 && options.rollout_kappa > 0))
    throw std::invalid_argument("trajectory: kappa_first, kappa_last and rollout_kappa must be positive");
}

}  // namespace

std::string_view name(TrajectoryStatus status) {
  switch (status) {
    case TrajectoryStatus::kConverged:
      return "Converged";
    case TrajectoryStatus::kEnough:
      return "Enough";
    case TrajectoryStatus::kIterationLimit:
      return "IterationLimit";
    case TrajectoryStatus::kStopped:
      return "Stopped";
    case TrajectoryStatus::kStepFailed:
      return "StepFailed";
  }
  return "?";
}

/// A task as the loop needs it.
struct TrajectoryOptimizer::Task {
  const TrajectoryProblem& problem;
  const TrajectoryOptions& options;
  const TrajectoryProgram& program;
};

/// Models and scratch; one run at a time.
struct TrajectoryOptimizer::Work {
  explicit Work(const scene::Scene& s) : scene(&s), model(dynamics::make_step_model(s)), linearizer(s) {
    if (model->second_order())
      throw InputError({s.spec().file, 0, 0},
                       "trajectory optimisation needs a model of first order; step.model: convex is one");
  }

  /// A roll-out of no steps so far.
  void begin(const Task& task, CommandedMotion& motion) {
    model->reset();
    model->set_kappa(task.options.rollout_kappa);
    motion = CommandedMotion{.q = {task.problem.q_start}};
  }

  /// Adds the command u, clamped, and the step under it. @returns false if it failed or if `motion` costs `limit` by
  /// now.
  bool advance(const Task& task, VectorXd u, double limit, CommandedMotion& motion) {
    const std::size_t t = motion.u.size();
    task.program.clamp(motion.q[t], t == 0 ? task.problem.u_before : motion.u.back(), u);
    motion.u.push_back(std::move(u));
    task.program.add_stage(t, motion);
    if (!(motion.merit < limit)) return false;
    ++solves;
    model->step(motion.q[t], motion.u[t], result);
    if (!solvers::usable(result.status)) return false;
    motion.q.push_back(result.q_next);
    if (task.program.limits_forces()) {
      double largest = 0;
      for (const auto& force : result.solution.force) largest = std::max(largest, force[0]);
      task.program.charge_force(largest, motion);
    }
    return true;
  }

  /// The first commands, within their limits.
  bool roll_out(const Task& task, std::span<const VectorXd> u_first, CommandedMotion& motion) {
    begin(task, motion);
    for (std::size_t t = 0; t < to_size(task.problem.steps); ++t) {
      const VectorXd& u = u_first.empty() ? task.problem.u_before : u_first[t];
      if (!advance(task, u, std::numeric_limits<double>::infinity(), motion)) return false;
    }
    task.program.add_stage(motion.u.size(), motion);
    return true;
  }

  /// The share α of the program's step, with its answer to what the states do differently:
  ///   u_t = ū_t + α(u*_t − ū_t) + K_t (q_t ⊖ q̄_t − α x*_t).
  /// @returns false if a step failed or if it is not better: then without its last steps.
  bool follow(const Task& task, const CommandedMotion& nominal, double share, CommandedMotion& motion) {
    begin(task, motion);
    for (std::size_t t = 0; t < nominal.u.size(); ++t) {
      VectorXd u = nominal.u[t] + share * (planned.u[t] - nominal.u[t]);
      if (t > 0)
        u += planned.feedback[t] * (scene->model().difference(nominal.q[t], motion.q[t]) - share * planned.x[t]);
      if (!advance(task, std::move(u), nominal.merit, motion)) return false;
    }
    task.program.add_stage(motion.u.size(), motion);
    return motion.merit < nominal.merit;
  }

  /// Linearises the steps of `now` in iteration k, and solves the program about them for `planned`. @returns false if a
  /// step failed.
  bool plan(const Task& task, int k, const CommandedMotion& now) {
    LinearizationOptions gradient = task.options.gradient;
    gradient.kappa = kappa_of(task.options, k);
    gradient.sigma_u /= std::pow(k + 1, task.options.sigma_decay);
    gradient.sigma_q /= std::pow(k + 1, task.options.sigma_decay);
    gradient.seed += static_cast<std::uint64_t>(k) * now.u.size();
    gradient.forces = task.program.limits_forces();
    gradient.threads = task.options.threads;
    linearizer.run(now.q, now.u, gradient, steps);
    for (const LinearStep& step : steps) {
      if (!step.ok) return false;
    }
    task.program.expand(now, steps, qp);
    solver.solve(qp, {}, planned);
    return true;
  }

  /// Takes the first share of the program's step that costs less. @returns that share; 0: none does, `now` stays.
  double search_line(const Task& task, CommandedMotion& now) {
    for (const double share : kSteps) {
      if (!follow(task, now, share, tried)) continue;
      std::swap(now, tried);
      return share;
    }
    return 0;
  }

  /// The loop: improves the first commands until nothing is gained. `now` is the best motion, `history` a row per
  /// iteration.
  TrajectoryStatus run(const Task& task, std::span<const VectorXd> u_first, CommandedMotion& now,
                       std::vector<TrajectoryIteration>& history) {
    const TrajectoryOptions& options = task.options;
    const auto record = [&](TrajectoryIteration row) {
      row.cost = now.cost;
      row.violation = now.violation;
      history.push_back(row);
    };
    if (!roll_out(task, u_first, now)) return TrajectoryStatus::kStepFailed;
    record({.kappa = kappa_of(options, 0)});
    for (int k = 0; k < options.iterations; ++k) {
      if (now.merit <= options.cost_enough) return TrajectoryStatus::kEnough;
      if (options.stop.stop_requested()) return TrajectoryStatus::kStopped;
      if (!plan(task, k, now)) return TrajectoryStatus::kStepFailed;
      const double before = now.merit;
      const double share = search_line(task, now);
      record({.kappa = kappa_of(options, k),
              .step = share,
              .program = planned.status,
              .program_iterations = planned.iterations});
      const bool is_last_kappa = options.kappa_first == options.kappa_last || k + 1 == options.iterations;
      if (is_last_kappa && before - now.merit <= options.gain_min * before) return TrajectoryStatus::kConverged;
    }
    return TrajectoryStatus::kIterationLimit;
  }

  const scene::Scene* scene;
  std::unique_ptr<dynamics::StepModel> model;  // of roll-outs
  HorizonLinearizer linearizer;
  dynamics::StepResult result;
  std::vector<LinearStep> steps;
  solvers::horizon::HorizonQp qp;
  solvers::horizon::HorizonQpSolver solver;
  solvers::horizon::HorizonSolution planned;  // by the program
  CommandedMotion tried;                      // by the line search
  long solves = 0;
};

TrajectoryOptimizer::TrajectoryOptimizer(const scene::Scene& scene) : work_(std::make_unique<Work>(scene)) {}
TrajectoryOptimizer::~TrajectoryOptimizer() = default;

TrajectoryResult TrajectoryOptimizer::optimize(const TrajectoryProblem& problem, const TrajectoryOptions& options,
                                               std::span<const VectorXd> u_first) {
  check(options);
  const TrajectoryProgram program(*work_->scene, problem);
  if (!u_first.empty() && std::ssize(u_first) != problem.steps)
    throw std::invalid_argument(
        fmt::format("trajectory: {} first commands, needs {} or none", u_first.size(), problem.steps));
  for (const VectorXd& u : u_first) {
    if (u.size() != work_->scene->nu()) throw std::invalid_argument("trajectory: a first command has the wrong size");
  }
  const long solves_before = work_->solves + work_->linearizer.solves();
  TrajectoryResult out;
  CommandedMotion now;
  out.status = work_->run({problem, options, program}, u_first, now, out.history);
  out.u = std::move(now.u);
  out.q = std::move(now.q);
  out.cost = now.cost;
  out.violation = now.violation;
  out.solves = work_->solves + work_->linearizer.solves() - solves_before;
  return out;
}

}  // namespace deft::planning
