#include "deft/control/tracking_mpc.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "deft/control/motion_prediction.hpp"
#include "deft/core/index.hpp"
#include "deft/math/rotation.hpp"
#include "deft/scene/displacement.hpp"
#include "deft/solvers/horizon/qp_solver.hpp"

namespace deft::control {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

constexpr double kFaster = 2;   // the controller may move joint targets faster than the re-timed plan by this factor
constexpr double kPrice = 1e4;  // of a soft limit that is exceeded, per rad or m, or share of the force limit
constexpr double kObserver_s = 0.5;  // [s], in which, at the end of the path, the price of a deviation that lasts
                                     // fades, and bias is estimated
constexpr double kAsLong = 1e-6;     // relative: knots longer than a step by less are as long
constexpr double kMostBias = 0.05;   // [rad, m], of that offset: more is not play but something in the way
}  // namespace

void check_trackable(const scene::Scene& scene, const scene::TrackSettings& settings) {
  const scene::StepSettings& step = scene.settings().step;
  const auto refuse = [](const std::string& what) { throw InputError({}, "the controller mpc " + what); };
  if (scene.nu() == 0) refuse("has no joints to command: the scene has no robots; valid: robots: [{name, stiffness}]");
  for (const scene::Robot& robot : scene.robots())
    if (robot.drive == scene::Drive::kForce)
      refuse(fmt::format("commands joint targets, but robot '{}' has drive: force; valid: position", robot.name));
  if (step.model != scene::ModelKind::kConvex)
    refuse(
        fmt::format("predicts with smoothed steps of first order, but step.model is {}; valid: convex (--model convex)",
                    to_string(step.model)));
  if (step.friction_law != scene::FrictionLaw::kAssociated)
    refuse("predicts with the associated law of friction, but step.friction_law is coulomb; valid: associated");
  const scene::TrackPrediction prediction = settings.prediction;
  if (settings.linearization == scene::TrackLinearization::kReference &&
      (prediction == scene::TrackPrediction::kSecondOrder || prediction == scene::TrackPrediction::kCorrected))
    refuse(
        fmt::format("takes no measured motion into account with track.linearization: reference, but "
                    "track.prediction is {}; valid: quasidynamic, or track.linearization: measured",
                    to_string(prediction)));
}

struct TrackingMpc::Impl {
  Impl(const scene::Scene& given, const scene::TrackSettings& settings_)
      : scene((check_trackable(given, settings_), given)),
        settings(settings_),
        prediction(scene, settings, linearizes_plan() ? 1 : settings.horizon),
        rotations(dynamics::rotation_blocks(scene.model())),
        roles(velocity_roles(scene)) {
    const auto N = to_size(settings.horizon);
    const Index nv = scene.nv(), nu = scene.nu();
    weight.resize(nv);
    for (Index i = 0; i < nv; ++i) {
      const VelocityRole role = roles[i];
      weight(i) = role == VelocityRole::kPosition   ? settings.position_weight
                  : role == VelocityRole::kRotation ? settings.rotation_weight
                                                    : settings.joint_weight;
    }
    speed = tracking_speeds(scene);
    stiffness.resize(nu);
    effort.setConstant(nu, kInfinity);
    for (const scene::Robot& robot : scene.robots()) {
      stiffness.segment(robot.first_u, robot.nu) = robot.stiffness;
      if (scene.settings().step.effort_limits) effort.segment(robot.first_u, robot.nu) = robot.effort_limit;
    }
    for (Index i = 0; i < nu; ++i)
      if (std::isfinite(effort(i))) limited.push_back(i);
    lower.resize(nu), upper.resize(nu);
    for (Index i = 0; i < nu; ++i) {
      const auto& velocity = scene.model().velocities()[scene.actuated()[i]];
      lower(i) = velocity.lower, upper(i) = velocity.upper;
    }
    steps.resize(N);
    bias.setZero(nu);
    u_end = u_end_step = u_unchanged = bias;
    q_unchanged.setZero(scene.nq());
    q_nominal.assign(N + 1, VectorXd::Zero(scene.nq()));
    q_desired = q_nominal;
    u_nominal.assign(N, VectorXd::Zero(nu));
    u_desired = u_path = u_model = u_nominal;
    v.assign(N, VectorXd::Zero(nu));
    v_next = VectorXd::Zero(nu);
    size_program();
  }

