#include "deft/planning/feasibility/planning_steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/dynamics/energy_step.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/planning/feasibility/fingers.hpp"

namespace deft::planning {
namespace {

constexpr double kMostShare = 1 + 5e-4;  // of limits of joints; the check of plans allows a little more

scene::Scene with_h(const scene::Scene& scene, double h) {
  return scene.with([h](scene::SceneSettings& settings) { settings.step.h = h; });
}

/// D/(hK) per joint; empty if no joint has damping.
Eigen::VectorXd lateness_of(const scene::Scene& scene, double h) {
  Eigen::VectorXd lateness = dynamics::joint_damping(scene);
  if (lateness.isZero(0)) return {};
  for (const scene::Robot& robot : scene.robots())
    lateness.segment(robot.first_u, robot.nu).array() /= h * robot.stiffness.array();
  return lateness;
}

}  // namespace

scene::Scene planning_scene(const scene::Scene& scene) {
  return scene.with([](scene::SceneSettings& settings) {
    settings.step.kappa = kInfinity;
    settings.step.forces = scene::Forces::kAny;
  });
}

Instant start_instant(const Ensemble& ensemble, const Eigen::VectorXd& q, const Eigen::VectorXd& u) {
  Instant start{q, u, {}, {}};
  for (const World& world : ensemble.worlds) {
    start.q_worlds.push_back(world.q_start.size() > 0 ? world.q_start : q);
    start.v_worlds.push_back(Eigen::VectorXd::Zero(world.second_order ? world.scene.nv() : 0));
  }
  return start;
}

double object_motion(const scene::Scene& scene, const Eigen::VectorXd& q_from, const Eigen::VectorXd& q_to) {
  constexpr double kTurn = 0.1;  // [m/rad]
  const multibody::Model& model = scene.model();
  const Eigen::VectorXd way = model.difference(q_from, q_to);
  double sum = 0;
  for (const scene::Object& object : scene.objects()) {
    for (int v = object.first_v; v < object.first_v + object.nv; ++v) {
      const double part = way(v) * (model.velocities()[v].unit == "m" ? 1 : kTurn);
      sum += part * part;
    }
  }
  return std::sqrt(sum);
}

double object_motion(const scene::Scene& scene, const Instant& from, const Instant& to) {
  double furthest = object_motion(scene, from.q, to.q);
  for (std::size_t i = 0; i < from.q_worlds.size(); ++i)
    furthest = std::max(furthest, object_motion(scene, from.q_worlds[i], to.q_worlds[i]));
  return furthest;
}

PlanningSteps::PlanningSteps(const scene::Scene& scene, const Deadline* deadline, const Ensemble* ensemble)
    : scene_(&scene),
      deadline_(deadline),
      drive_limits_(scene),
      speeds_(joint_speeds(scene)),
      halved_(ensemble == nullptr ? halved_ensemble(scene) : Ensemble{}),
      ensemble_(ensemble == nullptr ? &halved_ : ensemble),
      resting_(ensemble_->worlds.empty()
                   ? nullptr
                   : std::make_unique<scene::Scene>(with_h(scene, kRest * *scene.settings().step.h))),
      exact_(dynamics::make_step_model(scene)),
      smooth_(dynamics::make_step_model(resting_ ? *resting_ : scene)),
      differentiator_(resting_ ? *resting_ : scene) {
  for (const World& world : ensemble_->worlds) worlds_.push_back(std::make_unique<WorldSteps>(world, deadline));
  for (const World& world : ensemble_->worlds) has_second_order_ = has_second_order_ || world.second_order;
  all_decide();
  if (exact_->second_order())
    throw InputError({scene.spec().file, 0, 0}, "planning needs a model of first order; step.model: convex is one");
  if (scene.settings().step.model != scene::ModelKind::kConvex)
    throw InputError({scene.spec().file, 0, 0},
                     fmt::format("planning needs gradients, which step.model: {} has not; valid: convex",
                                 to_string(scene.settings().step.model)));
  for (const scene::Wrench& wrench : scene.wrenches()) {
    if (wrench.impulse || wrench.when || wrench.from > 0 || wrench.to < kInfinity)
      throw InputError(
          {scene.spec().file, 0, 0},
          "planning takes wrenches that act all the time only: no impulses, no `when:`, no `from:` above 0, no `to:`");
  }
  drive_limits_.require_weight_is_carried(scene.initial_configuration());
  lateness_ = lateness_of(scene, h());
  std::vector<char> is_actuated(to_size(scene.nv()), 0);
  for (const scene::Robot& robot : scene.robots()) std::fill_n(is_actuated.begin() + robot.first_v, robot.nv, 1);
  const auto count = scene.model().bodies().size();
  is_actuated_.assign(count, 0);
  is_object_.assign(count, 0);
  for (std::size_t b = 1; b < count; ++b) {
    for (const int v : scene.model().columns(static_cast<int>(b)))
      (is_actuated[to_size(v)] != 0 ? is_actuated_ : is_object_)[b] = 1;
  }
}

bool PlanningSteps::step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, Eigen::VectorXd& q_next) {
  if (is_over()) {
    q_next = q;
    return false;
  }
  ++solves_;
  exact_->step(q, u, result_);
  const bool usable = solvers::usable(result_.status);
  q_next = usable ? result_.q_next : q;
  return usable;
}

