#include "deft/dynamics/derivatives/step_directions.hpp"

#include <algorithm>
#include <cmath>

#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/math/rotation.hpp"
#include "deft/math/row_products.hpp"

namespace deft::dynamics {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// ∂(J_l(w) z)/∂w of the left Jacobian J_l = 1 + a[w] + b[w]²,  a = (1 − cos θ)/θ², b = (θ − sin θ)/θ³, θ = ‖w‖.
Eigen::Matrix3d left_jacobian_rate(const Vector3d& w, const Vector3d& z) {
  const double s = w.squaredNorm(), angle = std::sqrt(s);
  double a, b, da, db;  // da, db: by ½θ²
  if (angle < 0.05) {
    a = 0.5 - s / 24 + s * s / 720;
    b = 1.0 / 6 - s / 120 + s * s / 5040;
    da = -1.0 / 12 + s / 180 - s * s / 6720;
    db = -1.0 / 60 + s / 1260 - s * s / 60480;
  } else {
    a = (1 - std::cos(angle)) / s;
    b = (angle - std::sin(angle)) / (s * angle);
    da = (std::sin(angle) / angle - 2 * a) / s;
    db = ((1 - std::cos(angle)) / s - 3 * b) / s;
  }
  const Vector3d wz = w.cross(z), wwz = w.cross(wz);
  return -a * skew(z) - b * (skew(wz) + skew(w) * skew(z)) + (da * wz + db * wwz) * w.transpose();
}

}  // namespace

StepDirections::StepDirections(const scene::Scene& scene)
    : scene_(&scene),
      rows_(scene),
      energy_(scene),
      stiffness_(command_stiffness(scene)),
      energy_q_(scene.nv(), scene.nv()),
      energy_v_(scene.nv(), scene.nv()),
      rotations_(rotation_blocks(scene.model())) {}

void StepDirections::update(const EnergyPoint& at, const solvers::contact::ContactProgram& program,
                            const solvers::contact::ContactSolution& solution, bool configuration,
                            contact::DerivativeParts parts, const LinearizedAbout* about) {
  about_ = about;
  has_q_ = configuration;
  has_v_ = configuration && at.second_order();
  has_bounds_ = configuration && program.lower.size() > 0;
  nv_ = program.nv;
  num_rows_ = 0;
  first_row_.clear();
  for (int i = 0; i < program.J.size(); ++i) {
    first_row_.push_back(num_rows_);
    num_rows_ += program.J.rows(i);
  }
  list_saturations(program);
  if (!configuration) return;
  if (about != nullptr)
    update_about(at, program, solution, parts);
  else
    rows_.differentiate(at.state, contact::assemble_options(scene_->settings().step), at.result.problem, at.delta,
                        solution.force, contacts_, parts);
  energy_.jacobians(at, energy_q_, energy_v_);
}

/// Rows at q₁ are φ(q₁)e₁ + σ(q, q₁) + J(q₁)y with y = Γ(δ₀)(δ − δ₀), forces push by Γ(δ₀)ᵀJ(q₁)ᵀf.
void StepDirections::update_about(const EnergyPoint& at, const solvers::contact::ContactProgram& program,
                                  const solvers::contact::ContactSolution& solution, contact::DerivativeParts parts) {
  const int nv = scene_->nv();
  const VectorXd& motion = about_->motion;
  J_ = program.J;
  past_ = at.delta - motion;
  pushed_.setZero(nv);
  for (int i = 0; i < program.J.size(); ++i) add_transposed(program.J, i, solution.force[i], pushed_);
  q_rates_ = about_->rates;
  y_rates_ = -about_->rates;
  tau_rates_.setZero(nv, about_->rates.cols());
  for (const int v : rotations_) {
    const Vector3d turn = motion.segment<3>(v), z = past_.segment<3>(v);
    const Eigen::Matrix3d gamma = left_jacobian_so3(turn), inverse = gamma.inverse();
    const Eigen::Matrix3d y_rate = inverse * left_jacobian_rate(turn, z);
    // J_l(w)ᵀ = J_l(−w).
    const Vector3d torque = inverse.transpose() * pushed_.segment<3>(v);
    const Eigen::Matrix3d tau_rate = -left_jacobian_rate(-turn, torque);
    const auto rates = about_->rates.middleRows<3>(v);
    q_rates_.middleRows<3>(v).noalias() = gamma * rates;
    y_rates_.middleRows<3>(v).noalias() += y_rate * rates;
    tau_rates_.middleRows<3>(v).noalias() = tau_rate * rates;
    past_.segment<3>(v) = gamma * z;
  }
  q_rates_.leftCols(nv).diagonal().array() += 1;
  for (const int v : rotations_)
    q_rates_.block<3, 3>(v, v) += exp_so3(motion.segment<3>(v)) - Eigen::Matrix3d::Identity();
  rows_.differentiate(about_->state, contact::assemble_options(scene_->settings().step), about_->problem, past_,
                      solution.force, contacts_, parts, &at.state);
}