  void size_program() {
    const Index nx = prediction.state_size(), nu = scene.nu();
    const Index rows = 2 * static_cast<Index>(limited.size()) + kWatchedContacts +
                       (std::isfinite(settings.normal_force) ? kWatchedContacts : 0);
    qp.x_start.setZero(nx);
    qp.u_before.setZero(nu);
    qp.stages.resize(to_size(settings.horizon) + 1);
    for (std::size_t k = 0; k < qp.stages.size(); ++k) {
      solvers::horizon::HorizonStage& stage = qp.stages[k];
      const bool last = k + 1 == qp.stages.size();
      const Index m = last ? 0 : rows;
      stage.Q.setZero(nx, nx);
      stage.q.setZero(nx);
      stage.X.setZero(m, nx), stage.U.setZero(m, nu);
      if (settings.change_weight > 0) stage.P.setZero(m, nu);
      stage.d.setConstant(m, kInfinity);
      stage.rho.setConstant(m, kPrice);
      if (last) break;
      stage.A.setZero(nx, nx), stage.B.setZero(nx, nu), stage.c.setZero(nx);
      stage.S.setConstant(nu, 2 * settings.command_weight);
      if (settings.change_weight > 0) stage.R.setConstant(nu, 2 * settings.change_weight);
      stage.lower.setZero(nu), stage.upper.setZero(nu);
    }
  }

  bool linearizes_plan() const { return settings.linearization == scene::TrackLinearization::kReference; }

  bool estimates_drift() const { return settings.prediction == scene::TrackPrediction::kCorrected; }

  void forget_drift() {
    drift.setZero(scene.nv());
    periods = 0;
    if (!estimates_drift()) return;
    const double in_a_step = prediction.h() / settings.period;
    before.resize(to_size(std::max(1, static_cast<int>(std::lround(in_a_step)))));
  }

  /// What objects did in the time of a step beside the step that ends with the command in force; filtered over as long.
  void estimate_drift(const VectorXd& q, const VectorXd& u_now) {
    if (!estimates_drift()) return;
    VectorXd& then = before[periods % before.size()];
    if (periods >= before.size() && prediction.advance(then, {}, u_now, expected)) {
      scene::difference(scene.model(), expected, q, error);
      const double gain = 1 / (1 + static_cast<double>(before.size()));
      for (const scene::Object& object : scene.objects()) {
        auto d = drift.segment(object.first_v, object.nv);
        d += gain * (error.segment(object.first_v, object.nv) - d);
      }
    }
    then = q;
    ++periods;
  }

  double observer_gain() const { return settings.period / (settings.period + kObserver_s); }

  /// Joints do not go where commands say if there is play, sag or lag. What the model takes as the command, u + bias,
  /// is estimated from where they are: a command that is kept should not move them in the model either.
  /// @returns false if the step failed.
  bool estimate_bias(const VectorXd& q, const VectorXd& v_now, const VectorXd& u_now) {
    u_unchanged = u_now + bias;
    if (!prediction.advance(q, v_now, u_unchanged, q_unchanged)) return false;
    for (Index i = 0; i < bias.size(); ++i)
      bias(i) = std::clamp(bias(i) + observer_gain() * (joint(q, i) - joint(q_unchanged, i)), -kMostBias, kMostBias);
    return true;
  }

  /// Where the horizon should go, and the inputs that were found last time, moved along.
  /// At the end of the path the command that deviations are counted from follows the one in force: the price of what
  /// keeps an object in its place fades, and does not hold back the last millimetre.
  void aim(double knot, const VectorXd& u_now) {
    const bool was_at_end = at_end;
    at_end = knot >= path->knots();
    if (at_end) {
      if (!was_at_end) path->command(knot, u_end);
      u_end_step = observer_gain() * (u_now - u_end);
      u_end += u_end_step;
      for (VectorXd& deviation : v) deviation -= u_end_step;
    } else if (was_at_end) {
      bias.setZero();
      for (VectorXd& deviation : v) deviation.setZero();
    }
    const auto N = to_size(settings.horizon);
    const double moved = std::isfinite(last_knot) ? std::clamp(knot - last_knot, 0.0, double(settings.horizon)) : 0.0;
    last_knot = knot;
    for (std::size_t k = 0; k < N; ++k) {
      const double at = std::min(static_cast<double>(k) + moved, static_cast<double>(N - 1));
      const auto i = static_cast<std::size_t>(at);
      const auto j = std::min(i + 1, N - 1);
      v_next = (1 - (at - double(i))) * v[i] + (at - double(i)) * v[j];
      path->command(knot + double(k) + 1, u_path[k]);
      u_desired[k] = at_end ? u_end : u_path[k];
      u_nominal[k] = u_desired[k] + v_next;
    }
    for (std::size_t k = 0; k < N; ++k) v[k] = u_nominal[k] - u_desired[k];
    for (std::size_t k = 0; k <= N; ++k) path->configuration(knot + double(k), q_desired[k]);
  }

