#include "deft/planning/trajectory/trajectory_program.hpp"

#include <fmt/core.h>

#include <Eigen/LU>
#include <algorithm>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/math/rotation.hpp"

namespace deft::planning {

using Eigen::Index;
using Eigen::VectorXd;

TrajectoryProgram::TrajectoryProgram(const scene::Scene& scene, const TrajectoryProblem& problem)
    : scene_(&scene), problem_(&problem), rotations_(dynamics::rotation_blocks(scene.model())), stiffness_(scene.nu()) {
  for (const scene::Robot& robot : scene.robots()) stiffness_.segment(robot.first_u, robot.nu) = robot.stiffness;
  check();
}

void TrajectoryProgram::check() const {
  const auto size = [](const char* what, Index have, Index need) {
    if (have != need)
      throw std::invalid_argument(fmt::format("trajectory: {} has size {}, needs {}", what, have, need));
  };
  const auto range = [](const char* what, bool ok, const char* valid) {
    if (!ok) throw std::invalid_argument(fmt::format("trajectory: {} must be {}", what, valid));
  };
  const TrajectoryProblem& p = *problem_;
  const Index nq = scene_->nq(), nv = scene_->nv(), nu = scene_->nu();
  range("steps", p.steps >= 1, "at least 1");
  size("q_start", p.q_start.size(), nq);
  size("u_before", p.u_before.size(), nu);
  range("q_desired", p.q_desired.size() == 1 || std::ssize(p.q_desired) == p.steps + 1,
        "one configuration or steps + 1 of them");
  for (const VectorXd& q : p.q_desired) size("a configuration of q_desired", q.size(), nq);
  size("state_weight", p.state_weight.size(), nv);
  size("final_weight", p.final_weight.size(), nv);
  size("command_weight", p.command_weight.size(), nu);
  range("state_weight", (p.state_weight.array() >= 0).all(), "0 or more");
  range("final_weight", (p.final_weight.array() >= 0).all(), "0 or more");
  range("command_weight", (p.command_weight.array() > 0).all(), "positive");
  const TrajectoryLimits& l = p.limits;
  const auto optional = [&](const char* what, const VectorXd& limit, bool positive) {
    if (limit.size() == 0) return;
    size(what, limit.size(), nu);
    range(what, !positive || (limit.array() > 0).all(), "positive");
  };
  optional("u_lower", l.u_lower, false);
  optional("u_upper", l.u_upper, false);
  optional("change", l.change, true);
  optional("offset", l.offset, true);
  optional("q_lower", l.q_lower, false);
  optional("q_upper", l.q_upper, false);
  optional("effort", l.effort, true);
  range("normal_force", l.normal_force > 0, "positive");
  range("weight", l.weight > 0, "positive");
  if (l.u_lower.size() > 0 && l.u_upper.size() > 0)
    range("u_lower", (l.u_lower.array() < l.u_upper.array()).all(), "below u_upper");
  for (int i = 0; i < scene_->nu(); ++i) {
    const double change = l.change.size() > 0 ? l.change(i) : kInfinity;
    const bool below = l.u_lower.size() > 0 && p.u_before(i) + change <= l.u_lower(i);
    const bool above = l.u_upper.size() > 0 && p.u_before(i) - change >= l.u_upper(i);
    if (below || above)
      throw std::invalid_argument(fmt::format(
          "trajectory: command {} begins at {}, from where one change does not reach its limits", i, p.u_before(i)));
  }
}

const VectorXd& TrajectoryProgram::desired(std::size_t t) const {
  return problem_->q_desired[problem_->q_desired.size() == 1 ? 0 : t];
}

const VectorXd& TrajectoryProgram::weight(std::size_t t) const {
  return t < to_size(problem_->steps) ? problem_->state_weight : problem_->final_weight;
}

double TrajectoryProgram::joint(const VectorXd& q, int command) const {
  return q(scene_->command_coordinates()[command]);
}

void TrajectoryProgram::clamp(const VectorXd& q, const VectorXd& u_before, VectorXd& u) const {
  const TrajectoryLimits& l = problem_->limits;
  for (int i = 0; i < scene_->nu(); ++i) {
    if (l.offset.size() > 0) u(i) = std::clamp(u(i), joint(q, i) - l.offset(i), joint(q, i) + l.offset(i));
    if (l.change.size() > 0) u(i) = std::clamp(u(i), u_before(i) - l.change(i), u_before(i) + l.change(i));
    if (l.u_lower.size() > 0) u(i) = std::max(u(i), l.u_lower(i));
    if (l.u_upper.size() > 0) u(i) = std::min(u(i), l.u_upper(i));
  }
}

void TrajectoryProgram::charge(double excess, CommandedMotion& motion) const {
  if (excess <= 0) return;
  motion.violation = std::max(motion.violation, excess);
  motion.merit += problem_->limits.weight * excess;
}

void TrajectoryProgram::charge_force(double normal_force, CommandedMotion& motion) const {
  charge(normal_force / problem_->limits.normal_force - 1, motion);
}

void TrajectoryProgram::evaluate(CommandedMotion& motion) const {
  motion.cost = motion.merit = motion.violation = 0;
  for (std::size_t t = 0; t < motion.q.size(); ++t) add_stage(t, motion);
}

void TrajectoryProgram::add_stage(std::size_t t, CommandedMotion& motion) const {
  const TrajectoryLimits& l = problem_->limits;
  const VectorXd e = scene_->model().difference(motion.q[t], desired(t));
  double cost = e.dot(weight(t).cwiseProduct(e));
  if (t < to_size(problem_->steps)) {
    const VectorXd change = motion.u[t] - (t == 0 ? problem_->u_before : motion.u[t - 1]);
    cost += change.dot(problem_->command_weight.cwiseProduct(change));
  }
  motion.cost += cost;
  motion.merit += cost;
  if (t == 0) return;
  for (int i = 0; i < scene_->nu(); ++i) {
    const double position = joint(motion.q[t], i);
    if (l.q_lower.size() > 0) charge(l.q_lower(i) - position, motion);
    if (l.q_upper.size() > 0) charge(position - l.q_upper(i), motion);
    if (l.effort.size() > 0) charge(std::abs(motion.u[t - 1](i) - position) - l.effort(i) / stiffness_(i), motion);
  }
}

void TrajectoryProgram::expand(const CommandedMotion& motion, std::span<const LinearStep> steps,
                               solvers::horizon::HorizonQp& qp) const {
  const Index nv = scene_->nv(), nu = scene_->nu();
  const TrajectoryLimits& l = problem_->limits;
  const auto or_infinite = [nu](const VectorXd& limit, double sign) {
    return limit.size() > 0 ? limit : VectorXd::Constant(nu, sign * kInfinity);
  };
  qp.x_start.setZero(nv);
  qp.u_before = problem_->u_before;
  qp.stages.resize(motion.q.size());
  for (std::size_t t = 0; t < motion.q.size(); ++t) {
    solvers::horizon::HorizonStage& stage = qp.stages[t];
    expand_cost(motion.q[t], t, stage);
    const bool last = t == motion.u.size();
    add_rows(motion, last ? nullptr : &steps[t], t, stage);
    if (last) break;
    stage.A = steps[t].A;
    stage.B = steps[t].B;
    stage.c = -steps[t].B * motion.u[t];
    stage.R = 2 * problem_->command_weight;
    stage.lower = or_infinite(l.u_lower, -1);
    stage.upper = or_infinite(l.u_upper, 1);
    stage.change = or_infinite(l.change, 1);
  }
}

void TrajectoryProgram::expand_cost(const VectorXd& q, std::size_t t, solvers::horizon::HorizonStage& stage) const {
  const VectorXd e = scene_->model().difference(q, desired(t)), w = 2 * weight(t);
  stage.Q = w.asDiagonal();
  stage.q = -w.cwiseProduct(e);
  for (const int r : rotations_) {
    const Eigen::Matrix3d J = left_jacobian_so3(-e.segment<3>(r)).inverse();
    stage.Q.block<3, 3>(r, r) = J.transpose() * w.segment<3>(r).asDiagonal() * J;
    stage.q.segment<3>(r) = -J.transpose() * w.segment<3>(r).cwiseProduct(e.segment<3>(r));
  }
}

void TrajectoryProgram::add_rows(const CommandedMotion& motion, const LinearStep* step, std::size_t t,
                                 solvers::horizon::HorizonStage& stage) const {
  const TrajectoryLimits& l = problem_->limits;
  const VectorXd& q = motion.q[t];
  const Index nv = scene_->nv(), nu = scene_->nu();
  struct Row {
    VectorXd x, p, u;
    double d;
  };
  std::vector<Row> rows;
  // sign (x_a x + p_i p + u_i u) ≤ d on the velocity, the command before and the command of joint i.
  const auto add = [&](int i, double x, double p, double u, double d) {
    if (!(d < kInfinity)) return;
    Row row{VectorXd::Zero(nv), VectorXd::Zero(nu), VectorXd::Zero(nu), d};
    row.x(scene_->actuated()[i]) = x;
    row.p(i) = p;
    row.u(i) = u;
    rows.push_back(std::move(row));
  };
  for (int i = 0; i < nu; ++i) {
    const double position = joint(q, i);
    if (t > 0) {
      if (l.q_upper.size() > 0) add(i, 1, 0, 0, l.q_upper(i) - position);
      if (l.q_lower.size() > 0) add(i, -1, 0, 0, position - l.q_lower(i));
      const double stretch = l.effort.size() > 0 ? l.effort(i) / stiffness_(i) : kInfinity;
      add(i, -1, 1, 0, stretch + position);
      add(i, 1, -1, 0, stretch - position);
    }
    if (step != nullptr && l.offset.size() > 0) {
      add(i, -1, 0, 1, l.offset(i) + position);
      add(i, 1, 0, -1, l.offset(i) - position);
    }
  }
  if (step != nullptr && limits_forces()) {
    for (Index k = 0; k < step->force.size(); ++k) {
      const double f = l.normal_force;
      rows.push_back({step->force_q.row(k).transpose() / f, VectorXd::Zero(nu), step->force_u.row(k).transpose() / f,
                      1 - (step->force(k) - step->force_u.row(k).dot(motion.u[t])) / f});
    }
  }
  const auto count = static_cast<Index>(rows.size());
  stage.X.resize(count, nv);
  stage.P.resize(count, nu);
  stage.U.resize(count, nu);
  stage.d.resize(count);
  stage.rho.setConstant(count, l.weight);
  for (Index k = 0; k < count; ++k) {
    const Row& row = rows[k];
    stage.X.row(k) = row.x.transpose();
    stage.P.row(k) = row.p.transpose();
    stage.U.row(k) = row.u.transpose();
    stage.d(k) = row.d;
  }
}

}  // namespace deft::planning
