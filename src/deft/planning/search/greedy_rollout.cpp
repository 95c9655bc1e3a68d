#include "deft/planning/search/greedy_rollout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deft::planning {
namespace {

constexpr double kShares[] = {1.0, 0.4, 0.16};  // of δu, tried in turn
constexpr double kSharper = 5;                  // κ grows by it without progress
constexpr int kSharpenings = 2;                 // how often
// Forces of fingers that are kept within their cones: rounds in which what is violated becomes a row; weight of a force
// as large as the largest, in distances to the target; what counts as violated, of the largest; what a finger keeps, of
// the largest force when the roll-out began; least scale of forces [N].
constexpr int kGripRounds = 5;
constexpr double kGripWeight = 3, kGripTolerance = 0.02, kGripKept = 0.5, kLeastScale_N = 0.1;

/// `count` blocks x_i of `rows` rows become x̄ + w (x_i − x̄), x̄ their mean.
template <typename Matrix>
void stress_spread(Eigen::Index rows, Eigen::Index count, double w, Matrix& stacked) {
  if (count == 1) return;
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(rows, stacked.cols());
  for (Eigen::Index i = 0; i < count; ++i) mean += stacked.middleRows(i * rows, rows) / static_cast<double>(count);
  for (Eigen::Index i = 0; i < count; ++i)
    stacked.middleRows(i * rows, rows) = mean + w * (stacked.middleRows(i * rows, rows) - mean);
}

}  // namespace

GreedyRollout::GreedyRollout(const Goal& goal, const Hand& hand, PlanningSteps& steps)
    : goal_(&goal), hand_(&hand), steps_(&steps), settings_(&steps.scene().settings().plan) {
  bounds_.norm = settings_->step_norm;
}

Eigen::Index GreedyRollout::count_deciding() const {
  return std::count(steps_->deciding().begin(), steps_->deciding().end(), char{1});
}

bool GreedyRollout::choose_command(const Motion& motion, const Eigen::VectorXd& q_target, double kappa) {
  const Eigen::Index rows = goal_->size();
  const Eigen::Index count = 1 + count_deciding();
  e_rows_.resize(count * rows);
  B_rows_.resize(count * rows, motion.u.size());
  Eigen::Index filled = 0;
  const bool grips = steps_->ensemble().cone_share > 0;
  grips_.clear();
  const auto add_rows = [&](const Eigen::VectorXd& q) {
    if (!steps_->linearize(q, motion.u, kappa, c_, B_, grips ? &found_ : nullptr)) return false;
    if (grips) grips_.insert(grips_.end(), found_.begin(), found_.end());
    residual_beside(filled == 0 ? c_ : c_first_, c_, q_target, e_);
    if (filled == 0) c_first_ = c_;
    e_rows_.segment(filled, rows) = e_;
    B_rows_.middleRows(filled, rows) = goal_->weights().asDiagonal() * B_(goal_->rows(), Eigen::all);
    filled += rows;
    return true;
  };
  if (!add_rows(motion.q)) return false;
  for (std::size_t i = 0; i < motion.q_worlds.size(); ++i)
    if (steps_->deciding()[i] != 0 && !add_rows(motion.q_worlds[i])) return false;
  stress_spread(rows, count, steps_->ensemble().spread_weight, e_rows_);
  stress_spread(rows, count, steps_->ensemble().spread_weight, B_rows_);
  // Springs that are stretched already may stay so.
  const Eigen::ArrayXd joints = joint_positions(steps_->scene(), motion.q).array();
  Eigen::VectorXd lowest = hand_->lower.array().max(joints - settings_->max_target_offset),
                  highest = hand_->upper.array().min(joints + settings_->max_target_offset);
  steps_->drive_limits().narrow(motion.q, lowest, highest);
  bounds_.lower = (lowest - motion.u).cwiseMin(0.0);
  bounds_.upper = (highest - motion.u).cwiseMax(0.0);
  nearest_command(B_rows_, e_rows_, settings_->regularization, bounds_, du_);
  if (grips) keep_grip();
  return true;
}