  /// The motion that is linearised about. @returns false if a step failed.
  bool predict_motion(const VectorXd& q, const VectorXd& v_now, double knot) {
    const auto N = to_size(settings.horizon);
    if (linearizes_plan()) {
      for (std::size_t k = 0; k < N; ++k) {
        const auto at = static_cast<std::size_t>(std::clamp(knot + double(k), 0.0, double(path->knots())));
        steps[k] = along[at];
        q_nominal[k] = q_desired[k];
        u_model[k] = u_path[k];
      }
      q_nominal[N] = q_desired[N];
      scene::difference(scene.model(), q_nominal[0], q, qp.x_start);
      return true;
    }
    q_nominal[0] = q;
    qp.x_start.setZero();
    for (std::size_t k = 0; k < N; ++k) {
      u_model[k] = u_nominal[k] + bias;
      const double steps_long =
          std::max(1.0, (path->time_at(knot + double(k) + 1) - path->time_at(knot + double(k))) / prediction.h());
      const bool is_slow = steps_long > 1 + kAsLong;
      const VectorXd& v_from = is_slow ? at_rest : k == 0 ? v_now : steps[k - 1].v_next;
      if (!prediction.linearize(static_cast<int>(k), q_nominal[k], v_from, u_model[k], steps[k])) {
        if (k == 0) return false;
        go_on_from(k);
        return true;
      }
      if (is_slow) leave_out_momentum(steps[k]);
      q_nominal[k + 1] = steps[k].q_next;
      steps[k].drift.head(scene.nv()) = steps_long * drift;
    }
    return true;
  }

  /// Where a later step of the horizon fails, as contacts that contradict each other make it, the one before it is
  /// taken in its place and after it.
  void go_on_from(std::size_t failed) {
    for (std::size_t k = failed; k < to_size(settings.horizon); ++k) {
      u_model[k] = u_nominal[k] + bias;
      steps[k] = steps[failed - 1];
      q_nominal[k + 1] = q_nominal[failed];
    }
  }

  /// Of a knot that lasts longer than a step, in which what moves comes to the rest of a quasidynamic one.
  void leave_out_momentum(PredictedStep& step) const {
    if (!prediction.has_momentum()) return;
    const Index nv = scene.nv();
    step.v_next.setZero();
    step.A.rightCols(nv).setZero();
    step.A.bottomRows(nv).setZero();
    step.B.bottomRows(nv).setZero();
    step.force_x.rightCols(nv).setZero();
  }

  /// @returns false if weights times errors are too large for numbers.
  bool expand_cost(std::size_t k, solvers::horizon::HorizonStage& stage) {
    const bool last = k + 1 == qp.stages.size();
    const double factor = last ? settings.terminal_factor : 1;
    scene::difference(scene.model(), q_nominal[k], q_desired[k], error);
    for (Index i = 0; i < error.size(); ++i) {
      const double w = 2 * weight(i) * (roles[i] == VelocityRole::kRobot ? 1 : factor);
      stage.Q(i, i) = w;
      stage.q(i) = -w * error(i);
    }
    for (const int r : rotations) {
      const Eigen::Vector3d e = error.segment<3>(r);
      const Eigen::Matrix3d J = left_jacobian_so3(-e).inverse();
      const Eigen::Vector3d w = stage.Q.diagonal().segment<3>(r);
      stage.Q.block<3, 3>(r, r) = J.transpose() * w.asDiagonal() * J;
      stage.q.segment<3>(r) = -J.transpose() * w.cwiseProduct(e);
    }
    return stage.q.allFinite() && stage.Q.allFinite();
  }

