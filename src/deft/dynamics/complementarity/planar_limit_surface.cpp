#include "deft/dynamics/complementarity/planar_limit_surface.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/complementarity/mode_polish.hpp"
#include "deft/dynamics/energy_step.hpp"
#include "deft/math/row_products.hpp"
#include "deft/scene/motion_plane.hpp"

namespace deft::dynamics {
namespace {

constexpr double kTouching_m = 1e-6;      // velocity form: contacts with a gap up to it touch
constexpr double kBroken_m = 1e-11;       // a near contact left out whose linearised gap falls below joins the problem
constexpr double kPenetration_m = 1e-9;   // so does a far one that comes deeper on its way
constexpr int kSamples = 16;              // of the way, where pairs left out are looked at
constexpr int kMostProblems = 100;        // of one step, for supports that are no ellipsoid and for relinearize
constexpr int kUndamped = 12;             // of them, before linearisations go half way only
constexpr double kSettledMotion = 1e-10;  // of a step's motion: linearised where it ends
constexpr double kSecond = 1e-6;          // of the motion: solutions that differ by more are different motions
constexpr double kAccurate = 1e-11;       // scaled residual above which the motion is improved
constexpr double kEnough = 5e-9;          // scaled residual that is certified in any case
constexpr double kSofter[] = {1.5, 3,   10,  30,  100,
                              300, 1e3, 1e4, 1e5, 1e6};  // times the admittance, where the true one fails
constexpr double kSearchWork = 5e7;  // multiplications of one step's search for an alternative motion: some 20 ms
constexpr double kResting = 1e-9;    // of the commanded motion: what moves less is at rest
constexpr double kBalance = 1e-8;    // largest error of balance and bound
constexpr double kBalanced = 1e-11;  // error above which the motion is improved

}  // namespace

PlanarLimitSurface::PlanarLimitSurface(const scene::Scene& scene)
    : scene_(&scene),
      h_(required_step_length(scene)),
      assembler_(scene),
      solve_(scene),
      state_(scene.make_state()),
      on_way_(scene.make_state()) {
  check_scene();
  lay_out();
  solve_.settings().check_uniqueness = false;
  if (!scene.settings().step.uniqueness_check) return;
  search_ = std::make_unique<ComplementaritySolve>(scene);
  search_->settings().max_work = kSearchWork;
}

void PlanarLimitSurface::check_scene() const {
  const scene::WorldSpec& spec = scene_->spec();
  const auto refuse = [&](const SourceLocation& where, const std::string& what) {
    throw InputError(where, "step.model: limit-surface " + what);
  };
  const SourceLocation file{spec.file, 0, 0};
  const Eigen::Vector3d &g = spec.gravity_W, n = scene::plane_normal(scene_->plane());
  if ((g - g.dot(n) * n).norm() > 1e-9 * g.norm())
    refuse(file, fmt::format("needs gravity along the normal of the plane of motion {}, but gravity is [{}, {}, {}]",
                             to_string(scene_->plane()), g.x(), g.y(), g.z()));
  if (!spec.wrenches.empty())
    refuse(spec.wrenches.front().where, "has no external wrenches: supports carry objects with an unknown factor");
  if (!joint_damping(*scene_).isZero(0)) refuse(file, "has no step.joint_damping; admittances say how robots comply");
  for (const scene::Robot& robot : scene_->robots()) {
    if (robot.admittance.size() == 0 && scene_->settings().step.gain > 0)
      refuse(spec.world.models[robot.model].where,
             fmt::format("needs 'admittance' (B, one number per joint) of robot '{}', since step.gain is {}",
                         robot.name, scene_->settings().step.gain));
  }
}

void PlanarLimitSurface::lay_out() {
  admittance_.setZero(scene_->nu());
  for (const scene::Robot& robot : scene_->robots()) {
    for (int i = 0; i < robot.nu; ++i) {
      blocks_.push_back({.first_v = robot.v(i), .command = robot.first_u + i});
      if (robot.admittance.size() > 0)
        admittance_(robot.first_u + i) = scene_->settings().step.gain * robot.admittance(i);
    }
  }
  for (const scene::Object& object : scene_->objects()) {
    if (object.frozen) {
      for (int i = 0; i < object.nv; ++i) blocks_.push_back({.first_v = object.first_v + i});
      continue;
    }
    blocks_.push_back({.first_v = object.first_v, .size = object.nv, .support = static_cast<int>(supports_.size())});
    supports_.emplace_back(*scene_, object);
  }
  std::sort(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) { return a.first_v < b.first_v; });
}

