#include "deft/control/mixed_integer_mpc.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/body_poses.hpp"
#include "deft/scene/control_table.hpp"

namespace deft::control {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using solvers::Status;
using solvers::lcs::PairMode;

constexpr double kLeastTime_s = 1e-4;  // left to the solver when the program alone took the period

const scene::ControlTable& table_of(const scene::Scene& scene) {
  if (scene.control() == nullptr)
    throw InputError({scene.spec().file, 0, 0},
                     "has no 'control:'; --controller mixed-integer needs N, Q, R and a goal or path there");
  return *scene.control();
}

/// |v| that hard bounds allow, per velocity.
VectorXd speed_bounds(const scene::ControlTable& table, int nv) {
  VectorXd speed(nv);
  for (int i = 0; i < nv; ++i) {
    const bool hard = table.x_price.size() == 0 || std::isinf(table.x_price(nv + i));
    speed(i) = hard ? std::max({std::abs(table.x_min(nv + i)), std::abs(table.x_max(nv + i))}) : kInfinity;
  }
  return speed;
}

}  // namespace

struct MixedIntegerMpc::Impl {
  explicit Impl(const scene::Scene& s)
      : scene(&s),
        table(&table_of(s)),
        linearizer(s),
        speed(speed_bounds(*table, s.nv())),
        solver({.gap = s.settings().control->gap, .threads = s.settings().control->threads}) {
    check_weights();
  }

  const scene::Scene* scene;
  const scene::ControlTable* table;
  SceneLinearizer linearizer;
  VectorXd speed;
  solvers::lcs::LcsMpcSolver solver;
  SceneLcs lcs;
  MpcResult result;
  MatrixXd next_u;  // inputs to start from, nu × N; empty: none
  VectorXd last_u;  // the last command; empty: none

  int N() const { return scene->settings().control->N; }
  void check_weights() const;
  VectorXd no_effort(const dynamics::State& measured) const;
  void build(const dynamics::State& measured, const VectorXd& u);
  void take(const solvers::lcs::LcsMpcResult& found);
  void fall_back(const dynamics::State& measured);
};

/// Everything of the program that does not depend on the state, tried on a system without dynamics.
void MixedIntegerMpc::Impl::check_weights() const {
  const Eigen::Index nx = 2 * scene->nv(), nu = scene->nu();
  solvers::lcs::LcsMpcProgram program;
  program.system = {.A = MatrixXd::Zero(nx, nx),
                    .B = MatrixXd::Zero(nx, nu),
                    .C = MatrixXd::Zero(nx, 0),
                    .F = VectorXd::Zero(nx),
                    .D0 = MatrixXd::Zero(0, nx),
                    .D = MatrixXd::Zero(0, nx),
                    .E = MatrixXd::Zero(0, 0),
                    .H = MatrixXd::Zero(0, nu),
                    .alpha = VectorXd::Zero(0)};
  program.Q = table->Q;
  program.R = table->R;
  program.Qf = table->Qf;
  program.x0 = VectorXd::Zero(nx);
  program.x_goal = MatrixXd::Zero(nx, 2);
  try {
    check(program);
  } catch (const std::invalid_argument& error) {
    throw InputError(scene->settings().control->where, fmt::format("control: {}", error.what()));
  }
}

/// No force where commands are forces, no spring force where they are targets.
VectorXd MixedIntegerMpc::Impl::no_effort(const dynamics::State& measured) const {
  VectorXd u = VectorXd::Zero(scene->nu());
  for (const scene::Robot& robot : scene->robots())
    for (int i = 0; i < robot.nu && robot.drive == scene::Drive::kPosition; ++i)
      u(robot.first_u + i) = measured.q(robot.q(i));
  return u;
}

void MixedIntegerMpc::Impl::build(const dynamics::State& measured, const VectorXd& u) {
  const double h = linearizer.h();
  const PairSelection selection{
      .speed = speed, .time = N() * h, .contact_margin = scene->settings().control->contact_margin};
  linearizer.linearize(measured, u, selection, lcs);
  solvers::lcs::LcsMpcProgram& program = result.program;
  program.system = lcs.system;
  program.N = N();
  program.Q = table->Q;
  program.R = table->R;
  program.Qf = table->Qf;
  program.x0 = lcs.x;
  program.x_goal.resize(lcs.x.size(), N() + 1);
  VectorXd q, v;
  for (int k = 0; k <= N(); ++k) {
    table->reference(scene->model(), measured.t + k * h, h, q, v);
    program.x_goal.col(k) = linearizer.state(measured.q, q, v);
  }
  program.x_min = table->x_min;
  program.x_max = table->x_max;
  program.x_price = table->x_price;
  program.u_min = table->u_min.replicate(1, N());
  program.u_max = table->u_max.replicate(1, N());
  result.pairs = lcs.pairs;
}

