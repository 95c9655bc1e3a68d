#include "deft/authoring/scene_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "deft/core/index.hpp"
#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/impossible.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"

namespace deft::authoring {
namespace {

using scene::Scene;

constexpr double kPenetration = 1e-4;  // [m]
constexpr double kBeyond = 1e-9;       // [rad or m] of a limit
constexpr double kMassRatio = 1000;
constexpr double kSwings = 10;    // of a joint in a step
constexpr double kMargin = 1e-3;  // [m] of what counts as touching

std::string start_of(const Scene& scene) {
  return scene.spec().initial.empty() ? "the start" : fmt::format("configuration '{}'", scene.spec().initial);
}

void find_penetrations(const Scene& scene, scene::SceneState& state, std::vector<Finding>& findings) {
  scene.find_contacts(0, state);
  std::map<std::pair<int, int>, double> deepest;
  for (const collision::ContactPair& contact : state.contacts) {
    double& depth = deepest[{contact.geometry_a, contact.geometry_b}];
    depth = std::max(depth, -contact.gap);
  }
  const auto geometries = scene.collision_world().geometries();
  for (const auto& [pair, depth] : deepest) {
    if (depth <= kPenetration) continue;
    const std::string &a = geometries[to_size(pair.first)].name, &b = geometries[to_size(pair.second)].name;
    findings.push_back({.kind = "penetration",
                        .message = fmt::format("'{}' and '{}' overlap by {:.3g} mm at the start", a, b, 1000 * depth),
                        .cure = fmt::format("move one of them apart in {}", start_of(scene)),
                        .values = {{"depth_m", depth}},
                        .names = {a, b}});
  }
}

void find_limits(const Scene& scene, std::vector<Finding>& findings) {
  const Eigen::VectorXd q = scene.initial_configuration();
  const auto coordinates = scene.model().coordinates();
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const multibody::CoordinateInfo& joint = coordinates[i];
    const double value = q[static_cast<Eigen::Index>(i)];
    if (value >= joint.lower - kBeyond && value <= joint.upper + kBeyond) continue;
    const double limit = value < joint.lower ? joint.lower : joint.upper;
    const std::size_t slash = joint.name.find('/');
    findings.push_back(
        {.kind = "limit",
         .message = fmt::format("'{}' starts at {:.4g} {}, beyond its limit {:.4g}{}", joint.name, value, joint.unit,
                                limit, value == 0 ? ": what a configuration leaves out is 0" : ""),
         .cure = fmt::format("in {}: {}: {{{}: {}}}", start_of(scene), joint.name.substr(0, slash),
                             slash == std::string::npos ? joint.name : joint.name.substr(slash + 1), limit),
         .values = {{"value", value}, {"limit", limit}},
         .names = {joint.name}});
  }
}

void find_unreachable(const Scene& scene, std::vector<Finding>& findings) {
  if (scene.spec().goals.empty() || scene.robots().empty()) return;
  std::optional<Scene> planned;
  try {
    planned = planning::planning_scene(scene);
  } catch (const InputError&) {
    return;  // a scene that is not for planners, whose goals say nothing to them
  }
  for (const scene::GoalSpec& spec : scene.spec().goals) {
    try {
      const planning::Goal goal(*planned, spec, planned->settings().plan.wrap_angles);
      const double distance = goal.distance(scene.initial_configuration());
      for (const planning::Reason& reason : planning::prove_impossible(*planned, goal, spec.target.name))
        findings.push_back({.kind = "unreachable",
                            .message = fmt::format("goal '{}' cannot be reached: {}", spec.target.name, reason.detail),
                            .cure = reason.setting,
                            .values = {{"distance_m", distance}},
                            .names = {spec.target.name}});
    } catch (const InputError& error) {
      findings.push_back({.kind = "unreachable",
                          .message = fmt::format("goal '{}' is none: {}", spec.target.name, error.what()),
                          .cure = "name a coordinate of an object that can move",
                          .names = {spec.target.name}});
    }
  }
}

/// Mass of an object [kg], infinite if it is frozen; of anything else that of the body, infinite if it is fixed.
double mass_of(const Scene& scene, int body) {
  const multibody::BodyInfo& info = scene.model().bodies()[to_size(body)];
  if (const scene::Object* const object = scene.object_of(body)) return object->frozen ? kInfinity : object->mass;
  return info.weld_group == 0 ? kInfinity : info.mass;
}

void find_mass_ratios(const Scene& scene, scene::SceneState& state, std::vector<Finding>& findings) {
  scene.find_contacts(kMargin, state);
  std::set<std::pair<int, int>> seen;
  for (const collision::ContactPair& contact : state.contacts) {
    const auto [a, b] = std::minmax(contact.body_a, contact.body_b);
    if (!seen.insert({a, b}).second) continue;
    const double light = std::min(mass_of(scene, a), mass_of(scene, b)),
                 heavy = std::max(mass_of(scene, a), mass_of(scene, b));
    if (!(std::isfinite(heavy) && light > 0 && heavy > kMassRatio * light)) continue;
    const auto bodies = scene.model().bodies();
    findings.push_back(
        {.kind = "mass_ratio",
         .message = fmt::format(
             "'{}' and '{}' touch and are {:.3g} and {:.3g} kg heavy: forces between them are hard to resolve",
             bodies[to_size(a)].name, bodies[to_size(b)].name, mass_of(scene, a), mass_of(scene, b)),
         .cure = "check the masses; `objects: [{name, frozen: true}]` takes a heavy one for immovable",
         .values = {{"ratio", heavy / light}},
         .names = {bodies[to_size(a)].name, bodies[to_size(b)].name}});
  }
}

void find_filtered_pairs(const Scene& scene, scene::SceneState& state, std::vector<Finding>& findings) {
  const collision::CollisionWorld& world = scene.collision_world();
  const auto geometries = world.geometries();
  const auto bodies = scene.model().bodies();
  const auto is_half_space = [&](std::size_t g) { return !std::isfinite(world.surface_area(static_cast<int>(g))); };
  const auto is_object = [&](int body) { return scene.object_of(body) != nullptr; };
  std::set<std::pair<int, int>> said;
  for (std::size_t a = 0; a < geometries.size(); ++a) {
    for (std::size_t b = a + 1; b < geometries.size(); ++b) {
      const int body_a = geometries[a].body, body_b = geometries[b].body;
      const int model_a = bodies[to_size(body_a)].model, model_b = bodies[to_size(body_b)].model;
      if ((model_a == model_b && scene.object_of(body_a) == scene.object_of(body_b)) ||
          !(is_object(body_a) || is_object(body_b)) ||
          bodies[to_size(body_a)].weld_group == bodies[to_size(body_b)].weld_group)
        continue;
      if (world.may_touch(static_cast<int>(a), static_cast<int>(b)) || (is_half_space(a) && is_half_space(b))) continue;
      const double gap = world.signed_distance(static_cast<int>(a), static_cast<int>(b), state.X_WB()).gap;
      if (gap >= -kPenetration || !said.insert({body_a, body_b}).second) continue;
      findings.push_back(
          {.kind = "filtered_pair",
           .message = fmt::format("'{}' and '{}' overlap by {:.3g} mm and may not touch: they pass through each other",
                                  geometries[a].name, geometries[b].name, -1000 * gap),
           .cure = "take one of them out of the filter group that ignores the other (add_collision_filter_group)",
           .values = {{"depth_m", -gap}},
           .names = {geometries[a].name, geometries[b].name}});
    }
  }
}

/// One significant digit.
double rounded_down(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)));
  return std::floor(value / unit) * unit;
}

