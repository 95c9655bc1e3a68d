#include "deft/planning/trajectory/segment_program.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/core/index.hpp"
#include "deft/math/rotation.hpp"
#include "deft/scene/joint_speeds.hpp"

namespace deft::planning {
namespace {

constexpr double kLimitCost = 1e3;    // of what leaves limits, in squared tolerances per rad, m or share of a limit
constexpr double kLeastBound = 1e-6;  // a command may always change so far [rad, m]: bounds must not meet
constexpr double kNearCone = 0.7;     // forces beyond so much of their cone have rows
constexpr double kLeastForce = 1e-3;  // [N], a smaller tangential force has no direction
constexpr double kNearLimit = 0.3;    // joints nearer to their limits have rows [rad, m]

/// Of derivatives by the displacements of all velocities those by the commanded joints: those that follow move along.
Eigen::MatrixXd by_joints(const scene::Scene& scene, const Eigen::MatrixXd& by_all) {
  const auto shares = scene.command_shares();
  Eigen::MatrixXd part = Eigen::MatrixXd::Zero(by_all.rows(), scene.nu());
  for (Eigen::Index v = 0; v < by_all.cols(); ++v)
    if (const scene::CommandShare& share = shares[to_size(v)]; share.command >= 0)
      part.col(share.command) += share.ratio * by_all.col(v);
  return part;
}

}  // namespace

/// Soft rows x·δ + p·u_before + u·u ≤ d at the price ρ.
struct SegmentProgram::Row {
  Eigen::RowVectorXd x, p, u;
  double d = 0, rho = 0;
};

void SegmentProgram::pack(const RowList& list, Eigen::Index nx, Eigen::Index nu,
                          solvers::horizon::HorizonStage& stage) {
  const auto size = static_cast<Eigen::Index>(list.size());
  stage.X.setZero(size, nx);
  stage.P.setZero(size, nu);
  stage.U.setZero(size, nu);
  stage.d.resize(size);
  stage.rho.resize(size);
  for (Eigen::Index k = 0; k < size; ++k) {
    const Row& row = list[to_size(k)];
    stage.X.row(k) = row.x;
    if (row.p.size() > 0) stage.P.row(k) = row.p;
    if (row.u.size() > 0) stage.U.row(k) = row.u;
    stage.d(k) = row.d;
    stage.rho(k) = row.rho;
  }
}

SegmentProgram::SegmentProgram(const SegmentProblem& problem, const Goal& goal, const Hand& hand,
                               const PlanningSteps& steps)
    : problem_(&problem), goal_(&goal), hand_(&hand), steps_(&steps), contacts_(steps.scene()) {
  const scene::Scene& scene = steps.scene();
  std::vector<char> commanded(to_size(scene.nv()), 0);
  for (const scene::Robot& robot : scene.robots()) std::fill_n(commanded.begin() + robot.first_v, robot.nv, 1);
  for (int v = 0; v < scene.nv(); ++v) {
    if (commanded[to_size(v)] == 0) objects_.push_back(v);
  }
  stretch_ = scene::stated_limits(scene, &scene::Robot::effort_limit);
  for (const scene::Robot& robot : scene.robots()) {
    for (int i = 0; i < robot.nu; ++i) {
      double& stretch = stretch_(robot.first_u + i);
      stretch = robot.stiffness(i) > 0 ? stretch / robot.stiffness(i) : kInfinity;
    }
  }
}

Eigen::VectorXd SegmentProgram::errors(const Instant& at) const {
  const Eigen::Index rows = goal_->size();
  Eigen::VectorXd all(worlds(at) * rows), first, between;
  goal_->residual(at.q, problem_->q_target, first);
  all.head(rows) = first;
  for (std::size_t i = 0; i < at.q_worlds.size(); ++i) {
    goal_->residual(at.q_worlds[i], at.q, between);
    all.segment(static_cast<Eigen::Index>(i + 1) * rows, rows) = first + between;
  }
  return all;
}

Eigen::MatrixXd SegmentProgram::spread_matrix(Eigen::Index count) const {
  const double w = problem_->settings.spread_weight, n = static_cast<double>(count);
  const double unit = goal_->tolerance_m();
  const Eigen::Index rows = goal_->size();
  Eigen::MatrixXd S = Eigen::MatrixXd::Zero(count * rows, count * rows);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      const double share = 1 / (n * n) + w * w / n * ((i == j ? 1 : 0) - 1 / n);
      S.block(i * rows, j * rows, rows, rows).diagonal().setConstant(share / (unit * unit));
    }
  }
  return S;
}

double SegmentProgram::distance(const Instant& at) const {
  const Eigen::VectorXd e = errors(at);
  return std::sqrt(std::max(0.0, e.dot(spread_matrix(worlds(at)) * e))) * goal_->tolerance_m();
}