  /// `offset` is that of this step: what is desired beside what is linearised about.
  void add_rows(std::size_t k, solvers::horizon::HorizonStage& stage) {
    const PredictedStep& step = steps[k];
    // Inputs are differences from what is desired: u = u_desired + v; the model sees u + bias.
    Index row = 0;
    for (const Index i : limited) {  // |u − q⁺| ≤ effort/K
      const Index a = scene.actuated()[i];
      const double stretch =
          u_desired[k](i) + bias(i) - joint(q_nominal[k + 1], i) - step.drift(a) - step.B.row(a).dot(offset);
      for (const double sign : {1.0, -1.0}) {
        stage.X.row(row) = -sign * step.A.row(a);
        stage.U.row(row) = -sign * step.B.row(a);
        stage.U(row, i) += sign;
        stage.d(row) = effort(i) / stiffness(i) - sign * stretch;
        ++row;
      }
    }
    // A grip must not be lost to a correction: what the plan's command would press with here is kept in part, and the
    // linear model of a force never pulls. Nor may it push more than is allowed.
    to_path = u_path[k] + bias - u_model[k];
    for (Index c = 0; c < kWatchedContacts; ++c, ++row) {
      const double planned = step.force(c) + step.force_u.row(c).dot(to_path);
      watch(step, c, -1, -settings.kept_force * std::clamp(planned, 0.0, settings.normal_force), stage, row);
    }
    if (!std::isfinite(settings.normal_force)) return;
    for (Index c = 0; c < kWatchedContacts; ++c, ++row) watch(step, c, 1 / settings.normal_force, 1, stage, row);
  }

  /// factor · (force of contact c) ≤ limit.
  void watch(const PredictedStep& step, Index c, double factor, double limit, solvers::horizon::HorizonStage& stage,
             Index row) const {
    stage.X.row(row) = factor * step.force_x.row(c);
    stage.U.row(row) = factor * step.force_u.row(c);
    stage.d(row) = c < step.num_forces ? limit - factor * (step.force(c) + step.force_u.row(c).dot(offset)) : kInfinity;
  }

  double joint(const VectorXd& q, Index command) const { return q(scene.command_coordinates()[command]); }

  /// Bounds of v: limits of joints and, for the first input, of how far it gets in time, come before the distance from
  /// the plan's command.
  void bound(std::size_t k, const VectorXd& u_now, double time_to_next, solvers::horizon::HorizonStage& stage) const {
    const bool first_step = k == 0;
    for (Index i = 0; i < scene.nu(); ++i) {
      const double change = first_step ? kFaster * speed(i) * time_to_next : kInfinity;
      const double now = std::clamp(u_now(i), lower(i), upper(i));
      const double low = std::max(lower(i), now - change), high = std::min(upper(i), now + change);
      const double wish_low = u_path[k](i) - settings.command_offset,
                   wish_high = u_path[k](i) + settings.command_offset;
      double first = std::max(low, wish_low), second = std::min(high, wish_high);
      if (first > second) first = second = wish_low > high ? high : low;
      constexpr double kWidening = 1e-9;  // [rad, m]; the program needs lower < upper
      stage.lower(i) = first - u_desired[k](i) - kWidening;
      stage.upper(i) = second - u_desired[k](i) + kWidening;
    }
  }

  scene::Scene scene;
  scene::TrackSettings settings;
  MotionPrediction prediction;  // of one step if they are taken about the plan
  std::vector<int> rotations;
  std::vector<VelocityRole> roles;
  VectorXd weight, speed, stiffness, effort, lower, upper;
  std::vector<Index> limited;  // commands with a limit of effort
  const ReferencePath* path = nullptr;
  std::vector<PredictedStep> along;  // at the knots of the path, for linearisation about the plan
  bool along_ok = true;
  std::vector<PredictedStep> steps;
  std::vector<VectorXd> q_nominal, q_desired, u_nominal, v;
  std::vector<VectorXd> u_path, u_desired, u_model;  // the plan's; what deviations are counted from; what is linearised
                                                     // about
  bool at_end = false;  // of the path: u_end takes the place of u_path, and bias is estimated
  VectorXd u_end, u_end_step, bias, u_unchanged, q_unchanged;
  VectorXd drift;                // of objects in a step, that the prediction leaves out; size nv
  std::vector<VectorXd> before;  // ring: the estimates of a step's time
  VectorXd expected;             // where a step leads from the oldest of them
  std::size_t periods = 0;       // since they were forgotten
  VectorXd at_rest;              // size 0: no velocity
  VectorXd v_next, error, offset, to_path;
  double last_knot = std::numeric_limits<double>::quiet_NaN();
  solvers::horizon::HorizonQp qp;
  solvers::horizon::HorizonQpSolver solver;
  solvers::horizon::HorizonSolution solution;
  TrackingResult out;
};