void PlanarLimitSurface::reset() {
  solve_.forget();
  for (SupportFriction& support : supports_) support.forget();
}

/// Every pair at the start, the near ones marked.
void PlanarLimitSurface::start_step(const Eigen::VectorXd& q, const Eigen::VectorXd& u) {
  const scene::StepSettings& settings = scene_->settings().step;
  scene::SceneState& state = state_;
  scene_->update(q, state);
  scene_->find_planar_contacts(kInfinity, state);
  assembler_.assemble(state, contact::assemble_options(settings), all_);
  X_start_.assign(state.X_WB().begin(), state.X_WB().end());
  linearised_at_.setZero(scene_->nv());
  drift_ = h_ * u;
  for (SupportFriction& support : supports_) {
    support.place(state);
    support.restart();
  }
  part_of_.assign(all_.contacts.size(), kFar);
  start_gaps_.clear();
  for (std::size_t i = 0; i < all_.contacts.size(); ++i) {
    const double gap = all_.contacts[i].gap;
    const bool near = velocity_form() ? gap <= kTouching_m : gap < settings.contact_margin;
    if (near) part_of_[i] = kNear;
    start_gaps_.emplace_back(all_.contacts[i].id, gap);
  }
  std::sort(start_gaps_.begin(), start_gaps_.end());
  solve_.forget();  // so that of several solutions none is preferred for the steps before
  leaves_penetration_ = false;
  iterations_ = 0;
  solve_us_ = certifying_us_ = 0;
}

/// Contacts that are at least `least`; supports and velocity control as the energy ½δᵀQδ + bᵀδ that they minimise: Q =
/// A⁻¹ and (cB)⁻¹, b = −(cB)⁻¹ h u.
void PlanarLimitSurface::make_problem(Part least, contact::ContactProblem& problem) const {
  problem.nv = all_.nv;
  problem.contacts.clear();
  problem.J.clear();
  problem.masses.clear();
  for (std::size_t i = 0; i < part_of_.size(); ++i) {
    if (part_of_[i] < least) continue;
    const int k = static_cast<int>(i);
    problem.contacts.push_back(all_.contacts[i]);
    if (velocity_form()) problem.contacts.back().gap = 0;
    problem.J.append(all_.J.rows(k), all_.J.cols(k)) = all_.J.block(k);
  }
  problem.Q.clear();
  problem.b.setZero(problem.nv);
  for (const Block& block : blocks_) {
    auto Q = problem.Q.append(block.first_v, block.size);
    if (block.support >= 0) {
      Q = supports_[block.support].Q();
    } else {
      const double admittance = block.command >= 0 ? admittance_(block.command) : 0.0;
      Q(0, 0) = admittance > 0 ? 1 / admittance : 1;  // under perfect control the value does not matter
      if (admittance > 0) problem.b(block.first_v) = -drift_(block.command) / admittance;
    }
  }
}

void PlanarLimitSurface::solve_included(StepResult& result) {
  make_problem(kIncluded, result.problem);
  const bool perfect = scene_->settings().step.gain == 0;
  certifying_us_ += solve_.solve(state_.q, perfect ? &drift_ : nullptr, result);
  if (!perfect) improve(result);
  iterations_ += result.iterations;
  solve_us_ += result.solve_us;
}

/// Between stiff robots contacts carry forces of the order 1/c, and cancellation in A JᵀΛ leaves the motion few digits.
/// The modes of the contacts restore them; where even these were not found, the modes of robots with larger admittance
/// do.
void PlanarLimitSurface::improve(StepResult& result) {
  if (result.status == solvers::Status::kInfeasible) return;
  if (solvers::usable(result.status) && !(result.certificate.max_scaled() > kAccurate)) return;
  if (take_modes(result.solution, result)) return;
  if (solvers::usable(result.status)) return;
  // A solution that misses the solver's own tolerance may still be accurate enough to be certified.
  const double tolerance = std::exchange(solve_.settings().tolerance, kEnough);
  make_problem(kIncluded, searched_.problem);
  certifying_us_ += solve_.solve(state_.q, nullptr, searched_);
  solve_.settings().tolerance = tolerance;
  if (solvers::usable(searched_.status)) {
    if (!take_modes(searched_.solution, result)) result = searched_;
    return;
  }
  const Eigen::VectorXd admittance = admittance_;
  for (const double softer : kSofter) {
    admittance_ = softer * admittance;
    make_problem(kIncluded, searched_.problem);
    admittance_ = admittance;
    certifying_us_ += solve_.solve(state_.q, nullptr, searched_);
    if (solvers::usable(searched_.status) && take_modes(searched_.solution, result)) return;
  }
}