void MixedIntegerMpc::Impl::take(const solvers::lcs::LcsMpcResult& found) {
  const solvers::lcs::LinearComplementaritySystem& system = result.program.system;
  result.plan = found.incumbent;
  result.certificate = found.certificate;
  const auto& [x, u, gamma] = result.plan;
  result.slack =
      (system.D0 * x.leftCols(N()) + system.D * x.rightCols(N()) + system.E * gamma + system.H * u).colwise() +
      system.alpha;
  result.modes.clear();
  for (Eigen::Index k = 0; k < gamma.cols(); ++k)
    for (Eigen::Index i = 0; i < gamma.rows(); ++i)
      result.modes.push_back(gamma(i, k) <= result.slack(i, k) ? PairMode::kGammaZero : PairMode::kSlackZero);
  result.u = u.col(0);
  next_u.resize(u.rows(), u.cols());
  next_u.leftCols(N() - 1) = u.rightCols(N() - 1);
  next_u.col(N() - 1) = u.col(N() - 1);
}

void MixedIntegerMpc::Impl::fall_back(const dynamics::State& measured) {
  result.fallback = true;
  result.plan = {};
  result.slack.resize(0, 0);
  result.modes.clear();
  result.certificate = {};
  const bool hold = scene->settings().control->fallback == scene::Fallback::kHold && last_u.size() > 0;
  result.u = hold ? last_u : no_effort(measured);
  next_u.resize(0, 0);
}

MixedIntegerMpc::MixedIntegerMpc(const scene::Scene& scene) : impl_(std::make_unique<Impl>(scene)) {}
MixedIntegerMpc::~MixedIntegerMpc() = default;
MixedIntegerMpc::MixedIntegerMpc(MixedIntegerMpc&&) noexcept = default;
MixedIntegerMpc& MixedIntegerMpc::operator=(MixedIntegerMpc&&) noexcept = default;

const MpcResult& MixedIntegerMpc::control(const dynamics::State& measured) {
  Impl& s = *impl_;
  const Stopwatch watch;
  MpcResult& result = s.result;
  result.fallback = false;
  s.build(measured, s.next_u.cols() > 0   ? VectorXd(s.next_u.col(0))
                    : s.last_u.size() > 0 ? s.last_u
                                          : s.no_effort(measured));
  const double limit_s = s.scene->settings().control->time_limit_s;
  s.solver.settings().time_limit_s = std::max(limit_s - 1e-6 * watch.microseconds(), std::min(limit_s, kLeastTime_s));
  // Without a last plan: the command that is safe, all along.
  s.solver.suggest(s.next_u.cols() > 0
                       ? s.next_u
                       : (s.last_u.size() > 0 ? s.last_u : s.no_effort(measured)).replicate(1, s.N()).eval());
  const solvers::lcs::LcsMpcResult& found = s.solver.solve(result.program);
  result.status = found.status;
  result.cost = found.cost;
  result.bound = found.bound;
  result.gap = found.gap;
  result.nodes = found.nodes;
  if (found.has_incumbent)
    s.take(found);
  else
    s.fall_back(measured);
  s.last_u = result.u;
  result.time_s = 1e-6 * watch.microseconds();
  return result;
}

void MixedIntegerMpc::reset() {
  impl_->next_u.resize(0, 0);
  impl_->last_u.resize(0);
  impl_->solver.forget();
}

int MixedIntegerMpc::horizon() const { return impl_->N(); }
std::vector<std::string> MixedIntegerMpc::names_x() const { return state_names(*impl_->scene); }

dynamics::HorizonRecord record_of(const MpcResult& result, const scene::Scene& scene, const VectorXd& q) {
  const auto flat = [](const MatrixXd& matrix, int rows, int cols) {
    std::vector<double> values(to_size(rows) * to_size(cols), std::numeric_limits<double>::quiet_NaN());
    if (matrix.size() > 0) std::copy_n(matrix.data(), matrix.size(), values.begin());
    return values;
  };
  dynamics::HorizonRecord record;
  const int pairs = static_cast<int>(result.pairs.size()), nv = scene.nv(), N = result.program.N;
  record.x = flat(result.plan.x, 2 * nv, N + 1);
  record.u = flat(result.plan.u, scene.nu(), N);
  record.X_WB = flat({}, 7 * static_cast<int>(scene.names_bodies().size()), N + 1);
  scene::SceneState state = scene.make_state();
  for (int k = 0; k <= N && !result.fallback; ++k) {
    const auto poses =
        dynamics::poses_after(scene, q, result.plan.x.col(k).head(nv) - result.plan.x.col(0).head(nv), state);
    for (std::size_t b = 0; b < poses.size(); ++b)
      std::copy_n(poses[b].begin(), 7,
                  record.X_WB.begin() + static_cast<std::ptrdiff_t>(7 * (to_size(k) * poses.size() + b)));
  }
  record.pairs = result.pairs;
  record.gamma = flat(result.plan.gamma.transpose(), N, pairs);
  record.slack = flat(result.slack.transpose(), N, pairs);
  record.cost = result.cost;
  record.bound = result.bound;
  record.gap = result.gap;
  record.nodes = result.nodes;
  record.time_s = result.time_s;
  record.status = static_cast<int>(result.status);
  record.fallback = result.fallback;
  return record;
}

}  // namespace deft::control
