#include "deft/dynamics/complementarity/support_recorder.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "deft/math/row_products.hpp"

namespace deft::dynamics {
namespace {

constexpr double kStill = 1e-9;      // of the commanded motion: what moves less is at rest
constexpr double kNoMotion = 1e-14;  // [m, rad] or less than this
constexpr double kJammed = 1e-3;     // of the motion that robots are commanded to
constexpr double kCarrying = 1e-9;   // of the largest normal force: smaller ones carry nothing

/// Motion of contact i's point along its rows by the displacements `delta` of those velocities for which `counts`.
template <typename Counts>
double point_motion(const contact::ContactProblem& problem, int i, const Eigen::VectorXd& delta, Counts counts) {
  const auto J = problem.J.block(i);
  const auto cols = problem.J.cols(i);
  double squares = 0;
  for (Eigen::Index r = 0; r < J.rows(); ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < cols.size(); ++c)
      if (counts(cols[c])) sum += J(r, static_cast<Eigen::Index>(c)) * delta(cols[c]);
    squares += sum * sum;
  }
  return std::sqrt(squares);
}

}  // namespace

SupportRecorder::SupportRecorder(const scene::Scene& scene) : scene_(&scene) {
  if (scene.settings().step.model != scene::ModelKind::kLimitSurface) return;
  for (const scene::Object& object : scene.objects()) {
    if (object.frozen) continue;
    supports_.emplace_back(scene, object);
    bodies_.push_back(supports_.back().body());
  }
  robot_v_.assign(scene.nv(), 0);
  for (const int v : scene.actuated()) robot_v_[v] = 1;
}

/// JᵀΛ of contacts and joint limits. Prescribed joints (lower = upper) are the robots' own.
void SupportRecorder::sum_forces(const StepResult& result) {
  F_.setZero(scene_->nv());
  double largest = 0;
  for (int i = 0; i < result.problem.J.size(); ++i) {
    const auto& f = result.solution.force[i];
    largest = std::max(largest, f[0]);
    add_transposed(result.problem.J, i, f, F_);
  }
  loaded_ = kCarrying * largest;
  const Eigen::VectorXd& bounds = result.solution.bound_multipliers;
  for (Eigen::Index v = 0; v < bounds.size(); ++v)
    if (robot_v_[v] == 0) F_(v) += bounds(v);
}

bool SupportRecorder::is_jammed(const SupportFriction& support, const StepResult& result) const {
  const auto of_object = [&](int v) { return v >= support.first_v() && v < support.first_v() + support.nv(); };
  const auto of_robot = [&](int v) { return robot_v_[v] != 0; };
  double commanded = 0, moved = 0;
  for (int i = 0; i < result.problem.J.size(); ++i) {
    const auto cols = result.problem.J.cols(i);
    if (result.solution.force[i][0] <= loaded_ || std::none_of(cols.begin(), cols.end(), of_object)) continue;
    moved = std::max(moved, point_motion(result.problem, i, result.delta, of_object));
    commanded = std::max(commanded, point_motion(result.problem, i, commanded_, of_robot));
  }
  return commanded > kNoMotion && moved <= kJammed * commanded;
}

void SupportRecorder::record(const scene::SceneState& start, const Eigen::VectorXd& u, double h,
                             const StepResult& result, std::vector<SupportRecord>& records) {
  if (supports_.empty()) return;
  const bool solved = solvers::usable(result.status);
  if (solved) sum_forces(result);
  commanded_.setZero(scene_->nv());
  for (int i = 0; i < scene_->nu(); ++i) commanded_(scene_->actuated()[i]) = h * u(i);
  for (SupportFriction& support : supports_) {
    SupportRecord& record = records.emplace_back();
    const bool moves = solved && result.delta.segment(support.first_v(), support.nv()).lpNorm<Eigen::Infinity>() >
                                     kStill * commanded_.norm() + kNoMotion;
    Eigen::Vector3d V = Eigen::Vector3d::Zero();
    support.place(start);
    if (moves) V = support.twist(result.delta);
    const Eigen::Matrix3d K = support.body_form(V), A = K.llt().solve(Eigen::Matrix3d::Identity());
    for (int i = 0, k = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) record.form[k++] = 0.5 * (A(i, j) + A(j, i));
    if (!solved) continue;
    record.state = is_jammed(support, result) ? SupportState::kJammed
                   : moves                    ? SupportState::kMoves
                                              : SupportState::kRests;
    const Eigen::Vector3d F = support.body_load(K, F_.segment(support.first_v(), support.nv()));
    const double factor = std::sqrt(F.dot(A * F));
    if (!moves || !(factor > 0) || !std::isfinite(factor)) continue;
    record.factor = factor;
    for (int i = 0; i < 3; ++i) {
      record.load[i] = F(i) / factor;
      record.twist[i] = V(i) / h;
    }
  }
}

}  // namespace deft::dynamics