/// Gives `result` the motion of the modes that `guess` shows. @returns whether that made it better.
bool PlanarLimitSurface::take_modes(const solvers::contact::ContactSolution& guess, StepResult& result) {
  improved_.solution = guess;
  improved_.program = result.program;
  if (!polish_modes(result.problem, improved_.program, improved_.solution, improved_.de_saxce)) return false;
  const solvers::contact::Certificate certificate = certifier_.certify(improved_.program, improved_.solution);
  const solvers::Status status = solvers::contact::confirmed(solvers::Status::kSolved, certificate);
  const bool better = !solvers::usable(result.status) ||
                      certificate.max_scaled() < std::max(result.certificate.max_scaled(), kAccurate);
  if (!solvers::usable(status) || !better) return false;
  result.program.contacts = improved_.program.contacts;
  result.solution = improved_.solution;
  result.de_saxce = improved_.de_saxce;
  result.delta = result.solution.delta.head(scene_->nv());
  result.certificate = certificate;
  if (!solvers::usable(result.status)) {
    result.offending_contacts.clear();
    result.offending_limits.clear();
  }
  result.status = status;
  return true;
}

/// From free motion, contact by contact.
void PlanarLimitSurface::solve_contacts(const Eigen::VectorXd& q, StepResult& result) {
  bool all_near = false;
  for (;;) {
    solve_included(result);
    if (!solvers::usable(result.status)) {
      // More contacts may help: their friction holds objects.
      if (!all_near) {
        all_near = true;
        for (char& part : part_of_) part = part == kNear ? static_cast<char>(kIncluded) : part;
        continue;
      }
      const bool proven = result.status == solvers::Status::kInfeasible && scene_->settings().step.gain == 0;
      if (proven || !leave_penetration()) return;
      continue;
    }
    if (include_broken(result.delta)) continue;
    if (velocity_form() || !include_on_way(q, result.delta)) return;
  }
}

/// Polygons that turned penetrate a little, and where φ < 0 a solution need not exist (theorem 1 needs φ ≥ 0): then
/// existing penetration is not reduced in this step, only kept from growing. @returns whether there was any.
bool PlanarLimitSurface::leave_penetration() {
  if (leaves_penetration_) return false;
  bool any = false;
  for (contact::Contact& contact : all_.contacts) {
    any = any || contact.gap < 0;
    contact.gap = std::max(contact.gap, 0.0);
  }
  leaves_penetration_ = any;
  return any;
}

/// Includes near contacts that δ breaks. @returns whether there are any.
bool PlanarLimitSurface::include_broken(const Eigen::VectorXd& delta) {
  bool grown = false;
  for (std::size_t i = 0; i < part_of_.size(); ++i) {
    if (part_of_[i] != kNear) continue;
    const double gap = velocity_form() ? 0.0 : all_.contacts[i].gap;
    if (gap + row_times(all_.J, static_cast<int>(i), 0, delta) >= -kBroken_m) continue;
    part_of_[i] = kIncluded;
    grown = true;
  }
  return grown;
}

/// Includes far contacts that δ penetrates on its way: linearised gaps select the candidates, true gaps at samples of
/// the way decide. @returns whether there are any.
bool PlanarLimitSurface::include_on_way(const Eigen::VectorXd& q, const Eigen::VectorXd& delta) {
  suspects_.clear();
  for (std::size_t i = 0; i < part_of_.size(); ++i) {
    if (part_of_[i] == kFar &&
        all_.contacts[i].gap + row_times(all_.J, static_cast<int>(i), 0, delta) < -kPenetration_m)
      suspects_.push_back(all_.contacts[i].id);
  }
  if (suspects_.empty()) return false;
  std::sort(suspects_.begin(), suspects_.end());
  bool grown = false;
  for (int k = 1; k <= kSamples; ++k) {
    delta_on_way_ = delta * (static_cast<double>(k) / kSamples);
    scene_->model().integrate(q, delta_on_way_, q_on_way_);
    scene_->update(q_on_way_, on_way_);
    scene_->find_planar_contacts(-kPenetration_m, on_way_);
    for (const collision::ContactPair& pair : on_way_.contacts) {
      if (!std::binary_search(suspects_.begin(), suspects_.end(), pair.id)) continue;
      const auto found = std::find_if(all_.contacts.begin(), all_.contacts.end(),
                                      [&](const contact::Contact& contact) { return contact.id == pair.id; });
      part_of_[found - all_.contacts.begin()] = kIncluded;
      grown = true;
    }
  }
  return grown;
}