bool PlanningSteps::advance(const Instant& from, const Eigen::VectorXd& u, Instant& to) {
  if (!step(from.q, u, to.q)) return false;
  to.q_worlds = from.q_worlds;
  to.v_worlds = from.v_worlds;
  for (std::size_t i = 0; i < worlds_.size(); ++i) {
    if (deciding_[i] == 0) continue;
    if (!worlds_[i]->advance(from.u, u, to.q_worlds[i], to.v_worlds[i])) return false;
  }
  to.u = u;
  return true;
}

bool PlanningSteps::exceeds_limits(const Instant& from, const Eigen::VectorXd& u, const Instant& to) {
  if (speeds_.share(*scene_, from.q, to.q, h()) > kMostShare) return true;
  const double effort = drive_limits_.share(from.q, to.q, u, h());
  return effort > kMostShare && effort > drive_limits_.share(from.q, from.q, from.u, h());
}

bool PlanningSteps::move_to(const Eigen::VectorXd& u, const Eigen::VectorXd& longest, Motion& motion) {
  const Eigen::VectorXd from = motion.u;
  const double lengths = longest.size() == 0 ? 1 : (u - from).cwiseAbs().cwiseQuotient(longest).maxCoeff();
  const int count = std::max(1, static_cast<int>(std::ceil(lengths - 1e-9)));
  double effort = drive_limits_.share(motion.q, motion.q, motion.u, h());
  Instant next;
  for (int k = 1; k <= count; ++k) {
    const Eigen::VectorXd target = k == count ? u : Eigen::VectorXd(from + (u - from) * (double(k) / count));
    if (!advance(motion, target, next)) return false;
    // Targets keep the limits where a step starts; what other joints and objects do in it may still exceed them.
    const double before = effort;
    effort = drive_limits_.share(motion.q, next.q, target, h());
    if (effort > std::max(kMostShare, before) || speeds_.share(*scene_, motion.q, next.q, h()) > kMostShare)
      return false;
    std::swap(static_cast<Instant&>(motion), next);
    motion.commands.push_back(target);
  }
  return true;
}

void PlanningSteps::choose_deciding(const Instant& at, const Goal& goal) {
  const auto count = static_cast<int>(worlds_.size());
  if (ensemble_->deciding >= count) return;
  std::vector<Eigen::VectorXd> errors(to_size(count));
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(goal.size());
  for (int i = 0; i < count; ++i) {
    goal.residual(at.q_worlds[to_size(i)], at.q, errors[to_size(i)]);
    mean += errors[to_size(i)] / count;
  }
  std::vector<std::pair<double, int>> order;
  for (int i = 0; i < count; ++i) order.emplace_back(-(errors[to_size(i)] - mean).norm(), i);
  std::sort(order.begin(), order.end());
  std::fill(deciding_.begin(), deciding_.end(), char{0});
  for (int k = 0; k < ensemble_->deciding; ++k) deciding_[to_size(order[to_size(k)].second)] = 1;
}

void PlanningSteps::all_decide() { deciding_.assign(worlds_.size(), 1); }

bool PlanningSteps::catch_up(const Instant& start, Motion& motion) {
  for (std::size_t i = 0; i < worlds_.size(); ++i) {
    if (deciding_[i] != 0) continue;
    motion.q_worlds[i] = start.q_worlds[i];
    motion.v_worlds[i] = start.v_worlds[i];
    const Eigen::VectorXd* before = &start.u;
    for (const Eigen::VectorXd& u : motion.commands) {
      if (!worlds_[i]->advance(*before, u, motion.q_worlds[i], motion.v_worlds[i])) return false;
      before = &u;
    }
  }
  return true;
}

