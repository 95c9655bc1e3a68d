#include "deft/dynamics/derivatives/step_differentiator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/dynamics/derivatives/step_directions.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kGradientShare = 1e-6;  // of the step's energy scale: smooth enough to be unique, sharp enough to be
                                         // the model

/// Refuses models whose derivatives are not available here. @throws InputError at the scene.
void check_available(const scene::Scene& scene) {
  const scene::StepSettings& step = scene.settings().step;
  if (is_complementarity_model(step.model)) refuse_derivatives(scene);
  if (step.friction_arm != 1)
    throw InputError(
        {scene.spec().file, 0, 0},
        fmt::format("not available yet: derivatives with step.friction_arm {:g}; they need 1", step.friction_arm));
  if (step.model == scene::ModelKind::kEquivalentContactPoint)
    throw InputError({scene.spec().file, 0, 0},
                     fmt::format("StepDifferentiator is for the convex models: derivatives of step.model: {} are those "
                                 "of the model itself (StepModel::differentiate)",
                                 to_string(step.model)));
}

/// The same for ellipsoids of friction at the contacts of a step of this scene.
void check_ellipsoids(const scene::Scene& scene, const StepResult& result) {
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
      own_state_(scene.make_state()),
      directions_(std::make_unique<StepDirections>(scene)),
      rotations_(rotation_blocks(scene.model())) {}
StepDifferentiator::~StepDifferentiator() = default;
StepDifferentiator::StepDifferentiator(StepDifferentiator&&) noexcept = default;
StepDifferentiator& StepDifferentiator::operator=(StepDifferentiator&&) noexcept = default;

void StepDifferentiator::linearize(const State& start, const VectorXd& u, const StepResult& result,
                                   const DerivativeOptions& options) {
  linearize_at(nullptr, start, u, result, options);
}

void StepDifferentiator::linearize(StepModel& model, const State& start, const VectorXd& u, const StepResult& result,
                                   const DerivativeOptions& options) {
  if (&model.scene() != scene_) throw std::invalid_argument("step derivative: the model is of another scene");
  linearize_at(model.start_state(), start, u, result, options);
}

void StepDifferentiator::linearize_at(scene::SceneState* state, const State& start, const VectorXd& u,
                                      const StepResult& result, const DerivativeOptions& options) {
  check(start, u, result);
  if (!(options.mu_gradient >= 0) || !std::isfinite(options.mu_gradient))
    throw std::invalid_argument("step derivative: mu_gradient must be ≥ 0");
  options_ = options;
  u_ = u;
  start_ = start;
  // Without a velocity in the result the model is of first order.
  if (result.v_next.size() == 0) start_.v.resize(0);
  if (result.v_next.size() > 0 && start_.v.size() == 0) start_.v.setZero(scene_->nv());
  objects_stay_ = !scene_->settings().step.objects_move && result.v_next.size() == 0;
  state_ = state != nullptr && state->q == start.q ? state : nullptr;
  // Where contacts are linearised again depends on the command too.
  if (!result.linearizations.empty()) options_.configuration = true;
  if (options_.configuration) refuse_what_is_left_out(result);
  linearize_chain(result, result.linearizations);
}

void StepDifferentiator::check(const State& start, const VectorXd& u, const StepResult& result) const {
  check_available(*scene_);
  if (start.q.size() != scene_->nq() || (start.v.size() > 0 && start.v.size() != scene_->nv()) ||
      u.size() != scene_->nu() || result.problem.nv != scene_->nv()) {
    throw std::invalid_argument("step derivative: q, u and the result must be of this scene");
  }
  if (!solvers::usable(result.status)) {
    throw std::invalid_argument(
        fmt::format("step derivative: the step ended as {} and moves nothing", solvers::to_string(result.status)));
  }
  check_ellipsoids(*scene_, result);
}

void StepDifferentiator::refuse_what_is_left_out(const StepResult& result) const {
  if (result.without_derivative.empty()) return;
  throw InputError(
      {scene_->spec().file, 0, 0},
      fmt::format("not available yet: derivatives, but by commands, of a step with {}", result.without_derivative));
}

/// The linearisations of a step are programs one after the other, each of which depends on the solution of the one
/// before: its derivative comes first.
void StepDifferentiator::linearize_chain(const StepResult& result, std::span<const StepResult> earlier) {
  result_ = &result;
  is_smoothed_ = false;
  own_state_.q.resize(0);
  has_contacts_ = false;
  has_chosen_ = false;
  if (!result.forces_least_norm) choose_forces();
  is_relinearized_ = !earlier.empty();
  if (is_relinearized_) place_linearization(earlier);
  take_solution();
  if (sensitivity_.is_nonsmooth() || has_several_corrections_) smooth();
}

/// The forces of least norm of a linearisation before the last, which the step leaves as the solver found them: those
/// of a vertex have no derivative where forces are not unique.
void StepDifferentiator::choose_forces() {
  const bool is_last = result_->linearizations.size() > 0 || scene_->settings().step.relinearize <= 0;
  if (is_last || scene_->settings().step.forces != scene::Forces::kLeastNorm || result_->solution.forces_unique) return;
  chosen_solution_ = result_->solution;
  least_norm_.forget();  // the choice does not depend on earlier ones
  has_chosen_ = least_norm_.select(result_->program, chosen_solution_);
}

void StepDifferentiator::place_linearization(std::span<const StepResult> earlier) {
  if (before_ == nullptr) before_ = std::make_unique<StepDifferentiator>(*scene_);
  StepDifferentiator& before = *before_;
  before.start_ = start_;
  before.u_ = u_;
  before.options_ = options_;
  before.objects_stay_ = objects_stay_;
  before.state_ = state_;
  before.linearize_chain(earlier.back(), earlier.first(earlier.size() - 1));
  do before.directions_->along_units(before.units_.change);
  while (!before.solve_change(before.units_));
  if (about_ == nullptr) about_.reset(new LinearizedAbout{scene_->make_state(), {}, {}, {}, {}});
  LinearizedAbout& about = *about_;
  about.rates = before.units_.moved.delta.topRows(scene_->nv());
  about.motion = earlier.back().solution.delta.head(scene_->nv());
  scene_->model().integrate(start_.q, about.motion, about.q);
  scene_->update(about.q, about.state);
  // The same contacts as in the step.
  contacts_after_.find(*scene_, place(true), scene_->settings().step.contact_margin, about.state);
  about.problem = result_->problem;
  const std::vector<BodyWay>& ways = contacts_after_.ways();
  for (contact::Contact& contact : about.problem.contacts) {
    contact.p_WA = ways[to_size(contact.body_a)].forth(contact.p_WA);
    contact.p_WB = ways[to_size(contact.body_b)].forth(contact.p_WB);
  }
}

scene::SceneState& StepDifferentiator::place(bool with_contacts) {
  if (state_ != nullptr && state_->q == start_.q) return *state_;
  if (own_state_.q.size() == 0) scene_->update(start_.q, own_state_);
  if (with_contacts && !has_contacts_) {
    scene_->find_contacts(scene_->settings().step.contact_margin, own_state_);
    has_contacts_ = true;
  }
  return own_state_;
}

EnergyPoint StepDifferentiator::energy_point(bool with_contacts) {
  return {*scene_, place(with_contacts), *result_, u_, delta_, *scene_->settings().step.h, start_.t, start_.v};
}

void StepDifferentiator::take_solution() {
  const double residual = is_smoothed_ ? 0 : result_->certificate.max_scaled();
  sensitivity_.factor(program(), solution(), result_->certificate.E0_J, residual);
  follow_gaps();
  delta_ = solution().delta.head(scene_->nv());
  has_nonsmooth_geometry_ = false;
  // Derivatives along u alone need no geometry.
  const EnergyPoint at = options_.configuration
                             ? energy_point(!is_relinearized_)
                             : EnergyPoint{*scene_, own_state_, *result_, u_, delta_, 0, 0, start_.v};
  directions_->update(at, program(), solution(), options_.configuration,
                      options_.motion_only ? contact::DerivativeParts::kMotion : contact::DerivativeParts::kAll,
                      is_relinearized_ ? about_.get() : nullptr);
  for (int i = 0; options_.configuration && i < program().J.size(); ++i)
    has_nonsmooth_geometry_ |= is_nonsmooth_geometry(i) || is_nonsmooth_frame(i);
}

/// Coulomb's law: how the De Saxcé corrections follow the rows of their contacts.
void StepDifferentiator::follow_gaps() {
  has_several_corrections_ = false;
  if (!coulomb()) return;
  correction_rates_.clear();
  for (int i = 0; i < program().J.size(); ++i) {
    const double x = program().contacts[i].gap - result_->problem.contacts[i].gap;
    correction_rates_.push_back(correction_of(program(), i, solution().delta, x).rate);
  }
  has_several_corrections_ = !feedback_.factor(program(), solution(), correction_rates_, sensitivity_);
}

/// Nonsmooth points of the geometry count where a force depends on them.
bool StepDifferentiator::is_nonsmooth_geometry(int contact) const {
  return solution().force[contact][0] != 0 &&
         directions_->contacts().nonsmooth_points[contact] != collision::NonsmoothPoint::kNone;
}

bool StepDifferentiator::is_nonsmooth_frame(int contact) const {
  return solution().force[contact][0] != 0 && program().model == solvers::contact::FrictionModel::kPyramid &&
         directions_->contacts().frame_ties[contact] != 0 && result_->problem.contacts[contact].mu > 0;
}

bool StepDifferentiator::smooth() {
  if (is_smoothed_ || std::isfinite(result_->program.kappa)) return false;
  smoothed_program_ = result_->program;
  const double mu = options_.mu_gradient > 0 ? options_.mu_gradient : kGradientShare * result_->certificate.E0_J;
  smoothed_program_.kappa = 1 / mu;
  solver_.forget();
  if (!solve_smoothed()) return false;  // the one-sided derivative stays
  is_smoothed_ = true;
  take_solution();
  return true;
}

/// The solution of the smoothed program; under Coulomb's law with the corrections of its own motion.
bool StepDifferentiator::solve_smoothed() {
  solvers::Status status = solvers::Status::kNumericalFailure;
  if (!coulomb()) return solver_.solve(smoothed_program_, {}, smoothed_solution_).status == solvers::Status::kSolved;
  const auto solve = [&](const VectorXd& x, double kappa) {
    for (int i = 0; i < smoothed_program_.J.size(); ++i)
      smoothed_program_.contacts[i].gap = result_->problem.contacts[i].gap + x(i);
    smoothed_program_.kappa = kappa;
    status = solver_.solve(smoothed_program_, {}, smoothed_solution_).status;
    return CoulombCorrections::Solved{status, smoothed_program_, smoothed_solution_};
  };
  exact_corrections_ =
      Eigen::Map<const VectorXd>(result_->de_saxce.data(), static_cast<Index>(result_->de_saxce.size()));
  // By reference: a copy of what it captures would be allocated.
  return corrections_.find_from(exact_corrections_, smoothed_program_.kappa, std::cref(solve)) &&
         status == solvers::Status::kSolved;
}

std::vector<std::string> StepDifferentiator::nonsmooth_points() const {
  std::vector<std::string> all;
  for (int i = 0; has_nonsmooth_geometry_ && i < program().J.size(); ++i) {
    if (is_nonsmooth_geometry(i))
      all.push_back(
          fmt::format("contact {}: {}", i, collision::to_string(directions_->contacts().nonsmooth_points[i])));
    if (is_nonsmooth_frame(i)) all.push_back(fmt::format("contact {}: frame", i));
  }
  if (is_smoothed_)
    all.push_back(
        fmt::format("strict complementarity fails: gradient at mu_gradient = {:.3g} J", 1 / smoothed_program_.kappa));
  if (!is_smoothed_ && sensitivity_.is_nonsmooth()) all.push_back("strict complementarity fails: one-sided");
  if (!sensitivity_.is_unique()) all.push_back("the motion is not unique: least motion");
  if (has_several_corrections_) all.push_back("Coulomb's law has more solutions nearby: least change of the gaps");
  if (is_relinearized_) {
    for (const std::string& line : before_->nonsmooth_points()) all.push_back("linearisation before: " + line);
  }
  return all;
}

bool StepDifferentiator::solve_change(Rates& rates, std::span<const char> wanted) {
  if (coulomb()) feedback_.feed(program(), sensitivity_, rates.change);
  sensitivity_.solve(program(), rates.change, rates.moved, wanted);
  return !sensitivity_.is_nonsmooth() || !smooth();
}

// ------------------------------------------------------------------------------------------------------- directions

void StepDifferentiator::advance(solvers::contact::Directions& moved) const {
  if (objects_stay_) {
    for (const scene::Object& object : scene_->objects()) moved.middleRows(object.first_v, object.nv).setZero();
  }
  for (const int v : rotations_) {
    const Eigen::Matrix3d gamma = left_jacobian_so3(result_->delta.segment<3>(v));
    for (Index c = 0; c < moved.cols(); ++c) {
      const Vector3d turned = gamma * moved.col(c).segment<3>(v);
      moved.col(c).segment<3>(v) = turned;
    }
  }
}

namespace {

/// What columns of force changes are in the world, 3 rows per contact.
void to_world(const StepResult& result, const StepDirections& directions, const solvers::contact::Directions& force,
              Index first, MatrixXd& world) {
  const auto& contacts = result.problem.contacts;
  world.resize(3 * static_cast<Index>(contacts.size()), world.cols());
  for (int i = 0; i < static_cast<int>(contacts.size()); ++i) {
    const int row = directions.first_row(i), rows = std::min(3, result.program.J.rows(i));
    const Vector3d* axes[3] = {&contacts[i].n_W, &contacts[i].t1_W, &contacts[i].t2_W};
    for (Index c = 0; c < world.cols(); ++c) {
      Vector3d F = Vector3d::Zero();
      for (int r = 0; r < rows; ++r) F += force(row + r, first + c) * *axes[r];
      world.col(c).segment<3>(3 * i) = F;
    }
  }
}

}  // namespace

void StepDifferentiator::motion_jacobians(StepDerivative& out) {
  const int nv = scene_->nv(), nu = scene_->nu();
  const bool has_q = directions_->has_q(), has_v = directions_->has_v();
  const int first_u = (has_q ? nv : 0) + (has_v ? nv : 0);
  const double h = *scene_->settings().step.h;
  const auto of_motion = [&](int first, int columns, bool wanted, MatrixXd& A) {
    A.resize(wanted ? nv : 0, wanted ? columns : 0);
    if (wanted) A = units_.moved.delta.block(0, first, nv, columns);
  };
  const bool second_order = start_.v.size() > 0;
  of_motion(0, nv, has_v, out.dv_dq);
  of_motion(nv, nv, has_v, out.dv_dv);
  of_motion(first_u, nu, second_order, out.dv_du);
  for (MatrixXd* rate : {&out.dv_dq, &out.dv_dv, &out.dv_du}) *rate /= h;
  advance(units_.moved.delta);
  of_motion(0, nv, has_q, out.A);
  of_motion(nv, nv, has_v, out.A_v);
  of_motion(first_u, nu, true, out.B);
  if (!has_q) return;
  // A = T + Γ ∂δ/∂q.
  out.A.diagonal().array() += 1;
  for (const int v : rotations_)
    out.A.block<3, 3>(v, v) += exp_so3(result_->delta.segment<3>(v)) - Eigen::Matrix3d::Identity();
}

namespace {

/// Rows [at, at + rows) of what forces do by configuration, velocity and command.
struct ForceColumns {
  const StepDirections& directions;
  int nv, nu;
  void resize(Index rows, StepDerivative& out) const {
    const bool has_q = directions.has_q(), has_v = directions.has_v();
    out.dforce_dq.resize(has_q ? rows : 0, has_q ? nv : 0);
    out.dforce_dv.resize(has_v ? rows : 0, has_v ? nv : 0);
    out.dforce_du.resize(rows, nu);
  }
  void copy(const solvers::contact::Directions& force, Index from, Index rows, Index at, StepDerivative& out) const {
    const bool has_q = directions.has_q(), has_v = directions.has_v();
    if (has_q) out.dforce_dq.middleRows(at, rows) = force.block(from, 0, rows, nv);
    if (has_v) out.dforce_dv.middleRows(at, rows) = force.block(from, nv, rows, nv);
    out.dforce_du.middleRows(at, rows) = force.block(from, (has_q ? nv : 0) + (has_v ? nv : 0), rows, nu);
  }
};

}  // namespace

void StepDifferentiator::jacobians(StepDerivative& out) {
  do directions_->along_units(units_.change);
  while (!solve_change(units_));
  motion_jacobians(out);
  const int nv = scene_->nv(), nu = scene_->nu();
  const bool has_q = directions_->has_q();
  const solvers::contact::Directions& force = units_.moved.force;
  const ForceColumns columns{*directions_, nv, nu};
  columns.resize(force.rows(), out);
  columns.copy(force, 0, force.rows(), 0, out);
  out.first_row.clear();
  for (int i = 0; i < program().J.size(); ++i) out.first_row.push_back(directions_->first_row(i));
  const Index world_rows = options_.motion_only ? 0 : 3 * static_cast<Index>(out.first_row.size());
  out.dforce_W_du.resize(world_rows, nu);
  out.dforce_W_dq.resize(has_q ? world_rows : 0, has_q ? nv : 0);
  if (options_.motion_only) return;
  to_world(*result_, *directions_, force, (has_q ? nv : 0) + (directions_->has_v() ? nv : 0), out.dforce_W_du);
  if (!has_q) return;
  to_world(*result_, *directions_, force, 0, out.dforce_W_dq);
  add_turning_frames(out);
}

void StepDifferentiator::add_turning_frames(StepDerivative& out) const {
  const RowBlocks& turn = directions_->contacts().turn;
  const MatrixXd& rates = directions_->linearization_rates();
  const Index nv = scene_->nv(), nu = scene_->nu();
  for (int i = 0; i < turn.size(); ++i) {
    const auto cols = turn.cols(i);
    for (std::size_t c = 0; c < cols.size(); ++c) {
      const Vector3d turned = turn.block(i).col(static_cast<Index>(c));
      if (!is_relinearized_) {
        out.dforce_W_dq.col(cols[c]).segment<3>(3 * i) += turned;
        continue;
      }
      out.dforce_W_dq.middleRows<3>(3 * i).noalias() += turned * rates.row(cols[c]).head(nv);
      out.dforce_W_du.middleRows<3>(3 * i).noalias() += turned * rates.row(cols[c]).tail(nu);
    }
  }
}

void StepDifferentiator::jacobians(std::span<const int> contacts, StepDerivative& out) {
  wanted_.assign(program().J.size(), 0);
  Index rows = 0;
  out.first_row.clear();
  for (const int i : contacts) {
    if (i < 0 || i >= program().J.size())
      throw std::invalid_argument(
          fmt::format("step derivative: there is no contact {}, the step has {}", i, program().J.size()));
    wanted_[i] = 1;
    out.first_row.push_back(static_cast<int>(rows));
    rows += program().J.rows(i);
  }
  do directions_->along_units(units_.change);
  while (!solve_change(units_, wanted_));
  motion_jacobians(out);
  const ForceColumns columns{*directions_, scene_->nv(), scene_->nu()};
  columns.resize(rows, out);
  for (std::size_t k = 0; k < contacts.size(); ++k)
    columns.copy(units_.moved.force, directions_->first_row(contacts[k]), program().J.rows(contacts[k]),
                 out.first_row[k], out);
  for (MatrixXd* world : {&out.dforce_W_dq, &out.dforce_W_du}) world->resize(0, 0);
}

void StepDifferentiator::forward(const VectorXd& dq, const VectorXd& du, VectorXd& dq_next, VectorXd* dforce) {
  if (!options_.configuration && dq.size() > 0)
    throw std::invalid_argument("step derivative: linearize with options.configuration for products with dq");
  if (is_relinearized_) {
    jacobians(products_);
    dq_next.setZero(scene_->nv());
    if (dforce != nullptr) dforce->setZero(products_.dforce_du.rows());
    if (dq.size() > 0) dq_next.noalias() += products_.A * dq;
    if (du.size() > 0) dq_next.noalias() += products_.B * du;
    if (dforce != nullptr && dq.size() > 0) dforce->noalias() += products_.dforce_dq * dq;
    if (dforce != nullptr && du.size() > 0) dforce->noalias() += products_.dforce_du * du;
    return;
  }
  do directions_->along(dq, du, product_.change);
  while (!solve_change(product_));
  if (dforce != nullptr) *dforce = product_.moved.force.col(0);
  advance(product_.moved.delta);
  dq_next = product_.moved.delta.col(0).head(scene_->nv());
  if (dq.size() == 0) return;
  dq_next += dq;
  for (const int v : rotations_)
    dq_next.segment<3>(v) += exp_so3(result_->delta.segment<3>(v)) * dq.segment<3>(v) - dq.segment<3>(v);
}

void StepDifferentiator::backward(const VectorXd& w, const VectorXd& w_force, VectorXd& q_bar, VectorXd& u_bar) {
  if (is_relinearized_) {
    jacobians(products_);
    q_bar.noalias() = products_.A.transpose() * w;
    u_bar.noalias() = products_.B.transpose() * w;
    if (w_force.size() == 0) return;
    q_bar.noalias() += products_.dforce_dq.transpose() * w_force;
    u_bar.noalias() += products_.dforce_du.transpose() * w_force;
    return;
  }
  // Γᵀw goes through δ, Tᵀw past it.
  weights_.setZero(program().nv, 1);
  weights_.col(0).head(scene_->nv()) = w;
  for (const int v : rotations_)
    weights_.col(0).segment<3>(v) = left_jacobian_so3(result_->delta.segment<3>(v)).transpose() * w.segment<3>(v);
  if (objects_stay_) {
    for (const scene::Object& object : scene_->objects()) weights_.middleRows(object.first_v, object.nv).setZero();
  }
  force_weights_ = w_force;
  if (coulomb())
    feedback_.solve_transposed(program(), weights_, force_weights_, sensitivity_, back_);
  else
    sensitivity_.solve_transposed(program(), weights_, force_weights_, back_);
  if (options_.configuration) {
    q_bar = w;
    for (const int v : rotations_)
      q_bar.segment<3>(v) = exp_so3(result_->delta.segment<3>(v)).transpose() * w.segment<3>(v);
  } else {
    q_bar.resize(0);
  }
  directions_->transposed(back_, q_bar, u_bar);
}

}  // namespace deft::dynamics
