#include "deft/dynamics/step_derivative.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/dynamics/energy_derivatives.hpp"

namespace deft::dynamics {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kGradientShare =
    1e-6;  // of the step's energy scale: smooth enough to be unique, sharp enough to be the model

/// What derivatives do not know yet. @throws InputError at the scene.
void check_available(const scene::Scene& scene, const StepResult& result) {
  for (const contact::Contact& contact : result.problem.contacts) {
    if (!contact.patch || scene.plane() == scene::Plane::kSpace) continue;
    const auto& e = scene.friction(contact.geometry_a, contact.geometry_b).ellipsoid;
    if (e[0] != e[1])
      throw InputError({scene.spec().file, 0, 0},
                       "not available yet: derivatives of an ellipsoid with e_t ≠ e_o in a plane of motion");
  }
}

}  // namespace

std::vector<int> rotation_blocks(const multibody::Model& model) {
  std::vector<int> blocks;
  const auto velocities = model.velocities();
  for (std::size_t i = 0; i < velocities.size(); ++i) {
    if (velocities[i].q_index >= 0) continue;
    blocks.push_back(static_cast<int>(i));
    i += 2;
  }
  return blocks;
}

StepDifferentiator::StepDifferentiator(const scene::Scene& scene)
    : scene_(&scene),
      state_(scene.make_state()),
      rows_(scene),
      stiffness_(command_stiffness(scene)),
      rotations_(rotation_blocks(scene.model())) {}

void StepDifferentiator::linearize(const State& start, const VectorXd& u, const StepResult& result,
                                   const DerivativeOptions& options) {
  const VectorXd& q = start.q;
  if (q.size() != scene_->nq() || (start.v.size() > 0 && start.v.size() != scene_->nv()) || u.size() != scene_->nu() ||
      result.problem.nv != scene_->nv()) {
    throw std::invalid_argument("step derivative: q, u and the result must be of this scene");
  }
  if (!solvers::usable(result.status)) {
    throw std::invalid_argument(
        fmt::format("step derivative: the step ended as {} and moves nothing", solvers::to_string(result.status)));
  }
  check_available(*scene_, result);
  if (!(options.mu_gradient >= 0) || !std::isfinite(options.mu_gradient))
    throw std::invalid_argument("step derivative: mu_gradient must be ≥ 0");
  options_ = options;
  result_ = result;
  u_ = u;
  start_ = start;
  // Without a velocity in the result the model is of first order.
  if (result.v_next.size() == 0) start_.v.resize(0);
  if (result.v_next.size() > 0 && start_.v.size() == 0) start_.v.setZero(scene_->nv());
  const auto& s = scene_->spec().step.unactuated_mass_scale;
  objects_stay_ = s && *s == 0 && result.v_next.size() == 0;
  is_smoothed_ = false;
  kinks_.clear();
  scene_->update(q, state_);
  if (options.configuration) scene_->find_contacts(scene_->spec().step.contact_margin, state_);
  take_solution();
  if (sensitivity_.is_kink()) smooth();
}

EnergyPoint StepDifferentiator::energy_point() {
  return {*scene_, state_, result_, u_, delta_, *scene_->spec().step.h, start_.t, start_.v};
}

/// Rows of saturating springs couple a joint to the variables behind the scene's own.
void StepDifferentiator::list_saturations() {
  saturations_.clear();
  const auto& rows = result_.program.linear.rows;
  const auto actuated = scene_->actuated();
  for (int i = 0; i < rows.size(); ++i) {
    const auto cols = rows.cols(i);
    if (cols.size() < 2 || cols[0] >= scene_->nv() || cols[1] < scene_->nv()) continue;
    const auto command = std::find(actuated.begin(), actuated.end(), cols[0]) - actuated.begin();
    saturations_.push_back({cols[0], cols[1], static_cast<int>(command)});
  }
}

void StepDifferentiator::take_solution() {
  sensitivity_.factor(result_.program, result_.solution, result_.certificate.E0_J);
  delta_ = result_.solution.delta.head(scene_->nv());
  list_saturations();
  if (!options_.configuration) return;
  rows_.differentiate(state_, {.midpoint_forces = scene_->spec().step.midpoint_forces}, result_.problem, delta_,
                      result_.solution.force, contacts_);
  const EnergyPoint at = energy_point();
  energy_configuration_jacobian(at, energy_q_);
  if (at.second_order()) energy_velocity_jacobian(at, energy_v_);
  // Kinks of the geometry count where a force depends on them.
  kinks_.clear();
  const bool pyramid = result_.program.model == solvers::FrictionModel::kPyramid;
  for (std::size_t i = 0; i < contacts_.kinks.size(); ++i) {
    if (result_.solution.force[i][0] == 0) continue;
    if (contacts_.kinks[i] != collision::Kink::kNone)
      kinks_.push_back(fmt::format("contact {}: {}", i, collision::to_string(contacts_.kinks[i])));
    if (pyramid && contacts_.frame_ties[i] != 0 && result_.problem.contacts[i].mu > 0)
      kinks_.push_back(fmt::format("contact {}: frame", i));
  }
}