/// Rows of saturating springs couple a joint to the variables behind the scene's own.
void StepDirections::list_saturations(const solvers::contact::ContactProgram& program) {
  saturations_.clear();
  const auto& rows = program.linear.rows;
  const auto actuated = scene_->actuated();
  for (int i = 0; i < rows.size(); ++i) {
    const auto cols = rows.cols(i);
    if (cols.size() < 2 || cols[0] >= scene_->nv() || cols[1] < scene_->nv()) continue;
    const auto command = std::find(actuated.begin(), actuated.end(), cols[0]) - actuated.begin();
    saturations_.push_back({cols[0], cols[1], static_cast<int>(command)});
  }
}

void StepDirections::clear(Index columns, solvers::contact::ProgramChange& change) const {
  change.gradient.setZero(nv_, columns);
  change.rows.setZero(num_rows_, columns);
  for (auto* bounds : {&change.lower, &change.upper}) bounds->setZero(has_bounds_ ? nv_ : 0, has_bounds_ ? columns : 0);
}

void StepDirections::along_units(solvers::contact::ProgramChange& change) {
  const int nv = scene_->nv(), nu = scene_->nu(), n = has_q_ ? nv : 0, first_u = n + (has_v_ ? nv : 0);
  clear(first_u + nu, change);
  auto& gradient = change.gradient;
  const auto actuated = scene_->actuated();
  for (int i = 0; i < nu; ++i) gradient(actuated[i], first_u + i) -= stiffness_(i);
  if (has_q_) gradient.topLeftCorner(nv, nv) = energy_q_;
  if (has_v_) gradient.block(0, nv, nv, nv) = energy_v_;
  // A spring that may saturate pulls on its own variable: K(q + y − u) there instead of K(q + δ − u).
  const auto move_pull = [&](const Saturation& s, int column, double pull) {
    gradient(s.velocity, column) -= pull;
    gradient(s.variable, column) += pull;
  };
  for (const Saturation& s : saturations_) {
    if (has_q_) move_pull(s, s.velocity, stiffness_(s.command));
    move_pull(s, first_u + s.command, -stiffness_(s.command));
  }
  if (!has_q_) return;
  if (about_ != nullptr)
    add_contacts_about(change);
  else
    add_contacts(change);
  if (!has_bounds_) return;
  const auto velocities = scene_->model().velocities();
  for (int v = 0; v < nv; ++v)
    if (velocities[v].q_index >= 0) change.lower(v, v) = -1;
  change.upper = change.lower;
}

/// What contacts that are linearised where the step starts add to the columns of q.
void StepDirections::add_contacts(solvers::contact::ProgramChange& change) const {
  auto& gradient = change.gradient;
  for (const auto& entry : contacts_.dtau_columns) gradient(entry.row, entry.col) -= entry.value;
  for (int i = 0; i < contacts_.ds.size(); ++i) {
    const auto cols = contacts_.ds.cols(i);
    const auto ds = contacts_.ds.block(i);
    const auto dtau = contacts_.dtau.block(i);
    for (Index r = 0; r < ds.rows(); ++r) {
      for (std::size_t c = 0; c < cols.size(); ++c)
        change.rows(first_row_[i] + r, cols[c]) = ds(r, static_cast<Index>(c));
    }
    for (std::size_t r = 0; r < cols.size(); ++r) {
      for (std::size_t c = 0; c < cols.size(); ++c)
        gradient(cols[r], cols[c]) -= dtau(static_cast<Index>(r), static_cast<Index>(c));
    }
  }
}

/// The same about a motion: by all columns, which all move q₁.
void StepDirections::add_contacts_about(solvers::contact::ProgramChange& change) {
  const int nv = scene_->nv();
  tau_.setZero(nv, q_rates_.cols());
  for (const auto& entry : contacts_.dtau_columns) tau_.row(entry.row) += entry.value * q_rates_.row(entry.col);
  for (int i = 0; i < contacts_.ds.size(); ++i) {
    const auto cols = contacts_.ds.cols(i);
    const auto ds = contacts_.ds.block(i), start = contacts_.ds_start.block(i);
    const auto dtau = contacts_.dtau.block(i);
    for (std::size_t k = 0; k < cols.size(); ++k) {
      const auto c = static_cast<Index>(k);
      for (Index r = 0; r < ds.rows(); ++r) {
        change.rows.row(first_row_[i] + r) += ds(r, c) * q_rates_.row(cols[k]);
        change.rows(first_row_[i] + r, cols[k]) += start(r, c);
      }
      for (std::size_t r = 0; r < cols.size(); ++r)
        tau_.row(cols[r]) += dtau(static_cast<Index>(r), c) * q_rates_.row(cols[k]);
    }
    const auto J_cols = J_.cols(i);
    const auto J = J_.block(i);
    for (std::size_t k = 0; k < J_cols.size(); ++k) {
      for (Index r = 0; r < J.rows(); ++r)
        change.rows.row(first_row_[i] + r) += J(r, static_cast<Index>(k)) * y_rates_.row(J_cols[k]);
    }
  }
  for (const int v : rotations_) {
    const Eigen::Matrix3d gamma = left_jacobian_so3(about_->motion.segment<3>(v));
    for (Index c = 0; c < tau_.cols(); ++c) {
      const Vector3d turned = gamma.transpose() * tau_.col(c).segment<3>(v);
      tau_.col(c).segment<3>(v) = turned;
    }
  }
  change.gradient.topRows(nv) -= tau_ + tau_rates_;
}