void find_long_steps(const Scene& scene, scene::SceneState& state, std::vector<Finding>& findings) {
  const scene::StepSettings& step = scene.settings().step;
  if (step.model != scene::ModelKind::kConvexSecondOrder && step.model != scene::ModelKind::kStewartTrinkle) return;
  if (!step.h) return;
  Eigen::MatrixXd M(scene.nv(), scene.nv());
  scene.model().mass_matrix(state.kinematics, M);
  for (const scene::Robot& robot : scene.robots()) {
    double fastest = 0;
    int joint = -1;
    for (int i = 0; i < robot.nu; ++i) {
      const double omega = std::sqrt(robot.stiffness[i] / M(robot.v(i), robot.v(i)));
      if (omega > fastest) fastest = omega, joint = i;
    }
    const double swings = fastest * *step.h / (2 * std::numbers::pi);
    if (swings <= kSwings) continue;
    const std::string& name = scene.model().velocities()[to_size(robot.v(joint))].name;
    const double longest = rounded_down(kSwings * 2 * std::numbers::pi / fastest);
    findings.push_back(
        {.kind = "step_length",
         .message = fmt::format("'{}' alone swings {:.3g} times within a step of {} s: the step takes the swing away",
                                name, swings, *step.h),
         .cure = fmt::format("step: {{h: {}}}, or a smaller stiffness", longest),
         .values = {{"h", *step.h}, {"longest", longest}},
         .names = {name}});
  }
}

}  // namespace

std::vector<Finding> check_scene(const Scene& scene) {
  std::vector<Finding> findings;
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  find_penetrations(scene, state, findings);
  find_limits(scene, findings);
  find_unreachable(scene, findings);
  find_mass_ratios(scene, state, findings);
  find_filtered_pairs(scene, state, findings);
  find_long_steps(scene, state, findings);
  return findings;
}

}  // namespace deft::authoring