bool PlanningSteps::rest(Motion& motion) {
  constexpr double kArrived = 1e-4;  // [rad, m], what joints with damping may have left to go
  // Shorter steps take longer to rest, by the damper M/h.
  const int longest = has_worlds() ? ensemble_->longest_rest : 10;
  Instant next;
  for (int k = 0; k < kLongestRest; ++k) {
    if (!advance(motion, motion.u, next)) return false;
    const bool arrived = left_to_go(motion, next) < kArrived;
    const bool rests = arrived && object_motion(*scene_, motion, next) < ensemble_->rest_m;
    if (rests && k == 0) return true;  // nothing happens: that step is not needed
    static_cast<Instant&>(motion) = next;
    motion.commands.push_back(motion.u);
    if (rests || (arrived && k + 1 >= longest)) return true;
  }
  return true;
}

double PlanningSteps::left_to_go(const Instant& from, const Instant& to) const {
  if (!follows_late()) return 0;
  const auto left = [this](const Eigen::VectorXd& q_from, const Eigen::VectorXd& q_to) {
    const Eigen::VectorXd way = joint_positions(*scene_, q_to) - joint_positions(*scene_, q_from);
    return way.cwiseAbs().cwiseProduct(lateness_).maxCoeff();
  };
  double longest = left(from.q, to.q);
  for (std::size_t i = 0; i < from.q_worlds.size(); ++i)
    longest = std::max(longest, left(from.q_worlds[i], to.q_worlds[i]));
  return longest;
}

bool PlanningSteps::smoothed_step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, double kappa,
                                  Eigen::VectorXd& q_next) {
  if (is_over()) {
    q_next = q;
    return false;
  }
  ++solves_;
  smooth_->set_kappa(resting_ ? kRest * kRest * kappa : kappa);
  smooth_->step(q, u, smoothed_);
  const bool usable = solvers::usable(smoothed_.status);
  q_next = usable ? smoothed_.q_next : q;
  return usable;
}

bool PlanningSteps::linearize(const Eigen::VectorXd& q, const Eigen::VectorXd& u, double kappa, Eigen::VectorXd& q_next,
                              Eigen::MatrixXd& B, std::vector<GripForce>* grips) {
  if (!smoothed_step(q, u, kappa, q_next)) return false;
  differentiator_.linearize(*smooth_, dynamics::State{.q = q}, u, smoothed_, {.configuration = false});
  if (grips == nullptr) {
    differentiator_.jacobians(derivative_);
  } else {
    find_grips(*grips);
  }
  B = derivative_.B;
  return true;
}

void PlanningSteps::find_grips(std::vector<GripForce>& grips) {
  grips.clear();
  listed_.clear();
  const std::vector<contact::Contact>& contacts = smoothed_.problem.contacts;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto a = to_size(contacts[i].body_a), b = to_size(contacts[i].body_b);
    const bool is_grip = (is_actuated_[a] != 0 && is_object_[b] != 0) || (is_actuated_[b] != 0 && is_object_[a] != 0);
    if (is_grip && smoothed_.solution.force[i][0] > kLeastGrip_N) listed_.push_back(static_cast<int>(i));
  }
  differentiator_.jacobians(listed_, derivative_);
  for (std::size_t k = 0; k < listed_.size(); ++k) {
    const auto i = to_size(listed_[k]);
    const std::array<double, 4>& force = smoothed_.solution.force[i];
    GripForce grip{.mu = contacts[i].mu, .force = {force[0], force[1], force[2]}};
    const int first = derivative_.first_row[k];
    const Eigen::Index rows =
        (k + 1 < listed_.size() ? derivative_.first_row[k + 1] : derivative_.dforce_du.rows()) - first;
    grip.by_command.setZero(3, derivative_.dforce_du.cols());
    const Eigen::Index used = std::min<Eigen::Index>(rows, 3);
    grip.by_command.topRows(used) = derivative_.dforce_du.middleRows(first, used);
    grips.push_back(std::move(grip));
  }
}

std::vector<Instant> PlanningSteps::simulate(const Instant& start, const std::vector<Eigen::VectorXd>& commands) {
  std::vector<Instant> points{start};
  Instant next;
  for (const Eigen::VectorXd& u : commands) {
    if (!advance(points.back(), u, next)) break;
    points.push_back(next);
  }
  return points;
}

long PlanningSteps::solves() const {
  long sum = solves_;
  for (const auto& world : worlds_) sum += world->solves();
  return sum;
}

void PlanningSteps::reset() {
  exact_->reset();
  smooth_->reset();
  for (const auto& world : worlds_) world->reset();
}

}  // namespace deft::planning