void StepDirections::along(const VectorXd& dq, const VectorXd& du, solvers::contact::ProgramChange& change) const {
  const int nv = scene_->nv();
  clear(1, change);
  auto gradient = change.gradient.col(0);
  const auto actuated = scene_->actuated();
  for (Index i = 0; i < du.size(); ++i) gradient(actuated[i]) -= stiffness_(i) * du(i);
  if (dq.size() > 0) {
    for (int v = 0; v < nv; ++v) gradient(v) += energy_q_.row(v).dot(dq);
  }
  for (const Saturation& s : saturations_) {
    double pull = 0;
    if (dq.size() > 0) pull += stiffness_(s.command) * dq(s.velocity);
    if (du.size() > 0) pull -= stiffness_(s.command) * du(s.command);
    gradient(s.velocity) -= pull;
    gradient(s.variable) += pull;
  }
  if (dq.size() == 0) return;
  for (const auto& entry : contacts_.dtau_columns) gradient(entry.row) -= entry.value * dq(entry.col);
  for (int i = 0; i < contacts_.ds.size(); ++i) {
    const auto cols = contacts_.ds.cols(i);
    const auto ds = contacts_.ds.block(i);
    const auto dtau = contacts_.dtau.block(i);
    for (std::size_t c = 0; c < cols.size(); ++c) {
      const double moved = dq(cols[c]);
      for (Index r = 0; r < ds.rows(); ++r) change.rows(first_row_[i] + r, 0) += ds(r, static_cast<Index>(c)) * moved;
      for (std::size_t r = 0; r < cols.size(); ++r)
        gradient(cols[r]) -= dtau(static_cast<Index>(r), static_cast<Index>(c)) * moved;
    }
  }
  if (!has_bounds_) return;
  const auto velocities = scene_->model().velocities();
  for (int v = 0; v < nv; ++v)
    if (velocities[v].q_index >= 0) change.lower(v, 0) = -dq(v);
  change.upper = change.lower;
}

void StepDirections::transposed(const solvers::contact::ProgramChange& weights, VectorXd& q_bar,
                                VectorXd& u_bar) const {
  const auto g = weights.gradient.col(0);
  const auto actuated = scene_->actuated();
  u_bar.resize(scene_->nu());
  for (int i = 0; i < scene_->nu(); ++i) u_bar(i) = -stiffness_(i) * g(actuated[i]);
  for (const Saturation& s : saturations_) u_bar(s.command) = -stiffness_(s.command) * g(s.variable);
  if (!has_q_) return;
  for (int v = 0; v < scene_->nv(); ++v) q_bar(v) += energy_q_.col(v).dot(g.head(scene_->nv()));
  for (const Saturation& s : saturations_) q_bar(s.velocity) += stiffness_(s.command) * (g(s.variable) - g(s.velocity));
  for (const auto& entry : contacts_.dtau_columns) q_bar(entry.col) -= entry.value * g(entry.row);
  for (int i = 0; i < contacts_.ds.size(); ++i) {
    const auto cols = contacts_.ds.cols(i);
    const auto ds = contacts_.ds.block(i);
    const auto dtau = contacts_.dtau.block(i);
    for (std::size_t c = 0; c < cols.size(); ++c) {
      double back = 0;
      for (Index r = 0; r < ds.rows(); ++r) back += ds(r, static_cast<Index>(c)) * weights.rows(first_row_[i] + r, 0);
      for (std::size_t r = 0; r < cols.size(); ++r)
        back -= dtau(static_cast<Index>(r), static_cast<Index>(c)) * g(cols[r]);
      q_bar(cols[c]) += back;
    }
  }
  if (!has_bounds_) return;
  const auto velocities = scene_->model().velocities();
  for (int v = 0; v < scene_->nv(); ++v)
    if (velocities[v].q_index >= 0) q_bar(v) -= weights.lower(v, 0) + weights.upper(v, 0);
}

}  // namespace deft::dynamics