SegmentProgram::ForceExcess SegmentProgram::force_excess(const dynamics::StepResult& step, double& largest) const {
  ForceExcess excess;
  for (std::size_t i = 0; i < step.problem.contacts.size(); ++i) {
    const contact::Contact& contact = step.problem.contacts[i];
    if (!contacts_.contains(contact)) continue;
    const auto& force = step.solution.force[i];
    largest = std::max(largest, force[0]);
    const double beyond = std::hypot(force[1], force[2]) - problem_->settings.cone_share * contact.mu * force[0];
    excess.cone += std::max(0.0, beyond) / force_scale;
    excess.normal = std::max(excess.normal, force[0] / problem_->settings.normal_force - 1);
  }
  return excess;
}

double SegmentProgram::limit_excess(const Eigen::VectorXd& q, const Eigen::VectorXd& u) const {
  const Eigen::VectorXd joints = joint_positions(steps_->scene(), q);
  double excess = std::max((joints - hand_->upper).maxCoeff(), (hand_->lower - joints).maxCoeff());
  for (Eigen::Index i = 0; i < u.size(); ++i) excess = std::max(excess, std::abs(u(i) - joints(i)) - stretch_(i));
  return std::max(0.0, excess);
}

void SegmentProgram::charge(SegmentMotion& motion) const {
  const double unit = goal_->tolerance_m();
  double changes = 0;
  const Eigen::VectorXd* before = &problem_->start.u;
  for (const Eigen::VectorXd& u : motion.knots) {
    changes += (u - *before).squaredNorm();
    before = &u;
  }
  motion.cost = motion.distance * motion.distance / (unit * unit) + problem_->settings.change_weight * changes +
                problem_->settings.force_weight * motion.excess + kLimitCost * motion.violation;
}

Eigen::VectorXd SegmentProgram::displacement(const Instant& nominal, const Instant& at) const {
  const multibody::Model& model = steps_->scene().model();
  const auto rows = static_cast<Eigen::Index>(objects_.size());
  const Eigen::Index count = worlds(at);
  Eigen::VectorXd x(count * rows + steps_->scene().nu());
  const Eigen::VectorXd first = model.difference(nominal.q, at.q);
  x.head(rows) = first(objects_);
  for (std::size_t i = 0; i < at.q_worlds.size(); ++i)
    x.segment(static_cast<Eigen::Index>(i + 1) * rows, rows) =
        model.difference(nominal.q_worlds[i], at.q_worlds[i])(objects_);
  x.tail(steps_->scene().nu()) = joint_positions(steps_->scene(), at.q) - joint_positions(steps_->scene(), nominal.q);
  return x;
}

void SegmentProgram::expand(const SegmentMotion& motion, std::span<const LinearStep> steps, double radius,
                            solvers::horizon::HorizonQp& qp) const {
  const scene::Scene& scene = steps_->scene();
  const Eigen::Index nu = scene.nu(), rows = static_cast<Eigen::Index>(objects_.size());
  const Eigen::Index count = worlds(problem_->start), nx = count * rows + nu;
  const std::size_t knots = motion.knots.size();
  const std::vector<int> joints(scene.actuated().begin(), scene.actuated().end());
  qp.x_start.setZero(nx);
  qp.u_before = problem_->start.u;
  qp.stages.resize(knots + 1);
  for (std::size_t t = 0; t < knots; ++t) {
    solvers::horizon::HorizonStage& stage = qp.stages[t];
    const Eigen::VectorXd& u = motion.knots[t];
    stage.A.setZero(nx, nx);
    stage.B.setZero(nx, nu);
    for (Eigen::Index w = 0; w < count; ++w) {
      const LinearStep& step = steps[to_size(w) * knots + t];
      stage.A.block(w * rows, w * rows, rows, rows) = step.A(objects_, objects_);
      const Eigen::MatrixXd A_joints = by_joints(scene, step.A);
      stage.A.block(w * rows, count * rows, rows, nu) = A_joints(objects_, Eigen::all);
      if (w == 0) stage.A.block(count * rows, count * rows, nu, nu) = A_joints(joints, Eigen::all);
      stage.B.middleRows(w * rows, rows) = step.B(objects_, Eigen::all);
    }
    const LinearStep& first = steps[t];
    stage.A.block(count * rows, 0, nu, rows) = first.A(joints, objects_);
    stage.B.bottomRows(nu) = first.B(joints, Eigen::all);
    stage.c = -stage.B * u;
    stage.Q.setZero(nx, nx);
    stage.q.setZero(nx);
    stage.R.setConstant(nu, 2 * problem_->settings.change_weight);
    stage.lower = (u.array() - radius).max(hand_->lower.array()).min(u.array() - kLeastBound);
    stage.upper = (u.array() + radius).min(hand_->upper.array()).max(u.array() + kLeastBound);
    RowList rows_here;
    if (t > 0) add_limit_rows(motion.at[t].q, nx, rows_here);
    add_force_rows(motion, steps, t, rows_here);
    pack(rows_here, nx, nu, stage);
  }
  expand_end(motion.motion, qp.stages.back());
  RowList rows_at_end;
  add_limit_rows(motion.motion.q, nx, rows_at_end);
  pack(rows_at_end, nx, nu, qp.stages.back());
}