TrackingMpc::TrackingMpc(const scene::Scene& scene, const scene::TrackSettings& settings)
    : impl_(new Impl(scene, settings)) {}
TrackingMpc::~TrackingMpc() = default;

void TrackingMpc::pause() { impl_->forget_drift(); }

int TrackingMpc::horizon() const { return impl_->settings.horizon; }

void TrackingMpc::follow(const ReferencePath& path) {
  Impl& m = *impl_;
  m.path = &path;
  m.last_knot = std::numeric_limits<double>::quiet_NaN();
  m.at_end = false;
  m.bias.setZero();
  for (VectorXd& v : m.v) v.setZero();
  m.along.clear();
  m.along_ok = true;
  m.forget_drift();
  if (!m.linearizes_plan()) return;
  const TrackedPlan& plan = path.plan();
  m.along.resize(plan.q.size());
  for (std::size_t k = 0; k < plan.q.size(); ++k)
    m.along_ok =
        m.prediction.linearize(0, plan.q[k], {}, plan.u[std::min(k, plan.u.size() - 1)], m.along[k]) && m.along_ok;
  // A plan stops where it ends; a step under its last command need not.
  if (m.along_ok) scene::difference(m.scene.model(), plan.q.back(), m.along.back().q_next, m.along.back().drift);
}

const TrackingResult& TrackingMpc::control(const VectorXd& q, double knot, const VectorXd& u_now, double time_to_next,
                                           const VectorXd& velocity) {
  Impl& m = *impl_;
  if (m.path == nullptr) throw std::invalid_argument("tracking: there is no path to follow");
  if (q.size() != m.scene.nq() || u_now.size() != m.scene.nu() || !q.allFinite() || !u_now.allFinite())
    throw std::invalid_argument("tracking: configuration and command must have the scene's sizes and be finite");
  if (velocity.size() != 0 && (velocity.size() != m.scene.nv() || !velocity.allFinite()))
    throw std::invalid_argument("tracking: the velocity must have size nv and be finite");
  m.out.u = u_now;
  m.out.status = TrackingStatus::kModelFailed;
  m.out.program_iterations = 0;
  m.aim(knot, u_now);
  m.estimate_drift(q, u_now);
  if (!m.along_ok || (m.at_end && !m.estimate_bias(q, velocity, u_now)) || !m.predict_motion(q, velocity, knot)) {
    for (VectorXd& v : m.v) v.setZero();
    m.forget_drift();
    return m.out;
  }
  m.out.contacts = m.steps.front().contacts;
  m.path->command(knot, m.offset);
  m.qp.u_before = u_now - (m.at_end ? m.u_end : m.offset);
  bool finite = true;
  for (std::size_t k = 0; k < m.qp.stages.size(); ++k) {
    solvers::horizon::HorizonStage& stage = m.qp.stages[k];
    finite = m.expand_cost(k, stage) && finite;
    if (k + 1 == m.qp.stages.size()) break;
    stage.A = m.steps[k].A;
    stage.B = m.steps[k].B;
    m.offset = m.u_desired[k] + m.bias - m.u_model[k];
    stage.c = m.steps[k].drift;
    stage.c.noalias() += stage.B * m.offset;
    m.bound(k, u_now, time_to_next, stage);
    m.add_rows(k, stage);
  }
  // What bound last time binds again, most likely.
  if (finite) m.solver.solve(m.qp, {.start = solvers::horizon::HorizonStart::kSolution, .feedback = false}, m.solution);
  m.out.program_iterations = finite ? m.solution.iterations : 0;
  if (!finite || m.solution.status != solvers::horizon::HorizonStatus::kSolved) {
    m.out.status = TrackingStatus::kSolverFailed;
    for (VectorXd& v : m.v) v.setZero();
    m.forget_drift();
    return m.out;
  }
  for (std::size_t k = 0; k < m.v.size(); ++k) m.v[k] = m.solution.u[k];
  m.out.u = m.u_desired.front() + m.v.front();
  m.out.status = TrackingStatus::kSolved;
  return m.out;
}

}  // namespace deft::control
