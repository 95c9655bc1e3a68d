#include "deft/planning/ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "deft/core/index.hpp"
#include "deft/core/log.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/core/thread_pool.hpp"
#include "deft/dynamics/batch/batch.hpp"
#include "deft/planning/feasibility/joint_limits.hpp"
#include "deft/planning/feasibility/random_stream.hpp"
#include "deft/plant/disturbance.hpp"
#include "deft/plant/step_plant.hpp"

namespace deft::planning {
namespace {

constexpr std::string_view kHalved = "h/", kSecondOrder = "second-order", kDrawnWorlds = "worlds", kMujoco = "mujoco";
// How far drawn worlds differ from the scene.
constexpr double kShare = 0.2, kOffset_m = 1e-3, kOffset_rad = 0.01;
// Nothing says how pressure is spread over a face; step.friction_arm, from spread evenly on an edge to all in the
// corners; in more than half of the worlds, six of ten, nearly evenly, so that a plan which needs the corners does not
// hold: two may fail.
constexpr double kLeastArm = 0.5, kEvenArm = 0.6;
constexpr std::uint64_t kArmStream = 1ULL << 41;  // of RandomStream
// Of the search's worlds.
// Corners lie nearer than the limits of what is drawn: of ten worlds two may fail, and at a corner of three limits the
// sag of a spring under a weight, m/K, is 0.67 or 1.5 of the scene's; nine of ten drawn worlds stay within 0.76
// and 1.3.
constexpr double kCornerShare = 0.6;
constexpr double kCornerArm = 0.55;     // step.friction_arm of corners; the other worlds have the scene's
constexpr double kSearchStep_s = 0.02;  // [s], inner steps of the drawn worlds
constexpr double kSpreadWeight = 4;     // w of the distance
constexpr double kRest_m = 5e-5;        // per step of length h; a spring against M n/h settles in M n/(h K)
constexpr int kLongestRest = 60, kDeciding = 2;
constexpr double kSingleRest_m = 3e-4;  // of plans of one world, which only have to let go of objects that lie still
constexpr int kSingleLongestRest = 10;
constexpr double kMargin_m = 0.05;  // contacts further off are left out: steps are short

scene::DisturbanceSpec drawn_from() {
  return {.offset_m = kOffset_m, .offset_rad = kOffset_rad, .friction = kShare, .mass = kShare, .stiffness = kShare};
}

/// Contacts that are found from further off than needed cost time and change nothing.
void limit_margin(scene::SceneSettings& settings) {
  settings.step.contact_margin = std::min(settings.step.contact_margin, kMargin_m);
}

/// The same as halved_world, without contacts that so short a step cannot reach.
World short_step_world(const scene::Scene& scene, int n) {
  World world = halved_world(scene, n);
  if (n >= 5) world.scene = world.scene.with([](scene::SceneSettings& settings) { limit_margin(settings); });
  return world;
}

/// Second order under the damped springs of robots; objects without weight are held back as by steps of length h.
World second_order_world(std::string name, const scene::Scene& scene, double h, double step_s, bool coulomb) {
  // The round cone in space, whatever the plan's steps use: a pyramid of four rays lets boxes turn less than they do.
  const bool in_space = scene.plane() == scene::Plane::kSpace;
  const scene::Scene near = scene.with([&](scene::SceneSettings& settings) {
    limit_margin(settings);
    if (in_space) settings.step.cone = scene::Cone::kCone;
    if (coulomb) settings.step.friction_law = scene::FrictionLaw::kCoulomb;
  });
  plant::PlantOptions options{.step = step_s};
  options.object_damping = plant::object_damping(scene, std::nullopt, h);
  const int substeps = std::max(1, static_cast<int>(std::ceil(h / step_s - 1e-9)));
  return {.name = std::move(name),
          .scene = plant::plant_scene(plant::PlantKind::kConvexSecondOrder, near, options, h / substeps),
          .substeps = substeps,
          .second_order = true};
}

/// Coulomb's law is for rigid contact.
bool has_coulomb_steps(const scene::Scene& scene) { return scene.settings().step.compliance == 0; }

/// A world of second order with a disturbance, and its start. Where the disturbed start does not settle, objects lie
/// where they were moved to.
World disturbed_world(std::string name, const scene::Scene& scene, double h, double step_s, bool coulomb,
                      const plant::Disturbance& disturbance, double friction_arm) {
  Diagnostics repeated;
  scene::SceneSpec spec = plant::disturbed(scene, disturbance);
  spec.step.friction_arm = friction_arm;
  const scene::Scene other = scene::Scene::build(std::move(spec), repeated);
  World world = second_order_world(std::move(name), other, h, step_s, coulomb);
  const Eigen::VectorXd q = scene.initial_configuration();
  world.q_start = plant::disturbed_start(other, q, disturbance).value_or(plant::moved_start(other, q, disturbance));
  return world;
}

plant::Disturbance corner(std::uint64_t seed, double friction, double mass, double stiffness, double sign) {
  plant::Disturbance disturbance{.spec = drawn_from(), .seed = seed};
  disturbance.friction_scale = 1 + kCornerShare * kShare * friction;
  disturbance.mass_scale = 1 + kCornerShare * kShare * mass;
  disturbance.stiffness_scale = 1 + kCornerShare * kShare * stiffness;
  disturbance.offset_sign = sign;
  return disturbance;
}

/// What every search for plans that hold has: how fast commands go, and grasps that press.
Ensemble paced_ensemble(const scene::Scene& scene) {
  const double h = *scene.settings().step.h;
  Ensemble ensemble;
  ensemble.presses = true;
  const JointSpeeds speeds = joint_speeds(scene);
  ensemble.longest_step = kMovingPace * h * speeds.touching;
  ensemble.longest_reach = h * speeds.touching;
  ensemble.longest_free = h * speeds.free;
  return ensemble;
}

}  // namespace

std::vector<std::string> judges_of(const scene::PlanSettings& settings) {
  if (settings.refine.empty()) return settings.judges;
  std::vector<std::string> judges{"h"};
  for (const int n : settings.refine) judges.push_back(fmt::format("h/{}", n));
  return judges;
}

std::vector<int> divisors_of(const std::vector<std::string>& judges) {
  std::vector<int> divisors;
  for (const std::string& judge : judges)
    if (judge.starts_with(kHalved)) divisors.push_back(std::stoi(judge.substr(kHalved.size())));
  return divisors;
}

Ensemble search_ensemble(const scene::Scene& scene, std::uint64_t seed, std::span<const World> refusing) {
  const double h = *scene.settings().step.h;
  const std::vector<std::string> judges = judges_of(scene.settings().plan);
  Ensemble ensemble = paced_ensemble(scene);
  const std::vector<int> divisors = divisors_of(judges);
  for (const int n : divisors) ensemble.worlds.push_back(short_step_world(scene, n));
  ensemble.worlds.push_back(second_order_world(std::string(kSecondOrder), scene, h, Judges::kStep_s, false));
  if (std::find(judges.begin(), judges.end(), kDrawnWorlds) != judges.end()) {
    const plant::Disturbance corners[] = {corner(seed, 1, -1, 1, 1), corner(seed, -1, 1, -1, -1),
                                          corner(seed + 1, -1, -1, 1, 1)};
    // Convex, for steps under Coulomb's law cost several times as much where hands squeeze. Worlds found out last take
    // the places of the corners.
    int number = 0;
    for (const plant::Disturbance& disturbance : corners)
      ensemble.worlds.push_back(
          disturbed_world(fmt::format("corner {}", ++number), scene, h, kSearchStep_s, false, disturbance, kCornerArm));
    const std::size_t known = std::min(refusing.size(), std::size(corners));
    std::copy(refusing.end() - static_cast<std::ptrdiff_t>(known), refusing.end(),
              ensemble.worlds.end() - static_cast<std::ptrdiff_t>(known));
  }
  ensemble.spread_weight = kSpreadWeight;
  ensemble.rest_m = kRest_m;
  ensemble.longest_rest = kLongestRest;
  ensemble.deciding = kDeciding;
  return ensemble;
}

Ensemble single_ensemble(const scene::Scene& scene) {
  Ensemble single = paced_ensemble(scene);
  single.rest_m = kSingleRest_m;
  single.longest_rest = kSingleLongestRest;
  single.cone_share = scene.settings().plan.cone_share;
  return single;
}

void log_verdicts(std::span<const Verdict> verdicts) {
  for (const Verdict& verdict : verdicts)
    log::debug(fmt::format("judge {}: {}, {:.2g} m, {:.2g} rad, joint {:.2g}, {:.2f} s", verdict.judge,
                           verdict.success  ? "holds"
                           : verdict.judged ? "does not hold"
                                            : "is cut short",
                           verdict.error.position_m, verdict.error.rotation_rad, verdict.error.joint, verdict.time_s));
}

Judges::Judges(const scene::Scene& scene, const Goal& goal, std::uint64_t seed, int threads)
    : scene_(scene), goal_(&goal), threads_(threads) {
  const double h = *scene.settings().step.h;
  for (const std::string& judge : judges_of(scene.settings().plan)) {
    if (judge == "h") continue;
    names_.push_back(judge);
    first_.push_back(static_cast<int>(worlds_.size()));
    if (judge == kMujoco) {
      worlds_.push_back({.name = judge, .scene = scene});
      stage_.push_back(1);
    } else if (judge == kSecondOrder) {
      worlds_.push_back(second_order_world(judge, scene, h, kStep_s, false));
      stage_.push_back(0);
    } else if (judge == kDrawnWorlds) {
      for (int k = 0; k < kWorlds; ++k) {
        const bool coulomb = k % 2 == 1 && has_coulomb_steps(scene);
        const plant::Disturbance drawn =
            plant::draw_disturbance(drawn_from(), seed + static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15ULL);
        const double arm = RandomStream(drawn.seed, kArmStream).uniform(kLeastArm, k / 2 % 2 == 0 ? kEvenArm : 1);
        worlds_.push_back(disturbed_world(fmt::format("world {}", k), scene, h, kStep_s, coulomb, drawn, arm));
        stage_.push_back(coulomb ? 2 : 1);
      }
    } else {
      worlds_.push_back(short_step_world(scene, std::stoi(judge.substr(kHalved.size()))));
      stage_.push_back(0);
    }
  }
  first_.push_back(static_cast<int>(worlds_.size()));
}

void require_judges(const scene::Scene& scene) {
  const double h = *scene.settings().step.h;
  for (const std::string& judge : judges_of(scene.settings().plan)) {
    if (judge == kMujoco) {
      plant::make_plant(plant::PlantKind::kMujoco, scene, {});
    } else if (judge == kSecondOrder || judge == kDrawnWorlds) {
      for (const bool coulomb : {false, judge == kDrawnWorlds && has_coulomb_steps(scene)})
        const WorldSteps steps(second_order_world(judge, scene, h, Judges::kStep_s, coulomb));
    } else if (judge.starts_with(kHalved)) {
      const WorldSteps steps(short_step_world(scene, std::stoi(judge.substr(kHalved.size()))));
    }
  }
}

std::optional<Judges::Outcome> Judges::try_in_mujoco(const Eigen::VectorXd& q, const Eigen::VectorXd& u_start,
                                                     const std::vector<Eigen::VectorXd>& commands,
                                                     const Deadline& deadline) const {
  const Stopwatch watch;
  const double h = *scene_.settings().step.h;
  const auto plant = plant::make_plant(
      plant::PlantKind::kMujoco, scene_,
      {.step = scene_.settings().track.mujoco_step, .object_damping = plant::object_damping(scene_, std::nullopt, h)});
  plant->reset({.q = q}, u_start);
  bool usable = true;
  for (std::size_t k = 0; k < commands.size() && usable; ++k) {
    if (deadline.due()) return std::nullopt;
    usable = plant->advance(commands[k], h) == plant::PlantStatus::kOk;
  }
  usable = usable && plant->advance(commands.empty() ? u_start : commands.back(), kSettle_s) == plant::PlantStatus::kOk;
  return Outcome{usable && goal_->reached(plant->state().q), goal_->error(plant->state().q), watch.seconds()};
}

std::optional<Judges::Outcome> Judges::try_in(const World& world, const Eigen::VectorXd& q_start,
                                              const Eigen::VectorXd& u_start,
                                              const std::vector<Eigen::VectorXd>& commands,
                                              const Deadline& deadline) const {
  if (world.name == kMujoco) return try_in_mujoco(q_start, u_start, commands, deadline);
  const Stopwatch watch;
  WorldSteps steps(world);
  Eigen::VectorXd q = world.q_start.size() > 0 ? world.q_start : q_start;
  Eigen::VectorXd v = Eigen::VectorXd::Zero(world.second_order ? world.scene.nv() : 0);
  const double h = *scene_.settings().step.h;
  const int hold = scene_.settings().plan.hold_steps;
  const int extra = world.second_order ? static_cast<int>(std::ceil(kSettle_s / h)) : 0;
  const int count = static_cast<int>(commands.size());
  Outcome outcome;
  bool held = true, usable = true;
  const Eigen::VectorXd* before = &u_start;
  const auto note = [&](int k) {
    if (world.second_order ? k == count + extra : k + hold >= count) held = held && goal_->reached(q);
  };
  note(0);
  for (int k = 1; k <= count + extra && usable; ++k) {
    if (deadline.due()) return std::nullopt;
    const Eigen::VectorXd& u = count == 0 ? u_start : commands[to_size(std::min(k, count) - 1)];
    usable = steps.advance(*before, u, q, v);
    before = &u;
    if (usable) note(k);
  }
  outcome.success = usable && held;
  outcome.error = goal_->error(q);
  outcome.time_s = watch.seconds();
  return outcome;
}

std::vector<Verdict> Judges::operator()(const Eigen::VectorXd& q, const Eigen::VectorXd& u_start,
                                        const std::vector<Eigen::VectorXd>& commands, const Deadline* deadline) {
  const Deadline never;
  const auto count = static_cast<int>(worlds_.size());
  std::vector<std::optional<Outcome>> outcomes(to_size(count));
  // What costs little is asked first: a plan that is refused is not tried in the rest.
  bool refused = false, cut = false;
  for (int stage = 0; stage < kStages && !refused && !cut; ++stage) {
    std::vector<int> asked;
    for (int k = 0; k < count; ++k)
      if (stage_[to_size(k)] == stage) asked.push_back(k);
    if (asked.empty()) continue;
    ThreadPool pool(std::min(static_cast<int>(asked.size()), dynamics::thread_count(threads_)), [&](int, int k) {
      const auto world = to_size(asked[to_size(k)]);
      outcomes[world] = try_in(worlds_[world], q, u_start, commands, deadline != nullptr ? *deadline : never);
    });
    pool.run(static_cast<int>(asked.size()));
    for (std::size_t j = 0; j < names_.size(); ++j) refused = refused || is_refused(j, outcomes);
    for (const int k : asked) cut = cut || !outcomes[to_size(k)].has_value();
  }
  note_refusing(outcomes);
  std::vector<Verdict> verdicts;
  for (std::size_t j = 0; j < names_.size(); ++j) {
    std::vector<Outcome> own;
    for (int k = first_[j]; k < first_[j + 1]; ++k)
      if (outcomes[to_size(k)]) own.push_back(*outcomes[to_size(k)]);
    const bool decided = own.size() == to_size(first_[j + 1] - first_[j]) || is_refused(j, outcomes);
    if (!decided && !cut) continue;  // another judge refused the plan before
    verdicts.push_back(verdict_of(j, std::move(own)));
    verdicts.back().judged = decided || verdicts.back().success;
  }
  return verdicts;
}

void Judges::note_refusing(const std::vector<std::optional<Outcome>>& outcomes) {
  drawn_refused_ = false;
  for (std::size_t j = 0; j < names_.size(); ++j) {
    if (!is_refused(j, outcomes)) continue;
    if (names_[j] != kDrawnWorlds) return;
    drawn_refused_ = true;
    for (int k = first_[j]; k < first_[j + 1]; ++k) {
      const std::optional<Outcome>& outcome = outcomes[to_size(k)];
      const World& world = worlds_[to_size(k)];
      const bool is_known =
          std::any_of(refusing_.begin(), refusing_.end(), [&](const World& other) { return other.name == world.name; });
      if (outcome && !outcome->success && !is_known) refusing_.push_back(world);
    }
  }
}

int Judges::allowed_failures(std::size_t judge) const {
  const int worlds = first_[judge + 1] - first_[judge];
  return names_[judge] == kDrawnWorlds ? worlds - static_cast<int>(std::ceil(kWorldShare * worlds - 1e-9)) : 0;
}

bool Judges::is_refused(std::size_t judge, const std::vector<std::optional<Outcome>>& outcomes) const {
  int failed = 0;
  for (int k = first_[judge]; k < first_[judge + 1]; ++k)
    failed += outcomes[to_size(k)].has_value() && !outcomes[to_size(k)]->success;
  return failed > allowed_failures(judge);
}

Verdict Judges::verdict_of(std::size_t judge, std::vector<Outcome> own) const {
  std::stable_sort(own.begin(), own.end(), [](const Outcome& a, const Outcome& b) {
    return a.error.position_m + a.error.rotation_rad + a.error.joint <
           b.error.position_m + b.error.rotation_rad + b.error.joint;
  });
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Verdict verdict{.judge = names_[judge],
                  .error = own.empty() ? GoalError{kNone, kNone, kNone} : own[own.size() / 2].error};
  int met = 0;
  for (const Outcome& outcome : own) {
    met += outcome.success;
    verdict.time_s += outcome.time_s;
  }
  const int worlds = first_[judge + 1] - first_[judge];
  if (names_[judge] == kDrawnWorlds) verdict.share = static_cast<double>(met) / worlds;
  verdict.success = met + allowed_failures(judge) >= worlds;
  return verdict;
}

}  // namespace deft::planning