void SegmentProgram::expand_end(const Instant& end, solvers::horizon::HorizonStage& stage) const {
  const Eigen::Index rows = static_cast<Eigen::Index>(objects_.size()), size = goal_->size(), count = worlds(end);
  const Eigen::VectorXd e = errors(end);
  // e(δ) ≈ e − G δ, rotations by Log(Exp(e) Exp(−δ)) ≈ e − J_l(−e)⁻¹ δ.
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(e.size(), count * rows + steps_->scene().nu());
  for (Eigen::Index w = 0; w < count; ++w) {
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(size, rows);
    for (Eigen::Index k = 0; k < size; ++k) {
      const auto column = std::find(objects_.begin(), objects_.end(), goal_->rows()[to_size(k)]) - objects_.begin();
      J(k, column) = 1;
    }
    for (const Goal::FreeRotation& rotation : goal_->free_rotations()) {
      const Eigen::Index entry = rotation.entry;
      const Eigen::Vector3d turn = e.segment<3>(w * size + entry).cwiseQuotient(goal_->weights().segment<3>(entry));
      const auto column = std::find(objects_.begin(), objects_.end(), goal_->rows()[to_size(entry)]) - objects_.begin();
      J.block<3, 3>(entry, column) = left_jacobian_so3(-turn).inverse();
    }
    G.block(w * size, w * rows, size, rows) = goal_->weights().asDiagonal() * J;
  }
  const Eigen::MatrixXd S = spread_matrix(count);
  stage.Q = 2 * G.transpose() * S * G;
  stage.Q = 0.5 * (stage.Q + stage.Q.transpose().eval());
  stage.q = -2 * G.transpose() * (S * e);
}

void SegmentProgram::add_limit_rows(const Eigen::VectorXd& q, Eigen::Index nx, RowList& list) const {
  const Eigen::Index nu = steps_->scene().nu();
  const Eigen::VectorXd joints = joint_positions(steps_->scene(), q);
  // sign (δ_a,i − part · u_before,i) ≤ d.
  const auto add = [&](Eigen::Index i, double sign, double part, double d) {
    Row row{Eigen::RowVectorXd::Zero(nx), Eigen::RowVectorXd::Zero(nu), {}, d, kLimitCost};
    row.x(nx - nu + i) = sign;
    row.p(i) = -sign * part;
    list.push_back(std::move(row));
  };
  for (Eigen::Index i = 0; i < nu; ++i) {
    if (hand_->upper(i) - joints(i) < kNearLimit) add(i, 1, 0, hand_->upper(i) - joints(i));
    if (joints(i) - hand_->lower(i) < kNearLimit) add(i, -1, 0, joints(i) - hand_->lower(i));
    if (!(stretch_(i) < std::numeric_limits<double>::infinity())) continue;
    add(i, 1, 1, stretch_(i) - joints(i));
    add(i, -1, 1, stretch_(i) + joints(i));
  }
}

void SegmentProgram::add_force_rows(const SegmentMotion& motion, std::span<const LinearStep> steps, std::size_t t,
                                    RowList& list) const {
  const scene::Scene& scene = steps_->scene();
  const scene::OptimizeSettings& settings = problem_->settings;
  const Eigen::Index nu = scene.nu(), rows = static_cast<Eigen::Index>(objects_.size());
  const Eigen::Index count = worlds(problem_->start), nx = count * rows + nu;
  const std::size_t knots = motion.knots.size();
  const double price = settings.force_weight / (force_scale * static_cast<double>(knots) * static_cast<double>(count));
  for (Eigen::Index w = 0; w < count; ++w) {
    // by_force · f ≤ bound, f linear in (δ, u).
    const auto add = [&](const LinearForce& force, const Eigen::RowVector3d& by_force, double bound, double rho) {
      Row row{Eigen::RowVectorXd::Zero(nx), {}, by_force * force.by_u, bound - by_force.dot(force.force), rho};
      const Eigen::RowVectorXd by_q = by_force * force.by_q;
      row.x.segment(w * rows, rows) = by_q(objects_);
      row.x.tail(nu) = by_joints(scene, by_q);
      row.d += row.u.dot(motion.knots[t]);
      list.push_back(std::move(row));
    };
    for (const LinearForce& force : steps[to_size(w) * knots + t].grips) {
      const double mu = settings.cone_share * force.mu;
      const Eigen::Vector2d tangential = force.force.tail<2>();
      if (price > 0 && tangential.norm() > std::max(kNearCone * mu * force.force(0), kLeastForce)) {
        const Eigen::Vector2d along = tangential.normalized(), across(-along(1), along(0));
        add(force, {-mu, along(0), along(1)}, 0, price);
        if (scene.plane() == scene::Plane::kSpace) {
          add(force, {-mu, across(0), across(1)}, 0, price);
          add(force, {-mu, -across(0), -across(1)}, 0, price);
        }
      }
      if (settings.normal_force < std::numeric_limits<double>::infinity())
        add(force, {1 / settings.normal_force, 0, 0}, 1, kLimitCost);
    }
  }
}

}  // namespace deft::planning