/// φ(q ⊕ δ') ≈ φ(q ⊕ δ) + J(δ' − δ): all pairs are linearised about the end δ of the last solution. @returns whether
/// they were already.
bool PlanarLimitSurface::relinearize(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, bool damped) {
  const double size = delta.lpNorm<Eigen::Infinity>();
  if ((delta - linearised_at_).lpNorm<Eigen::Infinity>() <= kSettledMotion * (1e-3 + size)) return true;
  linearised_at_ = damped ? Eigen::VectorXd(0.5 * (linearised_at_ + delta)) : delta;
  parts_.clear();
  for (std::size_t i = 0; i < part_of_.size(); ++i) parts_.emplace_back(all_.contacts[i].id, part_of_[i]);
  std::sort(parts_.begin(), parts_.end());
  scene_->model().integrate(q, linearised_at_, q_on_way_);
  scene_->update(q_on_way_, on_way_);
  scene_->find_planar_contacts(kInfinity, on_way_);
  assembler_.assemble(on_way_, contact::assemble_options(scene_->settings().step), all_);
  part_of_.assign(all_.contacts.size(), kFar);
  for (std::size_t i = 0; i < part_of_.size(); ++i) {
    contact::Contact& contact = all_.contacts[i];
    const auto known = std::lower_bound(parts_.begin(), parts_.end(), std::pair{contact.id, static_cast<char>(kFar)});
    if (known != parts_.end() && known->first == contact.id) part_of_[i] = known->second;
    contact.gap -= row_times(all_.J, static_cast<int>(i), 0, linearised_at_);
    if (leaves_penetration_) contact.gap = std::max(contact.gap, 0.0);
    // Records carry witness points along with their bodies, from the start.
    const auto back = [&](int body, Eigen::Vector3d& p) { p = X_start_[body] * (on_way_.X_WB()[body].inverse() * p); };
    back(contact.body_a, contact.p_WA);
    back(contact.body_b, contact.p_WB);
  }
  return false;
}

/// Problem after problem until supports and linearisation are those of the solution.
void PlanarLimitSurface::settle(const Eigen::VectorXd& q, StepResult& result) {
  for (int k = 0; k < kMostProblems; ++k) {
    solve_contacts(q, result);
    if (!solvers::usable(result.status)) return;
    bool settled = true;
    for (SupportFriction& support : supports_) {
      if (!support.update(result.delta, kResting * drift_.norm() + 1e-14)) settled = false;
    }
    if (scene_->settings().step.relinearize != 0 && !relinearize(q, result.delta, k >= kUndamped)) settled = false;
    if (settled) return;
  }
  result.status = solvers::Status::kIterationLimit;
}

/// Near contacts that the problem did without: open, with their gaps.
void PlanarLimitSurface::add_left_out(StepResult& result) const {
  for (std::size_t i = 0; i < part_of_.size(); ++i) {
    if (part_of_[i] != kNear) continue;
    const int k = static_cast<int>(i);
    const contact::Contact& contact = all_.contacts[i];
    result.problem.contacts.push_back(contact);
    if (velocity_form()) result.problem.contacts.back().gap = 0;
    result.problem.J.append(all_.J.rows(k), all_.J.cols(k)) = all_.J.block(k);
    result.program.J.append(all_.J.rows(k), all_.J.cols(k)) = all_.J.block(k);
    solvers::contact::ContactLaw& law = result.program.contacts.emplace_back();
    law.gap = result.problem.contacts.back().gap;
    law.mu = contact.mu;
    law.frictionless = contact.frictionless;
    law.id = contact.id;
    result.de_saxce.push_back(0);
    result.solution.force.push_back({});
    result.solution.gap.push_back(law.gap + row_times(all_.J, k, 0, result.delta));
    result.solution.ray_multipliers.insert(result.solution.ray_multipliers.end(), contact.frictionless ? 1 : 2, 0.0);
  }
}