bool StepDifferentiator::smooth() {
  if (is_smoothed_ || std::isfinite(result_.program.kappa)) return false;
  solvers::ContactProgram program = result_.program;
  const double mu = options_.mu_gradient > 0 ? options_.mu_gradient : kGradientShare * result_.certificate.E0_J;
  program.kappa = 1 / mu;
  solvers::ContactSolution solution;
  solver_.forget();
  if (solver_.solve(program, {}, solution).status != solvers::Status::kSolved)
    return false;  // the one-sided derivative stays
  result_.program = std::move(program);
  result_.solution = std::move(solution);
  is_smoothed_ = true;
  take_solution();
  return true;
}

std::vector<std::string> StepDifferentiator::kinks() const {
  std::vector<std::string> all = kinks_;
  if (is_smoothed_)
    all.push_back(
        fmt::format("strict complementarity fails: gradient at mu_gradient = {:.3g} J", 1 / result_.program.kappa));
  if (!is_smoothed_ && sensitivity_.is_kink()) all.push_back("strict complementarity fails: one-sided");
  if (!sensitivity_.is_unique()) all.push_back("the motion is not unique: least motion");
  return all;
}

// ------------------------------------------------------------------------------------------------------- directions

solvers::ProgramChange StepDifferentiator::no_change(Eigen::Index columns) const {
  return {.gradient = MatrixXd::Zero(result_.program.nv, columns),
          .rows = MatrixXd::Zero(sensitivity_.num_rows(), columns),
          .lower = {},
          .upper = {}};
}

void StepDifferentiator::change_along(const MatrixXd& dq, const MatrixXd& dv, const MatrixXd& du,
                                      solvers::ProgramChange& change) const {
  const Eigen::Index k = std::max({dq.cols(), dv.cols(), du.cols()});
  const int nv = scene_->nv();
  change = no_change(k);
  const auto actuated = scene_->actuated();
  for (Eigen::Index i = 0; i < du.rows(); ++i) change.gradient.row(actuated[i]) -= stiffness_(i) * du.row(i);
  if (dv.size() > 0) change.gradient.topRows(nv).noalias() += energy_v_ * dv;
  if (dq.size() > 0) change.gradient.topRows(nv).noalias() += energy_q_ * dq;
  // A spring that may saturate pulls on its own variable: K(q + y − u) there instead of K(q + δ − u).
  for (const Saturation& s : saturations_) {
    Eigen::RowVectorXd pull = Eigen::RowVectorXd::Zero(k);
    if (dq.size() > 0) pull += stiffness_(s.command) * dq.row(s.velocity);
    if (du.size() > 0) pull -= stiffness_(s.command) * du.row(s.command);
    change.gradient.row(s.velocity) -= pull;
    change.gradient.row(s.variable) += pull;
  }
  if (dq.size() == 0) return;
  for (const auto& entry : contacts_.dtau_columns) change.gradient.row(entry.row) -= entry.value * dq.row(entry.col);
  MatrixXd local;
  for (int i = 0; i < contacts_.ds.size(); ++i) {
    const auto cols = contacts_.ds.cols(i);
    local.resize(static_cast<Eigen::Index>(cols.size()), k);
    for (std::size_t c = 0; c < cols.size(); ++c) local.row(c) = dq.row(cols[c]);
    change.rows.middleRows(sensitivity_.first_row(i), contacts_.ds.rows(i)).noalias() = contacts_.ds.block(i) * local;
    const MatrixXd tau = contacts_.dtau.block(i) * local;
    for (std::size_t c = 0; c < cols.size(); ++c) change.gradient.row(cols[c]) -= tau.row(c);
  }
  if (result_.program.lower.size() == 0) return;
  change.lower = MatrixXd::Zero(result_.program.nv, k);
  const auto velocities = scene_->model().velocities();
  for (int v = 0; v < nv; ++v)
    if (velocities[v].q_index >= 0) change.lower.row(v) = -dq.row(v);
  change.upper = change.lower;
}

