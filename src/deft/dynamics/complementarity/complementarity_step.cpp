#include "deft/dynamics/complementarity/complementarity_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/contact_program.hpp"
#include "deft/dynamics/sliding_gap.hpp"
#include "deft/math/block_parts.hpp"
#include "deft/math/row_products.hpp"

namespace deft::dynamics {
namespace {

using solvers::Status;
using solvers::lcp::ComplementaritySolution;

constexpr double kTolerance = 1e-9;  // of the solver for many contacts in space, a tenth of the certifier's
constexpr double kTightest = 1e-14;  // where that does not satisfy the certifier: bodies nearly at rest have little
                                     // energy, to which its residuals are relative
constexpr double kSameMotion = 1e-12, kSameMotionShare = 1e-9;  // [m, rad], of the motion: what differs by less is
                                                                // rounding
constexpr double kMovesApart = 1e-6;  // of the difference of two motions: contacts that move apart by less move alike
constexpr double kInProof = 1e-9;     // of the largest multiplier of a proof: rows with smaller ones are no part of it

/// Entry v of Qδ + b − Jᵀf: the reaction that keeps the prescribed velocity v.
double reaction(const solvers::contact::ContactProgram& program, const solvers::contact::ContactSolution& solution,
                int v) {
  double sum = program.b(v);
  if (const int k = block_at(program.Q, v); k >= 0)
    sum += program.Q.block(k)
               .row(v - program.Q.start(k))
               .dot(solution.delta.segment(program.Q.start(k), program.Q.size(k)));
  for (int i = 0; i < program.J.size(); ++i) {
    const auto cols = program.J.cols(i);
    const auto at = std::lower_bound(cols.begin(), cols.end(), v);
    if (at == cols.end() || *at != v) continue;
    const auto J = program.J.block(i);
    for (Eigen::Index r = 0; r < J.rows(); ++r) sum -= J(r, at - cols.begin()) * solution.force[i][r];
  }
  return sum;
}

}  // namespace

void require_exact(const scene::Scene& scene, double kappa) {
  if (!(std::isinf(kappa) && kappa > 0))
    throw std::invalid_argument(fmt::format("kappa = {}: step.model: {} is for exact contact (kappa: inf)", kappa,
                                            to_string(scene.settings().step.model)));
}

void require_coulomb_settings(const scene::Scene& scene) {
  const scene::StepSettings& step = scene.settings().step;
  const auto refuse = [&](const std::string& what) {
    throw InputError({scene.spec().file, 0, 0}, fmt::format("step.model: {} {}", to_string(step.model), what));
  };
  if (std::isfinite(step.kappa))
    refuse(fmt::format("is for exact contact, but step.kappa is {}; valid: inf", step.kappa));
  if (step.compliance > 0 && step.model != scene::ModelKind::kStewartTrinkle)
    refuse(fmt::format("is for rigid contact, but step.compliance is {}; valid: 0, or step.model: stewart-trinkle",
                       step.compliance));
  if (step.relinearize != 0 && step.model != scene::ModelKind::kLimitSurface)
    refuse(fmt::format(
        "linearises its contacts once, but step.relinearize is {}; valid: 0",
        step.relinearize == scene::StepSettings::kUntilSettled ? "true" : fmt::to_string(step.relinearize)));
  if (step.effort_limits) refuse("has springs without limits, but step.effort_limits is true; valid: false");
  if (step.cone == scene::Cone::kCone && scene.plane() == scene::Plane::kSpace)
    refuse("has polygons of friction in space, but step.cone is cone; valid: pyramid (with step.rays)");
  for (const scene::FrictionPairSpec& pair : scene.spec().friction.pairs) {
    if (pair.ellipsoid)
      throw InputError(pair.where,
                       fmt::format("friction.pairs: step.model: {} has no patch friction, but the pair "
                                   "'{}', '{}' has an ellipsoid; available with: convex, convex-second-order",
                                   to_string(step.model), pair.between[0], pair.between[1]));
  }
  if (scene.spec().friction.ellipsoid)
    refuse("has no patch friction, but friction.ellipsoid is set; available with: convex, convex-second-order");
}

ComplementaritySolve::ComplementaritySolve(const scene::Scene& scene)
    : scene_(&scene),
      refines_(scene.settings().step.model == scene::ModelKind::kLimitSurface),
      solver_({.tolerance = refines_ ? solvers::lcp::ComplementaritySettings{}.tolerance : kTolerance,
               .check_uniqueness = scene.settings().step.uniqueness_check}) {
  require_coulomb_settings(scene);
}

void ComplementaritySolve::forget() {
  solver_.forget();
  least_norm_.forget();
}

/// Calls action(velocity index, its displacement) for every joint of the robots, those that follow others after those.
template <typename Action>
void ComplementaritySolve::visit_prescribed(const Eigen::VectorXd& prescribed, Action action) const {
  const auto actuated = scene_->actuated();
  for (int i = 0; i < scene_->nu(); ++i) action(actuated[i], prescribed(i));
  for (const multibody::Coupling& coupling : scene_->model().couplings()) {
    const auto leader = std::find(actuated.begin(), actuated.end(), coupling.leader_v);
    const double moved = leader == actuated.end() ? 0.0 : prescribed(leader - actuated.begin());
    if (leader != actuated.end() || coupling.leader_v < 0)
      action(coupling.v, coupling.at(q_) - q_(coupling.q) + coupling.ratio * moved);
  }
}

void ComplementaritySolve::make_program(const Eigen::VectorXd* prescribed, StepResult& result) const {
  solvers::contact::ContactProgram& program = result.program;
  make_contact_program(*scene_, result.problem, program);
  program.model = solvers::contact::FrictionModel::kPyramid;  // in a plane cones are pyramids
  set_joint_limits(*scene_, q_, program);
  if (prescribed == nullptr) return;
  if (program.lower.size() == 0) {
    program.lower.setConstant(program.nv, -kInfinity);
    program.upper.setConstant(program.nv, kInfinity);
  }
  visit_prescribed(*prescribed, [&](int v, double delta) { program.lower(v) = program.upper(v) = delta; });
}

double ComplementaritySolve::solve(const Eigen::VectorXd& q, const Eigen::VectorXd* prescribed, StepResult& result) {
  q_ = q;
  result.iterations = 0;
  result.solve_us = 0;
  double certifying_us = 0;
  if (find_point(prescribed, result)) {
    // A solution of the rows may be too inaccurate for the certificate of contacts, which is relative to the energy of
    // the step: it is solved once more, cold and to a tolerance that only an exact basis meets.
    certifying_us = evaluate(result);
    if (refines_ || solvers::usable(result.status)) return certifying_us;
    solver_.forget();
    const double tolerance = std::exchange(solver_.settings().tolerance, kTightest);
    find_point(prescribed, result);
    solver_.settings().tolerance = tolerance;
  }
  return certifying_us + evaluate(result);
}

bool ComplementaritySolve::find_point(const Eigen::VectorXd* prescribed, StepResult& result) {
  static const solvers::lcp::ComplementarityResult kNothing{
      .status = Status::kSolved, .solution = {.uniqueness = solvers::lcp::Uniqueness::kUnique}};
  make_program(prescribed, result);
  found_ = &kNothing;
  if (!response_.from_energy(result.problem)) {
    result.detail_of<ComplementarityDetail>() = {};
    result.offending_contacts.clear();
    result.offending_limits.clear();
    result.status = Status::kNumericalFailure;  // a body without inertia
    return false;
  }
  if (prescribed != nullptr) visit_prescribed(*prescribed, [&](int v, double delta) { response_.prescribe(v, delta); });
  solvers::lcp::ComplementarityProgram& program = result.detail_of<ComplementarityDetail>().program;
  const Stopwatch watch;
  rows_.build(result.program, response_, solver_.settings().check_uniqueness, program);
  if (rows_.size() > 0) found_ = &solver_.solve(program);
  result.solve_us += watch.microseconds();
  result.status = found_->status;
  // A point that is certified is a solution, even if it misses the solver's own tolerance.
  const bool stands = !refines_ && found_->solution.z.size() == rows_.size() &&
                      found_->certificate.max_scaled() <= solvers::contact::kCertified;
  if (stands && result.status != Status::kInfeasible && !solvers::usable(result.status))
    result.status = Status::kSolved;
  result.iterations += found_->iterations;
  return solvers::usable(result.status);
}

double ComplementaritySolve::evaluate(StepResult& result) {
  ComplementarityDetail& detail = result.detail_of<ComplementarityDetail>();
  detail.uniqueness = solvers::lcp::Uniqueness::kUnknown;
  detail.alternative_delta.resize(0);
  detail.balance = detail.bound = 0;
  result.offending_contacts.clear();
  result.offending_limits.clear();
  result.certificate = {};
  unpack(found_->solution, result);
  choose_forces(result);
  const Stopwatch watch;
  certify(found_->certificate, result);
  find_offenders(found_->solution, result);
  return watch.microseconds();
}

void ComplementaritySolve::unpack(const ComplementaritySolution& found, StepResult& result) {
  const std::size_t n = result.problem.contacts.size();
  solvers::contact::ContactSolution& solution = result.solution;
  const bool solved = solvers::usable(result.status);
  solution.ray_multipliers.clear();
  solution.slack.clear();
  solution.proof.resize(0);
  solution.linear_multipliers.resize(0);
  solution.equality_multipliers.resize(0);
  solution.bound_multipliers.setZero(result.program.lower.size());
  solution.force.assign(n, {});
  solution.gap.resize(n);
  result.de_saxce.assign(n, 0.0);
  if (solved)
    rows_.motion(response_, found.z, result.delta);
  else
    result.delta.setZero(scene_->nv());
  solution.delta = result.delta;
  for (std::size_t i = 0; i < n; ++i) {
    const int contact = static_cast<int>(i);
    solution.gap[i] = result.problem.contacts[i].gap + row_times(result.program.J, contact, 0, result.delta);
    if (!solved) continue;
    solution.force[i] = rows_.force(contact, found.z);
    // From here on the program is one of rigid contacts whose gaps are raised by the deflection of compliant ones.
    result.program.contacts[i].gap += result.program.contacts[i].compliance * solution.force[i][0];
    result.program.contacts[i].compliance = 0;
    rows_.append_pyramid(contact, found.z, solution.ray_multipliers);
    result.de_saxce[i] = slide_of(result.program, contact, result.delta).gap;
    result.program.contacts[i].gap += result.de_saxce[i];
  }
  if (!solved || solution.bound_multipliers.size() == 0) return;
  rows_.add_limits(found.z, solution.bound_multipliers);
  for (const scene::Robot& robot : scene_->robots()) {
    for (int v = robot.first_v; v < robot.first_v + robot.nv; ++v)
      if (result.program.lower(v) == result.program.upper(v))
        solution.bound_multipliers(v) = reaction(result.program, solution, v);
  }
}

void ComplementaritySolve::choose_forces(StepResult& result) {
  if (!solvers::usable(result.status)) return;
  result.solution.forces_unique = force_uniqueness_.forces_unique(result.program, result.solution, certifier_);
  result.forces_least_norm = result.solution.forces_unique;
  if (scene_->settings().step.compliance > 0) return;  // compliant contacts: the gaps determine the forces
  if (!result.forces_least_norm && scene_->settings().step.forces == scene::Forces::kLeastNorm)
    result.forces_least_norm = least_norm_.select(result.program, result.solution);
}

void ComplementaritySolve::certify(const solvers::lcp::ComplementarityCertificate& problem, StepResult& result) {
  solvers::contact::Certificate& certificate = result.certificate;
  if (solvers::usable(result.status)) certificate = certifier_.certify(result.program, result.solution);
  certificate.stationarity = std::max(certificate.stationarity, problem.stationarity);
  certificate.primal = std::max(certificate.primal, problem.primal);
  certificate.complementarity = std::max(certificate.complementarity, problem.complementarity);
  certificate.infeasible = problem.infeasible;
  if (solvers::usable(result.status) || result.status == Status::kInfeasible)
    result.status = solvers::contact::confirmed(result.status, certificate);
  if (!solvers::usable(result.status)) result.delta.setZero();
}

void ComplementaritySolve::find_offenders(const ComplementaritySolution& found, StepResult& result) {
  ComplementarityDetail& detail = result.detail_of<ComplementarityDetail>();
  auto& contacts = result.offending_contacts;
  auto& limits = result.offending_limits;
  const auto add = [&](int row) {
    if (rows_.contact_of(row) >= 0) contacts.push_back(rows_.contact_of(row));
    if (rows_.limit_of(row) >= 0) limits.push_back(rows_.limit_of(row));
  };
  if (solvers::usable(result.status)) {
    detail.uniqueness = found.uniqueness;
    result.status = Status::kSolved;
    if (found.uniqueness != solvers::lcp::Uniqueness::kNotUnique) return;
    // The second solution must be certified too.
    const ComplementaritySolution second{.z = found.second_z, .w = found.second_w};
    if (!(solvers::lcp::certify(detail.program, second).max_scaled() <= solvers::contact::kCertified)) {
      detail.uniqueness = solvers::lcp::Uniqueness::kUnknown;
      return;
    }
    rows_.motion(response_, found.second_z, detail.alternative_delta);
    const Eigen::VectorXd other = detail.alternative_delta - result.delta;
    const double moved = other.lpNorm<Eigen::Infinity>();
    if (moved <= kSameMotion + kSameMotionShare * result.delta.lpNorm<Eigen::Infinity>()) {
      detail.uniqueness = solvers::lcp::Uniqueness::kUnknown;
      detail.alternative_delta.resize(0);
      return;
    }
    result.status = Status::kNotUnique;
    result.solution.motion_unique = false;
    for (int i = 0; i < result.program.J.size(); ++i) {
      // Loaded in one of them, and not moving alike.
      const double f = rows_.force(i, found.z)[0], g = rows_.force(i, found.second_z)[0];
      const double slide = slide_of(result.program, i, other).distance;
      const bool differs =
          std::abs(row_times(result.program.J, i, 0, other)) > kMovesApart * moved || slide > kMovesApart * moved;
      if (std::max(f, g) > 0 && differs) contacts.push_back(i);
    }
  } else if (result.status == Status::kInfeasible) {
    for (const solvers::lcp::RefutedModes& part : found.proof) {
      const double largest = part.y.lpNorm<Eigen::Infinity>();
      for (int row = 0; row < static_cast<int>(part.y.size()); ++row)
        if (std::abs(part.y(row)) > kInProof * largest) add(row);
    }
  } else {
    // No proof: the rows that a motion without contact forces would break.
    for (int row = 0; row < std::min(rows_.size(), static_cast<int>(detail.program.q.size())); ++row)
      if (detail.program.q(row) < 0) add(row);
  }
  for (auto* list : {&contacts, &limits}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

std::string explain(const scene::Scene& scene, const StepResult& result) {
  const std::vector<std::string> bodies = scene.names_bodies(), velocities = scene.names_v();
  std::vector<std::string> parts;
  const auto add = [&](std::string name) {
    if (std::find(parts.begin(), parts.end(), name) == parts.end()) parts.push_back(std::move(name));
  };
  for (const int i : result.offending_contacts) {
    const contact::Contact& contact = result.problem.contacts[i];
    add(fmt::format("{} – {}", bodies[contact.body_a], bodies[contact.body_b]));
  }
  for (const int v : result.offending_limits) add(fmt::format("limit of {}", velocities[v]));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "contacts: " : ", ") + part;
  const ComplementarityDetail* detail = result.complementarity();
  if (detail == nullptr || detail->alternative_delta.size() == 0) return text;
  Eigen::Index at = 0;
  (detail->alternative_delta - result.delta).cwiseAbs().maxCoeff(&at);
  return fmt::format("{} moves by {:.6g}, or by {:.6g} as well{}{}", velocities[at], result.delta(at),
                     detail->alternative_delta(at), text.empty() ? "" : "; ", text);
}

}  // namespace deft::dynamics