/// Searches the problem of all near contacts for another motion: its solution may be one, or what its solver finds
/// beside that.
void PlanarLimitSurface::search_alternative_motion(const Eigen::VectorXd& q, StepResult& result) {
  if (!search_ || !solvers::usable(result.status)) return;
  make_problem(kNear, searched_.problem);
  search_->forget();
  search_->solve(state_.q, scene_->settings().step.gain == 0 ? &drift_ : nullptr, searched_);
  if (!solvers::usable(searched_.status)) return;
  ComplementarityDetail& detail = result.detail_of<ComplementarityDetail>();
  const ComplementarityDetail& searched = searched_.detail_of<ComplementarityDetail>();
  const auto apart = [&](const Eigen::VectorXd& delta) {
    return delta.size() > 0 ? (delta - result.delta).lpNorm<Eigen::Infinity>() : 0.0;
  };
  const double first = apart(searched_.delta), second = apart(searched.alternative_delta);
  detail.uniqueness = searched.uniqueness;
  if (std::max(first, second) <=
      kSecond * std::max(result.delta.lpNorm<Eigen::Infinity>(), drift_.lpNorm<Eigen::Infinity>())) {
    if (detail.uniqueness == solvers::lcp::Uniqueness::kNotUnique)
      detail.uniqueness = solvers::lcp::Uniqueness::kUnknown;  // apart by rounding
    return;
  }
  const Eigen::VectorXd& other = first > second ? searched_.delta : searched.alternative_delta;
  if (!velocity_form() && include_on_way(q, other)) {  // through what is no near contact
    detail.uniqueness = solvers::lcp::Uniqueness::kUnknown;
    return;
  }
  detail.uniqueness = solvers::lcp::Uniqueness::kNotUnique;
  result.status = solvers::Status::kNotUnique;
  result.solution.motion_unique = false;
  detail.alternative_delta = other;
  result.offending_contacts.clear();
  for (const int i : searched_.offending_contacts) {
    const std::uint64_t id = searched_.problem.contacts[i].id;
    const auto& contacts = result.problem.contacts;
    const auto found = std::find_if(contacts.begin(), contacts.end(),
                                    [&](const contact::Contact& contact) { return contact.id == id; });
    if (found != contacts.end()) result.offending_contacts.push_back(static_cast<int>(found - contacts.begin()));
  }
}

void PlanarLimitSurface::report(StepResult& result) {
  ComplementarityDetail& detail = result.detail_of<ComplementarityDetail>();
  detail.balance = detail.bound = 0;
  if (solvers::usable(result.status)) {
    LimitSurfaceBalance balance = balance_of(*scene_, result, supports_, drift_, admittance_);
    // With stiff robots, forces that are small beside the possible ones have few digits too.
    const solvers::Status status = result.status;
    if (balance.balance > kBalanced && scene_->settings().step.gain > 0 && take_modes(result.solution, result)) {
      balance = balance_of(*scene_, result, supports_, drift_, admittance_);
      result.status = status;
    }
    detail.balance = balance.balance;
    detail.bound = balance.bound;
    if (!(balance.balance <= kBalance && balance.bound <= 1 + kBalance)) {
      result.status = solvers::Status::kNumericalFailure;
      detail.uniqueness = solvers::lcp::Uniqueness::kUnknown;
      detail.alternative_delta.resize(0);
    }
  }
  if (!solvers::usable(result.status)) result.delta.setZero(scene_->nv());
  for (auto& force : result.solution.force)
    for (double& component : force) component /= h_;
  result.solution.bound_multipliers /= h_;
  for (std::size_t i = 0; i < result.problem.contacts.size(); ++i) {
    contact::Contact& contact = result.problem.contacts[i];
    const auto start = std::lower_bound(start_gaps_.begin(), start_gaps_.end(), std::pair{contact.id, -kInfinity});
    if (start == start_gaps_.end() || start->first != contact.id) continue;
    const bool left = leaves_penetration_ && contact.gap == 0 && start->second < 0;
    contact.gap = start->second;
    if (velocity_form() || left) result.solution.gap[i] += start->second;
  }
}

void PlanarLimitSurface::step(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  check_start(*scene_, start, u);
  const Stopwatch watch;
  start_step(start.q, u);
  settle(start.q, result);
  const double step_us = watch.microseconds();
  add_left_out(result);
  search_alternative_motion(start.q, result);
  report(result);
  result.iterations = iterations_;
  result.solve_us = solve_us_;
  scene_->model().integrate(start.q, result.delta, result.q_next);
  result.v_next.resize(0);
  result.energy = 0;  // there is none
  result.step_us = step_us - certifying_us_;
}

}  // namespace deft::dynamics