template <typename Make>
void StepDifferentiator::solve(const Make& make, solvers::SolutionChange& result) {
  solvers::ProgramChange change;
  make(change);
  sensitivity_.solve(result_.program, change, result);
  if (!sensitivity_.is_kink() || !smooth()) return;
  make(change);
  sensitivity_.solve(result_.program, change, result);
}

/// dq⁺ = T dq + Γ dδ.
MatrixXd StepDifferentiator::advance(const MatrixXd* dq, const MatrixXd& ddelta) const {
  MatrixXd moved = ddelta.topRows(scene_->nv());
  if (objects_stay_) {
    for (const scene::Object& object : scene_->objects()) moved.middleRows(object.first_v, object.nv).setZero();
  }
  for (const int v : rotations_)
    moved.middleRows(v, 3) = left_jacobian_so3(result_.delta.segment<3>(v)) * moved.middleRows(v, 3);
  if (dq == nullptr) return moved;
  MatrixXd kept = *dq;
  for (const int v : rotations_) kept.middleRows(v, 3) = exp_so3(result_.delta.segment<3>(v)) * dq->middleRows(v, 3);
  return kept + moved;
}

/// Γᵀw, or Tᵀw.
MatrixXd StepDifferentiator::advance_transposed(const MatrixXd& w, bool through_delta) const {
  MatrixXd back = w;
  for (const int v : rotations_) {
    const Vector3d turn = result_.delta.segment<3>(v);
    back.middleRows(v, 3) = (through_delta ? left_jacobian_so3(turn) : exp_so3(turn)).transpose() * w.middleRows(v, 3);
  }
  if (through_delta && objects_stay_) {
    for (const scene::Object& object : scene_->objects()) back.middleRows(object.first_v, object.nv).setZero();
  }
  return back;
}

MatrixXd StepDifferentiator::to_world(const MatrixXd& dforce) const {
  const auto& contacts = result_.problem.contacts;
  MatrixXd world(3 * static_cast<Eigen::Index>(contacts.size()), dforce.cols());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const int row = sensitivity_.first_row(static_cast<int>(i)),
              rows = std::min(3, result_.program.J.rows(static_cast<int>(i)));
    Eigen::Matrix3d E;
    E << contacts[i].n_W, contacts[i].t1_W, contacts[i].t2_W;
    world.middleRows(3 * i, 3) = E.leftCols(rows) * dforce.middleRows(row, rows);
  }
  return world;
}

void StepDifferentiator::jacobians(StepDerivative& out) {
  const int nv = scene_->nv(), nu = scene_->nu();
  out = {};
  // Directions of q first, then those of v, then those of u.
  const bool has_v = start_.v.size() > 0;
  const int n = options_.configuration ? nv : 0, m = has_v && options_.configuration ? nv : 0, k = n + m + nu;
  MatrixXd dq = MatrixXd::Zero(n, k), dv = MatrixXd::Zero(m, k), du = MatrixXd::Zero(nu, k);
  dq.leftCols(n).setIdentity();
  dv.middleCols(n, m).setIdentity();
  du.rightCols(nu).setIdentity();
  solvers::SolutionChange by;
  solve([&](solvers::ProgramChange& change) { change_along(dq, dv, du, change); }, by);
  const MatrixXd dq_next = advance(n > 0 ? &dq : nullptr, by.delta), world = to_world(by.force);
  const double h = *scene_->spec().step.h;
  out.B = dq_next.rightCols(nu);
  out.dforce_du = by.force.rightCols(nu);
  out.dforce_W_du = world.rightCols(nu);
  if (has_v) out.dv_du = by.delta.topRows(nv).rightCols(nu) / h;
  for (int i = 0; i < result_.program.J.size(); ++i) out.first_row.push_back(sensitivity_.first_row(i));
  if (!options_.configuration) return;
  out.A = dq_next.leftCols(nv);
  out.dforce_dq = by.force.leftCols(nv);
  out.dforce_W_dq = world.leftCols(nv);
  for (int i = 0; i < contacts_.turn.size(); ++i) {
    const auto cols = contacts_.turn.cols(i);
    for (std::size_t c = 0; c < cols.size(); ++c)
      out.dforce_W_dq.col(cols[c]).segment<3>(3 * i) += contacts_.turn.block(i).col(c);
  }
  if (!has_v) return;
  out.A_v = dq_next.middleCols(nv, nv);
  out.dforce_dv = by.force.middleCols(nv, nv);
  out.dv_dq = by.delta.topRows(nv).leftCols(nv) / h;
  out.dv_dv = by.delta.topRows(nv).middleCols(nv, nv) / h;
}

