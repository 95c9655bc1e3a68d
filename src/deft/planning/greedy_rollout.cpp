#include "deft/planning/greedy_rollout.hpp"

#include <limits>

namespace deft::planning {
namespace {

constexpr double kScales[] = {1.0, 0.4, 0.16};  // of δu, tried in turn
constexpr double kSharper = 5;                  // κ grows by it without progress
constexpr int kSharpenings = 2;                 // how often

}  // namespace

GreedyRollout::GreedyRollout(const Goal& goal, const Hand& hand, PlanningSteps& steps)
    : goal_(&goal), hand_(&hand), steps_(&steps), settings_(&steps.scene().spec().plan) {
  bounds_.norm = settings_->step_norm;
}

bool GreedyRollout::choose_command(const Motion& motion, const Eigen::VectorXd& q_target, double kappa) {
  if (!steps_->linearize(motion.q, motion.u, kappa, c_, B_)) return false;
  goal_->residual(c_, q_target, e_);
  B_rows_ = goal_->weights().asDiagonal() * B_(goal_->rows(), Eigen::all);
  bounds_.lower = (hand_->lower - motion.u).cwiseMin(0.0);
  bounds_.upper = (hand_->upper - motion.u).cwiseMax(0.0);
  nearest_command(B_rows_, e_, settings_->regularization, bounds_, du_);
  return true;
}

double GreedyRollout::first_step(const Motion& motion, const Eigen::VectorXd& q_target) {
  if (!choose_command(motion, q_target, settings_->kappa) || !steps_->step(motion.q, motion.u + du_, q_next_))
    return std::numeric_limits<double>::infinity();
  return goal_->distance(q_next_, q_target);
}

bool GreedyRollout::holds(Motion& motion) {
  const std::size_t before = motion.commands.size();
  const Eigen::VectorXd q = motion.q, u = motion.u;
  for (const bool unloaded : {false, true}) {
    if (unloaded) motion.u = joint_positions(steps_->scene(), q).cwiseMax(hand_->lower).cwiseMin(hand_->upper);
    bool held = true;
    for (int k = 0; k < settings_->hold_steps && held; ++k) {
      held = steps_->step(motion.q, motion.u, q_next_) && goal_->reached(q_next_);
      motion.q = q_next_;
      motion.commands.push_back(motion.u);
    }
    if (held) return true;
    motion.commands.resize(before);
    motion.q = q;
    motion.u = u;
  }
  return false;
}

RolloutReport GreedyRollout::run(const Eigen::VectorXd& q_target, Motion& motion) {
  RolloutReport report;
  // A transfer may have done it already.
  if (goal_->reached(motion.q) && holds(motion)) {
    report.holds_goal = true;
    return report;
  }
  double distance = goal_->distance(motion.q, q_target), kappa = settings_->kappa;
  Motion nearest = motion;
  double nearest_distance = distance;
  int sharpenings = 0;
  for (int k = 0; k < settings_->rollout_steps; ++k) {
    if (!choose_command(motion, q_target, kappa)) break;

    // The exact step decides how far.
    double best = std::numeric_limits<double>::infinity();
    Eigen::VectorXd q_best, u_best;
    for (const double scale : kScales) {
      const Eigen::VectorXd u = motion.u + scale * du_;
      if (!steps_->step(motion.q, u, q_next_)) continue;
      const double after = goal_->distance(q_next_, q_target);
      if (after < best) {
        best = after;
        q_best = q_next_;
        u_best = u;
      }
      if (after <= (1 - settings_->progress) * distance) break;
    }
    if (!(best <= (1 - settings_->progress_min) * distance)) {
      if (sharpenings++ == kSharpenings) break;
      kappa *= kSharper;
      continue;
    }
    motion.q = q_best;
    motion.u = u_best;
    motion.commands.push_back(u_best);
    distance = best;
    if (distance < nearest_distance) {
      nearest = motion;
      nearest_distance = distance;
      report.moved = true;
    }
    if (goal_->reached(motion.q) && holds(motion)) {
      report.holds_goal = true;
      return report;
    }
  }
  motion = std::move(nearest);
  return report;
}

}  // namespace deft::planning