/// What is added to the least squares: rows of δu and what they should be.
struct GreedyRollout::GripRows {
  std::vector<Eigen::RowVectorXd> rows;
  std::vector<double> wanted;

  void add(double weight, Eigen::RowVectorXd row, double value) {
    rows.emplace_back(weight * row);
    wanted.push_back(weight * value);
  }
};

void GreedyRollout::add_grip_rows(const GripForce& grip, double scale, GripRows& out) const {
  const double weight = kGripWeight * e_rows_.norm() / scale;
  const double mu = steps_->ensemble().cone_share * grip.mu;
  const Eigen::Vector3d force = grip.force + grip.by_command * du_;
  const double tangential = force.tail<2>().norm();
  if (tangential - mu * force(0) > kGripTolerance * scale) {
    // ‖f_t‖ is taken along its direction, which the next round corrects.
    const Eigen::RowVector2d along =
        tangential > 0 ? Eigen::RowVector2d(force.tail<2>().transpose() / tangential) : Eigen::RowVector2d::Zero();
    out.add(weight, along * grip.by_command.bottomRows<2>() - mu * grip.by_command.row(0),
            mu * grip.force(0) - along.dot(grip.force.tail<2>()));
  }
  const double least = std::min(grip.force(0), kGripKept * grip_N_);
  if (least - force(0) > kGripTolerance * scale) out.add(weight, grip.by_command.row(0), least - grip.force(0));
}

void GreedyRollout::keep_grip() {
  if (grips_.empty()) return;
  double largest_N = 0;
  for (const GripForce& grip : grips_) largest_N = std::max(largest_N, grip.force(0));
  if (grip_N_ < 0) grip_N_ = largest_N;
  const double scale = std::max(largest_N, kLeastScale_N);
  const Eigen::Index plain = e_rows_.size();
  GripRows added;
  for (int round = 0; round < kGripRounds; ++round) {
    const std::size_t before = added.rows.size();
    for (const GripForce& grip : grips_) add_grip_rows(grip, scale, added);
    if (added.rows.size() == before) return;
    Eigen::MatrixXd B(plain + static_cast<Eigen::Index>(added.rows.size()), B_rows_.cols());
    Eigen::VectorXd e(B.rows());
    B.topRows(plain) = B_rows_;
    e.head(plain) = e_rows_;
    for (std::size_t k = 0; k < added.rows.size(); ++k) {
      B.row(plain + static_cast<Eigen::Index>(k)) = added.rows[k];
      e(plain + static_cast<Eigen::Index>(k)) = added.wanted[k];
    }
    nearest_command(B, e, settings_->regularization, bounds_, du_);
  }
}

void GreedyRollout::residual_beside(const Eigen::VectorXd& q_first, const Eigen::VectorXd& q,
                                    const Eigen::VectorXd& q_target, Eigen::VectorXd& e) const {
  goal_->residual(q_first, q_target, e);
  if (&q == &q_first) return;
  Eigen::VectorXd between;
  goal_->residual(q, q_first, between);
  e += between;
}

double GreedyRollout::distance(const Instant& at, const Eigen::VectorXd& q_target) const {
  const double first = goal_->distance(at.q, q_target);
  if (at.q_worlds.empty()) return first;
  const Eigen::Index rows = goal_->size(), count = 1 + count_deciding();
  Eigen::MatrixXd stacked(count * rows, 1);
  Eigen::VectorXd e;
  Eigen::Index filled = 0;
  const auto add_rows = [&](const Eigen::VectorXd& q) {
    residual_beside(at.q, q, q_target, e);
    stacked.middleRows(filled, rows) = e;
    filled += rows;
  };
  add_rows(at.q);
  for (std::size_t i = 0; i < at.q_worlds.size(); ++i)
    if (steps_->deciding()[i] != 0) add_rows(at.q_worlds[i]);
  stress_spread(rows, count, steps_->ensemble().spread_weight, stacked);
  return stacked.norm() / std::sqrt(static_cast<double>(count));
}