VectorXd StepDifferentiator::forward(const VectorXd& dq, const VectorXd& du, VectorXd* dforce) {
  if (!options_.configuration && dq.size() > 0)
    throw std::invalid_argument("step derivative: linearize with options.configuration for products with dq");
  solvers::SolutionChange change_of;
  solve([&](solvers::ProgramChange& change) { change_along(dq, MatrixXd(), du, change); }, change_of);
  if (dforce != nullptr) *dforce = change_of.force;
  const MatrixXd directions = dq;
  return advance(dq.size() > 0 ? &directions : nullptr, change_of.delta);
}

void StepDifferentiator::backward(const VectorXd& w, const VectorXd& w_force, VectorXd& q_bar, VectorXd& u_bar) {
  solvers::ProgramChange weights;
  MatrixXd w_delta = MatrixXd::Zero(result_.program.nv, 1);
  w_delta.topRows(scene_->nv()) = advance_transposed(w, true);
  sensitivity_.solve_transposed(result_.program, w_delta, w_force, weights);
  // A spring that may saturate pulls on its own variable.
  VectorXd pulled = weights.gradient.topRows(scene_->nv());
  for (const Saturation& s : saturations_) pulled(s.velocity) = weights.gradient(s.variable, 0);
  const auto actuated = scene_->actuated();
  u_bar.resize(scene_->nu());
  for (int i = 0; i < scene_->nu(); ++i) u_bar(i) = -stiffness_(i) * pulled(actuated[i]);
  q_bar.resize(0);
  if (!options_.configuration) return;

  const VectorXd g = weights.gradient.topRows(scene_->nv());
  q_bar = advance_transposed(w, false) + energy_q_.transpose() * g;
  for (const Saturation& s : saturations_)
    q_bar(s.velocity) += stiffness_(s.command) * (pulled(s.velocity) - g(s.velocity));
  for (const auto& entry : contacts_.dtau_columns) q_bar(entry.col) -= entry.value * g(entry.row);
  for (int i = 0; i < contacts_.ds.size(); ++i) {
    const auto cols = contacts_.ds.cols(i);
    VectorXd local(cols.size());
    for (std::size_t c = 0; c < cols.size(); ++c) local(c) = g(cols[c]);
    const VectorXd back = contacts_.ds.block(i).transpose() *
                              weights.rows.col(0).segment(sensitivity_.first_row(i), contacts_.ds.rows(i)) -
                          contacts_.dtau.block(i).transpose() * local;
    for (std::size_t c = 0; c < cols.size(); ++c) q_bar(cols[c]) += back(c);
  }
  const auto velocities = scene_->model().velocities();
  for (int v = 0; result_.program.lower.size() > 0 && v < scene_->nv(); ++v)
    if (velocities[v].q_index >= 0) q_bar(v) -= weights.lower(v, 0) + weights.upper(v, 0);
}

// ------------------------------------------------------------------------------------------------------- parameters

/// Motion of one shape of a contact at its witness point: a turn about the body's origin, or a shift.
Eigen::Matrix<double, 12, 1> StepDifferentiator::offset_of_shape(const contact::Contact& contact, int side,
                                                                 int axis) const {
  Eigen::Matrix<double, 12, 1> zeta = Eigen::Matrix<double, 12, 1>::Zero();
  zeta(6 * side + axis) = 1;
  if (axis >= 3) return zeta;
  // Forces at the midpoint hide the witness point, which is half a gap away.
  Vector3d p = side == 0 ? contact.p_WA : contact.p_WB;
  if (scene_->spec().step.midpoint_forces) p += (side == 0 ? 0.5 : -0.5) * contact.gap * contact.n_W;
  const Vector3d origin = state_.X_WB()[side == 0 ? contact.body_a : contact.body_b].translation();
  zeta.segment<3>(6 * side + 3) = Vector3d::Unit(axis).cross(p - origin);
  return zeta;
}

