#include "deft/dynamics/convex/convex_solve.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/contact_program.hpp"

namespace deft::dynamics {
ConvexSolve::ConvexSolve(const scene::Scene& scene)
    : scene_(&scene), kappa_(scene.settings().step.kappa), effort_limits_(scene) {
  solver_settings_.compliance_fallback = coulomb();  // else a step that fails moves nothing
  if (coulomb() && scene.settings().step.compliance > 0)
    throw InputError({scene.spec().file, 0, 0},
                     fmt::format("step.friction_law: coulomb is for rigid contact, but step.compliance is {}",
                                 scene.settings().step.compliance));
}

DerivativeReport ConvexSolve::differentiate(const State& start, const Eigen::VectorXd& u, const StepResult& result,
                                            const DerivativeOptions& options, StepDerivative& out) {
  if (!differentiator_) differentiator_ = std::make_unique<StepDifferentiator>(*scene_);
  differentiator_->linearize(start, u, result, options);
  differentiator_->jacobians(out);
  return {differentiator_->is_nonsmooth(), differentiator_->nonsmooth_points()};
}

void ConvexSolve::forget() {
  solver_.forget();
  least_norm_.forget();
  effort_limits_.forget();
  corrections_.forget();
}

void ConvexSolve::set_kappa(double kappa) {
  if (!(kappa > 0)) throw std::invalid_argument(fmt::format("kappa = {} must be positive (infinity: exact)", kappa));
  kappa_ = kappa;
}

void ConvexSolve::make_program(StepResult& result) const {
  make_contact_program(*scene_, result.problem, result.program);
  result.program.kappa = kappa_;
  for (std::size_t i = 0; i < result.de_saxce.size(); ++i) result.program.contacts[i].gap += result.de_saxce[i];
  set_joint_limits(*scene_, q_, result.program);
}

// Under `forces: any` the corners of flat patches carry the forces of the redundant contacts between them.
void ConvexSolve::find_redundant(const StepResult& result) {
  const scene::StepSettings& settings = scene_->settings().step;
  const bool applies = settings.forces == scene::Forces::kAny && std::isinf(kappa_) && !coulomb() &&
                       settings.compliance == 0 && settings.friction_arm == 1;
  if (applies) redundant_.find(result.problem.contacts, is_redundant_);
  solver_settings_.redundant = applies ? std::span<const char>(is_redundant_) : std::span<const char>();
}

void ConvexSolve::solve_program(StepResult& result) {
  const solvers::contact::SolveInfo info = solver_.solve(result.program, solver_settings_, result.solution);
  result.status = info.status;
  result.iterations += info.iterations;
  result.solve_us += info.solve_us;
}

// Exact programs: only springs that are overloaded without saturation get it, those of the last step first. What is
// added changes nothing where the spring pulls less than its limit, so the end of the loop is the solution with all of
// them.
void ConvexSolve::solve_with_effort_limits(const Eigen::VectorXd& u, StepResult& result) {
  const bool smoothed = std::isfinite(result.program.kappa);
  for (int round = 0; round <= 2 * effort_limits_.count(); ++round) {
    make_program(result);
    effort_limits_.extend(q_, u, result.program);
    solve_program(result);
    if (smoothed || !solvers::usable(result.status)) return;
    if (!effort_limits_.add_overloaded(q_, u, result.solution.delta)) {
      effort_limits_.drop_unused(q_, u, result.solution.delta);
      return;
    }
  }
  result.status = solvers::Status::kIterationLimit;
}

void ConvexSolve::solve_once(const Eigen::VectorXd& u, StepResult& result) {
  if (effort_limits_.none()) {
    make_program(result);
    solve_program(result);
  } else {
    solve_with_effort_limits(u, result);
  }
}

// The gaps of the program become those of the problem plus the De Saxcé corrections.
void ConvexSolve::set_corrections(const Eigen::VectorXd& corrections, StepResult& result) const {
  result.de_saxce.assign(corrections.data(), corrections.data() + corrections.size());
  for (std::size_t i = 0; i < result.de_saxce.size(); ++i)
    result.program.contacts[i].gap = result.problem.contacts[i].gap + result.de_saxce[i];
}

// Fixed point of the De Saxcé corrections: x and the gaps that the solution under x opens by sliding become equal.
// @returns whether they are.
bool ConvexSolve::solve_coulomb(const Eigen::VectorXd& u, StepResult& result) {
  const double asked = kappa_;
  const auto solve = [&](const Eigen::VectorXd& x, double kappa) {
    result.de_saxce.assign(x.data(), x.data() + x.size());
    kappa_ = kappa;
    solve_once(u, result);
    return CoulombCorrections::Solved{result.status, result.program, result.solution};
  };
  // By reference: a copy of what it captures would be allocated.
  const bool found = corrections_.find(result.problem.contacts, asked, std::cref(solve));
  kappa_ = asked;
  // With a barrier the certificate, of the program alone, is good where the corrections are not.
  const bool is_doubtful = result.status == solvers::Status::kInfeasible || std::isfinite(kappa_);
  if (!found && is_doubtful) result.status = solvers::Status::kIterationLimit;
  // What is certified is the law at this motion.
  const Eigen::VectorXd& opened = corrections_.opened();
  for (std::size_t i = 0; i < result.solution.gap.size() && i < result.de_saxce.size(); ++i)
    result.solution.gap[i] += opened[static_cast<Eigen::Index>(i)] - result.de_saxce[i];
  set_corrections(opened, result);
  return found;
}

void ConvexSolve::choose_forces(StepResult& result) {
  const bool choose = scene_->settings().step.forces == scene::Forces::kLeastNorm && solvers::usable(result.status);
  if (choose && !result.forces_least_norm)
    result.forces_least_norm = least_norm_.select(result.program, result.solution);
}

// The gaps of the solution are those of the program until the certificate has seen them.
double ConvexSolve::conclude(StepResult& result, bool is_last) {
  if (is_last) choose_forces(result);
  const Stopwatch watch;
  result.certificate = certifier_.certify(result.program, result.solution);
  result.status = solvers::contact::confirmed(result.status, result.certificate);
  const double certifying_us = watch.microseconds();
  for (std::size_t i = 0; i < result.de_saxce.size(); ++i) result.solution.gap[i] -= result.de_saxce[i];
  result.delta = result.solution.delta.head(scene_->nv());
  if (!solvers::usable(result.status)) result.delta.setZero(scene_->nv());
  return certifying_us;
}

double ConvexSolve::make_last(StepResult& result) {
  for (std::size_t i = 0; i < result.de_saxce.size(); ++i) result.solution.gap[i] += result.de_saxce[i];
  return conclude(result, true);
}

double ConvexSolve::solve(const Eigen::VectorXd& q, const Eigen::VectorXd& u, StepResult& result, bool is_last) {
  q_ = q;
  result.iterations = 0;
  result.solve_us = 0;
  result.de_saxce.clear();
  result.offending_contacts.clear();
  result.offending_limits.clear();
  result.detail = std::monostate{};
  find_redundant(result);
  bool agreed = true;
  if (coulomb()) {
    agreed = solve_coulomb(u, result);
  } else {
    solve_once(u, result);
  }
  result.forces_least_norm = result.solution.forces_unique;
  const double certifying_us = conclude(result, is_last);
  if (!agreed && result.status == solvers::Status::kNumericalFailure) result.status = solvers::Status::kIterationLimit;
  return certifying_us;
}

ConvexEnergyStep::ConvexEnergyStep(const scene::Scene& scene, Order order, EnergyLayout layout)
    : EnergyStep(scene, order, std::move(layout), joint_damping(scene)), solve_(scene), relinearization_(scene) {
  const scene::StepSettings& step = scene.settings().step;
  if (step.relinearize == scene::StepSettings::kUntilSettled)
    throw InputError({scene.spec().file, 0, 0},
                     fmt::format("step.model: {} linearises its contacts a number of times, but step.relinearize is "
                                 "true; valid: 0, 1, …",
                                 to_string(step.model)));
}

double ConvexEnergyStep::solve(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  const int most = std::max(0, scene().settings().step.relinearize);
  double certifying_us = solve_.solve(start.q, u, result, most == 0);
  earlier_.swap(result.linearizations);
  int k = 0, iterations = result.iterations;
  double solve_us = result.solve_us;
  for (; k < most && solvers::usable(result.status); ++k) {
    if (to_size(k) == earlier_.size()) earlier_.emplace_back();
    std::swap(result, earlier_[k]);
    result.problem.Q = earlier_[k].problem.Q;
    result.problem.b = earlier_[k].problem.b;
    result.problem.masses = earlier_[k].problem.masses;
    about_ = earlier_[k].solution.delta.head(scene().nv());
    relinearization_.about(at_start(), about_, result.problem);
    keep_recovery_limit(result.problem);
    certifying_us += solve_.solve(start.q, u, result, k + 1 == most);
    iterations += result.iterations;
    solve_us += result.solve_us;
    const bool found = solvers::usable(result.status);
    if (found) relinearization_.to_start(result.problem);
    if (found) continue;
    // The linearisation before stays, as the last one.
    std::swap(result, earlier_[k]);
    certifying_us += solve_.make_last(result);
    break;
  }
  earlier_.resize(to_size(k));
  result.linearizations.swap(earlier_);
  result.iterations = iterations;
  result.solve_us = solve_us;
  return certifying_us;
}

}  // namespace deft::dynamics