bool GreedyRollout::reached(const Instant& at) const {
  if (!goal_->reached(at.q)) return false;
  for (std::size_t i = 0; i < at.q_worlds.size(); ++i)
    if (steps_->deciding()[i] != 0 && !goal_->reached(at.q_worlds[i])) return false;
  return true;
}

bool GreedyRollout::move(const Motion& motion, const Eigen::VectorXd& u) {
  static_cast<Instant&>(next_) = motion;
  next_.commands.clear();
  if (!steps_->move_to(u, steps_->ensemble().longest_step, next_)) return false;
  return !steps_->has_worlds() || steps_->rest(next_);
}

double GreedyRollout::first_step(const Motion& motion, const Eigen::VectorXd& q_target) {
  if (!choose_command(motion, q_target, settings_->kappa) || !move(motion, motion.u + du_))
    return std::numeric_limits<double>::infinity();
  return distance(next_, q_target);
}

int GreedyRollout::hold_steps() const {
  constexpr double kHold_s = 1;  // as judges of second order wait
  if (!steps_->has_second_order()) return settings_->hold_steps;
  return std::max(settings_->hold_steps, static_cast<int>(std::ceil(kHold_s / steps_->h() - 1e-9)));
}

bool GreedyRollout::holds(Motion& motion) {
  const std::size_t before = motion.commands.size();
  const Instant start = motion;
  for (const bool unloaded : {false, true}) {
    const Eigen::VectorXd u =
        unloaded
            ? Eigen::VectorXd(joint_positions(steps_->scene(), start.q).cwiseMax(hand_->lower).cwiseMin(hand_->upper))
            : start.u;
    // Springs are unloaded no faster than joints may go.
    const Eigen::VectorXd& longest = steps_->ensemble().longest_reach;
    bool held = !unloaded || longest.size() == 0 || steps_->move_to(u, longest, motion);
    for (int k = 0; k < hold_steps() && held; ++k) {
      held = steps_->advance(motion, u, next_) && reached(next_);
      static_cast<Instant&>(motion) = static_cast<const Instant&>(next_);
      motion.commands.push_back(u);
    }
    if (held) return true;
    motion.commands.resize(before);
    static_cast<Instant&>(motion) = start;
  }
  return false;
}

double GreedyRollout::try_shares(const Motion& motion, const Eigen::VectorXd& q_target, double now) {
  double best = std::numeric_limits<double>::infinity();
  for (const double share : kShares) {
    if (!move(motion, motion.u + share * du_)) continue;
    const double after = distance(next_, q_target);
    if (after < best) {
      best = after;
      chosen_ = next_;
    }
    if (after <= (1 - settings_->progress) * now) break;
  }
  return best;
}

RolloutReport GreedyRollout::run(const Eigen::VectorXd& q_target, Motion& motion) {
  RolloutReport report;
  // A transit may have done it already.
  if (reached(motion) && holds(motion)) {
    report.holds_goal = true;
    return report;
  }
  grip_N_ = -1;
  double now = distance(motion, q_target), kappa = settings_->kappa;
  Motion nearest = motion;
  double nearest_distance = now;
  int sharpenings = 0;
  for (int k = 0; k < settings_->rollout_steps; ++k) {
    if (!choose_command(motion, q_target, kappa)) break;
    const double best = try_shares(motion, q_target, now);
    if (!(best <= (1 - settings_->progress_min) * now)) {
      if (sharpenings++ == kSharpenings) break;
      kappa *= kSharper;
      continue;
    }
    static_cast<Instant&>(motion) = chosen_;
    motion.commands.insert(motion.commands.end(), chosen_.commands.begin(), chosen_.commands.end());
    now = best;
    if (now < nearest_distance) {
      nearest = motion;
      nearest_distance = now;
      report.moved = true;
    }
    if (reached(motion) && holds(motion)) {
      report.holds_goal = true;
      return report;
    }
  }
  motion = std::move(nearest);
  return report;
}

}  // namespace deft::planning