void StepDifferentiator::add_parameter(const Parameter& parameter, Eigen::Index column, solvers::ProgramChange& change,
                                       MatrixXd& direct) {
  const auto& program = result_.program;
  const EnergyPoint at = energy_point();
  auto gradient = change.gradient.col(column);
  // A force that changes at fixed rows, df, adds −Jᵀdf to the gradient and is part of the answer.
  const auto add_force = [&](int i, const Eigen::Vector4d& df) {
    const auto block = program.J.block(i);
    const auto cols = program.J.cols(i);
    for (std::size_t c = 0; c < cols.size(); ++c) gradient(cols[c]) -= block.col(c).dot(df.head(block.rows()));
    direct.col(column).segment(sensitivity_.first_row(i), block.rows()) += df.head(block.rows());
  };
  const auto force = [&](std::size_t i) { return Eigen::Map<const Eigen::Vector4d>(result_.solution.force[i].data()); };
  switch (parameter.kind) {
    case Parameter::Kind::kStepLength:
      gradient.head(scene_->nv()) += energy_step_length_rate(at);
      break;
    case Parameter::Kind::kMass:
      gradient.head(scene_->nv()) += energy_mass_rate(at, parameter.index);
      break;
    case Parameter::Kind::kStiffness:
      gradient.head(scene_->nv()) += energy_stiffness_rate(at, parameter.index);
      for (const Saturation& s : saturations_) {
        if (s.command != parameter.index) continue;
        const double e = u_(s.command) - state_.q(scene_->command_coordinates()[s.command]);
        gradient(s.velocity) -= delta_(s.velocity) - e;
        gradient(s.variable) += result_.solution.delta(s.variable) - e;
      }
      break;
    case Parameter::Kind::kKappa:
      // f = … /κ at fixed slack; with compliance the slack holds R f too, and C takes that along.
      if (!std::isfinite(program.kappa)) break;
      if (program.linear.rows.size() > 0)
        throw std::invalid_argument("step derivative: not available yet: kappa with springs that saturate");
      for (std::size_t i = 0; i < program.contacts.size(); ++i) {
        if (program.contacts[i].compliance > 0)
          throw std::invalid_argument("step derivative: kappa of contacts with compliance is not available");
        add_force(static_cast<int>(i), -force(i) / program.kappa);
      }
      if (result_.solution.bound_multipliers.size() > 0) gradient += result_.solution.bound_multipliers / program.kappa;
      break;
    case Parameter::Kind::kFriction:
      // The law sees μ J_tδ and gives f_t = μ(…): the rows and the force scale by dμ/μ.
      for (std::size_t i = 0; i < program.contacts.size(); ++i) {
        const contact::Contact& contact = result_.problem.contacts[i];
        const bool is_pair = (contact.geometry_a == parameter.index && contact.geometry_b == parameter.second) ||
                             (contact.geometry_a == parameter.second && contact.geometry_b == parameter.index);
        if (!is_pair || contact.mu == 0) continue;
        Eigen::Vector4d df = force(i) / contact.mu;
        df(0) = 0;
        add_force(static_cast<int>(i), df);
        const auto block = program.J.block(static_cast<int>(i));
        const auto cols = program.J.cols(static_cast<int>(i));
        auto ds = change.rows.col(column).segment(sensitivity_.first_row(static_cast<int>(i)), block.rows());
        for (Eigen::Index r = 1; r < block.rows(); ++r) {
          double slide = program.contacts[i].offset[r - 1];
          for (std::size_t c = 0; c < cols.size(); ++c) slide += block(r, c) * delta_(cols[c]);
          ds(r) += slide / contact.mu;
        }
      }
      break;
    case Parameter::Kind::kOffset:
      if (!options_.configuration)
        throw std::invalid_argument("step derivative: linearize with options.configuration for offsets of geometries");
      for (std::size_t i = 0; i < program.contacts.size(); ++i) {
        const contact::Contact& contact = result_.problem.contacts[i];
        const int rows = program.J.rows(static_cast<int>(i));
        for (int side = 0; side < 2; ++side) {
          if ((side == 0 ? contact.geometry_a : contact.geometry_b) != parameter.index) continue;
          const Eigen::Matrix<double, 12, 1> zeta = offset_of_shape(contact, side, parameter.second);
          change.rows.col(column).segment(sensitivity_.first_row(static_cast<int>(i)), rows) +=
              contacts_.shape[i].ds.topRows(rows) * zeta;
          const auto cols = contacts_.dtau_shape.cols(static_cast<int>(i));
          const VectorXd tau = contacts_.dtau_shape.block(static_cast<int>(i)).transpose() * zeta;
          for (std::size_t c = 0; c < cols.size(); ++c) gradient(cols[c]) -= tau(c);
        }
      }
      break;
  }
}

void StepDifferentiator::parameters(std::span<const Parameter> list, MatrixXd& dq_next, MatrixXd& dforce) {
  const Eigen::Index k = static_cast<Eigen::Index>(list.size());
  MatrixXd direct;
  solvers::SolutionChange change_of;
  const auto make = [&](solvers::ProgramChange& change) {
    change = no_change(k);
    direct = MatrixXd::Zero(sensitivity_.num_rows(), k);
    for (Eigen::Index i = 0; i < k; ++i) add_parameter(list[i], i, change, direct);
  };
  solve(make, change_of);
  dq_next = advance(nullptr, change_of.delta);
  dforce = change_of.force + direct;
}

}  // namespace deft::dynamics
