#include "deft/planning/feasibility/impossible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "deft/core/index.hpp"
#include "deft/planning/feasibility/reach.hpp"

namespace deft::planning {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

// What steps of finite length may add: contacts bend round curved shapes, act a little off the surface and end a step
// there. Far more than any of it.
constexpr double kPenetrationSlack = 0.005, kTouchSlack = 0.05;  // [m]
constexpr double kArmShare = 0.1;                                // of an arm, by which a linearised step overshoots it
constexpr double kLimitSlack = 1e-3;                             // [rad, m]
constexpr double kRollingTurns = 2;   // of its circumference: how far an object may tip and roll by itself
constexpr double kForceShare = 0.95;  // of the force that is needed

/// Where the goal wants a geometry of an object.
struct Wanted {
  int geometry = -1;
  bool placed = false;          // whether anything is known of its place
  bool turned = false;          // its orientation is known, up to the tolerances
  std::array<bool, 3> known{};  // the coordinates of `ball` that are known
  Ball ball;                    // contains it, in the world
  double inner_radius = 0;      // of a ball about ball.centre in it; 0 where its orientation matters
  double shift = 0;             // the furthest that tolerances move one of its points [m]
  double bend = 0;              // what a step within the tolerances leaves of a linearised gap [m]
};

bool states(const scene::JointValues& values) {
  return values.all.has_value() || !values.list.empty() || !values.by_name.empty();
}

/// The proofs of one goal.
class Prover {
 public:
  Prover(const scene::Scene& scene, const Goal& goal, const std::string& name)
      : scene_(scene),
        goal_(goal),
        name_(name),
        start_(scene.make_state()),
        there_(scene.make_state()),
        extents_(extents_of(scene)),
        reaches_(reaches_of(scene)),
        tolerance_(VectorXd::Constant(scene.nv(), -1)) {
    scene.update(scene.initial_configuration(), start_);
    scene.update(goal.q(), there_);
    for (int i = 0; i < goal.size(); ++i) tolerance_(goal.rows()[to_size(i)]) = goal.tolerance_m() / goal.weights()(i);
    const auto geometries = scene.collision_world().geometries();
    for (std::size_t g = 0; g < geometries.size(); ++g)
      if (is_named(geometries[g].body)) wanted_.push_back(want(static_cast<int>(g)));
  }

  std::vector<Reason> operator()() {
    prove_limits();
    prove_penetration();
    const scene::Object* object = only_object();
    if (object != nullptr && scene_.wrenches().empty() && !starts_inside(*object)) {
      if (scene_.spec().gravity_W.isZero())
        prove_weightless_reach(*object);
      else if (is_free(*object))
        prove_under_gravity(*object);
    }
    return std::move(reasons_);
  }

 private:
  // ---- what the goal says ----
  bool names(int v) const { return tolerance_(v) >= 0; }
  /// Whether a body moves with a coordinate that the goal names.
  bool is_named(int body) const {
    if (body <= 0) return false;
    const auto columns = scene_.model().columns(body);
    return std::any_of(columns.begin(), columns.end(), [this](int v) { return names(v); });
  }
  const std::string& body_name(int geometry) const { return scene_.model().bodies()[to_size(body_of(geometry))].name; }
  int body_of(int geometry) const { return scene_.collision_world().geometries()[to_size(geometry)].body; }
  std::string line_of(int geometry) const {
    const scene::Object* const object = scene_.object_of(body_of(geometry));
    const int model = scene_.model().bodies()[to_size(body_of(geometry))].model;
    return fmt::format("goals.{}.{}", name_, object ? object->name : scene_.model().models()[to_size(model)].name);
  }
  bool is_free(const scene::Object& object) const { return object.floating && object.nv == 6; }
  /// The object that moves, if there is only one.
  const scene::Object* only_object() const {
    const scene::Object* only = nullptr;
    for (const scene::Object& object : scene_.objects()) {
      if (object.frozen) continue;
      if (only != nullptr) return nullptr;
      only = &object;
    }
    return only;
  }

  /// 1 − cos of the largest turn between two poses within the tolerance.
  static double bend_of(double tolerance) { return 1 - std::cos(std::min(2 * tolerance, std::numbers::pi)); }

  Wanted want(int g) const {
    const multibody::Model& model = scene_.model();
    const auto columns = model.columns(body_of(g));
    const multibody::ModelInfo& owner = model.models()[to_size(model.bodies()[to_size(body_of(g))].model)];
    const bool free =
        columns.size() == 6 && columns.front() < owner.first_v + 6 * static_cast<int>(owner.free_bases.size());
    const Extent& own = extents_[to_size(g)];
    const RigidTransform& X_WB = there_.X_WB()[to_size(body_of(g))];
    Wanted wanted{.geometry = g, .ball = {X_WB * own.outer.centre, own.outer.radius}};
    if (free) {
      const int first = columns.front();
      const bool turned = names(first) && names(first + 1) && names(first + 2);
      for (int k = 0; k < 3; ++k) wanted.known[to_size(k)] = names(first + 3 + k);
      const auto placed = std::count(wanted.known.begin(), wanted.known.end(), true);
      const double lever = own.outer.centre.norm();
      wanted.placed = placed > 0;
      wanted.turned = turned;
      wanted.shift = (placed > 0 ? goal_.tolerance_m() : 0) +
                     (turned ? tolerance_.segment(first, 3).maxCoeff() * (lever + own.outer.radius) : 0);
      wanted.inner_radius = own.inner_radius - (turned ? 0 : lever);
      if (!turned) wanted.ball = {X_WB.translation(), lever + own.outer.radius};
      wanted.bend = (lever + own.outer.radius) * (turned ? bend_of(tolerance_.segment(first, 3).maxCoeff()) : 2);
      return wanted;
    }
    if (!std::all_of(columns.begin(), columns.end(), [this](int v) { return names(v); })) return wanted;
    wanted.placed = wanted.turned = true;
    wanted.known = {true, true, true};
    wanted.inner_radius = own.inner_radius;
    const auto& S = model.spatial_columns(there_.kinematics);
    for (const int v : columns) {
      const Vector3d turn = S.col(v).head<3>(), slide = S.col(v).tail<3>();
      const double speed = (slide + turn.cross(wanted.ball.centre)).norm() + turn.norm() * own.outer.radius;
      wanted.shift += tolerance_(v) * speed;
      if (turn.norm() > 0.5) wanted.bend += speed * bend_of(tolerance_(v));
    }
    return wanted;
  }

  /// Whether a body may move: joints carry it, and it is of no frozen object.
  bool moves(int body) const { return body > 0 && !scene_.stays(body); }

  /// Geometries that cannot move and may touch this one.
  std::vector<int> fixed_beside(int g) const {
    std::vector<int> fixed;
    const auto geometries = scene_.collision_world().geometries();
    for (std::size_t f = 0; f < geometries.size(); ++f) {
      if (!moves(geometries[f].body) && scene_.collision_world().may_touch(g, static_cast<int>(f)))
        fixed.push_back(static_cast<int>(f));
    }
    return fixed;
  }

  /// Outward normal and offset of a half-space in the world; none for other geometries.
  std::optional<std::pair<Vector3d, double>> plane_of(int g) const {
    const auto set = scene_.collision_world().convex_set(g);
    if (!set || set->bounded || set->planes.size() != 1) return std::nullopt;
    const RigidTransform X_WG = start_.X_WB()[to_size(body_of(g))] * scene_.collision_world().pose_in_body(g);
    const Vector3d normal = X_WG.linear() * set->planes[0].normal;
    return std::pair{normal, set->planes[0].offset + normal.dot(X_WG.translation())};
  }

  /// Whether the place of a geometry along a direction is known.
  static bool knows(const Wanted& wanted, const Vector3d& direction) {
    for (int k = 0; k < 3; ++k)
      if (std::abs(direction(k)) > 1e-9 && !wanted.known[to_size(k)]) return false;
    return wanted.placed;
  }

  /// Bounds {least, most} of the gap to something fixed over all poses that the goal allows; none: nothing is known.
  std::optional<std::pair<double, double>> gap_to(const Wanted& wanted, int fixed) const {
    const auto plane = plane_of(fixed);
    // Beside a plane it does not matter where along it the geometry is.
    const bool all = std::all_of(wanted.known.begin(), wanted.known.end(), [](bool known) { return known; });
    if (!all && !(plane && knows(wanted, plane->first))) return std::nullopt;
    if (wanted.turned) {
      const double gap = scene_.collision_world().signed_distance(wanted.geometry, fixed, there_.X_WB()).gap;
      return std::pair{gap - wanted.shift - wanted.bend, gap + wanted.shift + wanted.bend};
    }
    if (!plane) return std::nullopt;
    const double height = plane->first.dot(wanted.ball.centre) - plane->second;
    return std::pair{height - wanted.ball.radius - wanted.shift - wanted.bend,
                     height - wanted.inner_radius + wanted.shift + wanted.bend};
  }

  void add(std::string detail, std::string setting) {
    reasons_.push_back({kImpossibleReason, 1, 1.0, std::move(detail), std::move(setting)});
  }

  // ---- proofs ----
  void prove_limits() {
    if (!scene_.settings().step.joint_limits) return;
    const std::vector<int>& wrapped = goal_.wrapped();
    for (int i = 0; i < goal_.size(); ++i) {
      const int v = goal_.rows()[to_size(i)];
      const multibody::VelocityInfo& joint = scene_.model().velocities()[v];
      if (joint.q_index < 0 || std::find(wrapped.begin(), wrapped.end(), i) != wrapped.end()) continue;
      const double value = goal_.q()(joint.q_index);
      const double beyond = std::max(joint.lower - value, value - joint.upper);
      if (!(beyond > tolerance_(v) + kLimitSlack)) continue;
      add(fmt::format("{} at {:.4g} {}: {:.3g} beyond its limits, {:.4g} to {:.4g}; the tolerance is {:.3g}",
                      joint.name, value, joint.unit, beyond, joint.lower, joint.upper, tolerance_(v)),
          fmt::format("goals.{}, the limits of {}", name_, joint.name));
    }
  }

  void prove_penetration() {
    if (scene_.settings().step.compliance > 0 || scene_.settings().plan.hold_steps == 0) return;
    for (const Wanted& wanted : wanted_) {
      for (const int fixed : fixed_beside(wanted.geometry)) {
        const auto gap = gap_to(wanted, fixed);
        if (!gap || !(gap->second < -kPenetrationSlack)) continue;
        const double at_start = scene_.collision_world().signed_distance(wanted.geometry, fixed, start_.X_WB()).gap;
        if (at_start < -kPenetrationSlack) continue;  // what begins inside may end inside
        const double undone = wanted.shift + wanted.bend;
        add(fmt::format("at the goal {} is {:.3g} m deep in {}, which does not move; tolerances undo {:.3g} m of it",
                        body_name(wanted.geometry), undone - gap->second, body_name(fixed), undone),
            line_of(wanted.geometry));
        return;
      }
    }
  }

  /// The least distance between what links reach and the object, whose geometries are where `ball_of` says; 0: it can
  /// be touched, or nothing is known of where it is.
  template <typename BallOf>
  double distance_to_links(const std::vector<int>& geometries, const BallOf& ball_of) const {
    double least = kInfinity;
    for (const int g : geometries) {
      const std::optional<std::pair<Ball, std::array<bool, 3>>> place = ball_of(g);
      if (!place) return 0;
      for (const Reach& reach : reaches_) {
        if (!scene_.collision_world().may_touch(g, reach.geometry)) continue;
        least = std::min(least, reach.distance(place->first, place->second) - kArmShare * reach.arm);
      }
    }
    return std::max(least, 0.0);
  }

  /// Whether the object begins inside something that is fixed, which would move it.
  bool starts_inside(const scene::Object& object) const {
    for (const int g : geometries_of(object))
      for (const int fixed : fixed_beside(g))
        if (scene_.collision_world().signed_distance(g, fixed, start_.X_WB()).gap < -kPenetrationSlack) return true;
    return false;
  }

  std::vector<int> geometries_of(const scene::Object& object) const {
    std::vector<int> found;
    const auto geometries = scene_.collision_world().geometries();
    for (std::size_t g = 0; g < geometries.size(); ++g) {
      if (geometries[g].body <= 0) continue;
      const bool own = std::find(object.bodies.begin(), object.bodies.end(), geometries[g].body) != object.bodies.end();
      if (own && !scene_.model().columns(geometries[g].body).empty()) found.push_back(static_cast<int>(g));
    }
    return found;
  }

  double distance_at_start(const scene::Object& object) const {
    return distance_to_links(geometries_of(object), [this](int g) {
      const Ball& own = extents_[to_size(g)].outer;
      const RigidTransform& X_WB = start_.X_WB()[to_size(body_of(g))];
      return std::optional(std::pair{Ball{X_WB * own.centre, own.radius}, std::array{true, true, true}});
    });
  }

  /// Nothing of what the goal leaves free is counted; tolerances are, and that a linearised step may turn the object
  /// all the way round. @param left_out  a direction that is not counted.
  double distance_at_goal(const scene::Object& object, const Vector3d& left_out = Vector3d::Zero()) const {
    return distance_to_links(geometries_of(object), [&](int g) -> std::optional<std::pair<Ball, std::array<bool, 3>>> {
      const auto it = std::find_if(wanted_.begin(), wanted_.end(), [g](const Wanted& w) { return w.geometry == g; });
      if (it == wanted_.end() || !it->placed) return std::nullopt;
      std::array<bool, 3> known = it->known;
      for (int k = 0; k < 3; ++k) known[to_size(k)] = known[to_size(k)] && std::abs(left_out(k)) < 1e-9;
      return std::pair{Ball{it->ball.centre, 3 * it->ball.radius + it->shift}, known};
    });
  }

  void prove_weightless_reach(const scene::Object& object) {
    if (goal_.reached(start_.q)) return;
    if (const double away = distance_at_start(object); away > kTouchSlack) {
      add(fmt::format("no link can touch {} where it starts: {:.3g} m away from all that they reach", object.name,
                      away),
          fmt::format("the start of {}, the robots' places and limits", object.name));
      return;
    }
    if (const double away = distance_at_goal(object); away > kTouchSlack)
      add(fmt::format("no link can touch {} at the goal: {:.3g} m away from all that they reach", object.name, away),
          fmt::format("goals.{}.{}, the robots' places and limits", name_, object.name));
  }

  /// The gap to the nearest thing that is fixed, over all that the goal allows; 0 where nothing is known of it.
  double clearance(const scene::Object& object) const {
    double least = kInfinity;
    for (const int g : geometries_of(object)) {
      const auto it = std::find_if(wanted_.begin(), wanted_.end(), [g](const Wanted& w) { return w.geometry == g; });
      if (it == wanted_.end()) return 0;
      for (const int fixed : fixed_beside(g)) {
        const auto gap = gap_to(*it, fixed);
        if (!gap) return 0;
        least = std::min(least, gap->first);
      }
    }
    return std::max(least, 0.0);
  }

  void prove_under_gravity(const scene::Object& object) {
    const double away = distance_at_goal(object), clear = clearance(object);
    if (falls_through(object) && clear > std::max(kTouchSlack, 3 * goal_.tolerance_m())) {
      const std::string support =
          std::isinf(clear) ? "there is nothing else" : fmt::format("all that is fixed is {:.3g} m away", clear);
      if (away > kTouchSlack) {
        add(fmt::format("nothing can hold {} at the goal: it is {:.3g} m away from all that links reach, and {}",
                        object.name, away, support),
            fmt::format("goals.{}.{}, the robots' places and limits", name_, object.name));
        return;
      }
      const double h = *scene_.settings().step.h, g = scene_.spec().gravity_W.norm();
      const double needed = object.mass * (g - 2 * goal_.tolerance_m() / (h * h)), most = lifting_force(object);
      if (most < kForceShare * needed)
        add(fmt::format("links cannot carry {} at the goal: they bear {:.3g} N at most, it weighs {:.3g} N, and {}",
                        object.name, most, object.mass * g, support),
            "effort limits, stiffness and limits of the joints that lift");
      return;
    }
    prove_too_far_on_the_ground(object);
  }

  /// Whether the height of a free body that nothing touches cannot stay within the tolerance while the goal is held.
  bool falls_through(const scene::Object& object) const {
    const scene::StepSettings& step = scene_.settings().step;
    const Vector3d g = scene_.spec().gravity_W;
    bool named = true;
    for (int k = 0; k < 3; ++k) named = named && (std::abs(g(k)) < 1e-9 || names(object.first_v + 3 + k));
    const bool plain = step.dynamics == scene::Dynamics::kQuasidynamic && !step.unactuated_mass_scale &&
                       !states(step.object_damping) && !states(step.joint_damping) && step.objects_move;
    return named && plain && scene_.settings().plan.hold_steps > 0 && step.h &&
           *step.h * *step.h * g.norm() > 4 * goal_.tolerance_m();
  }

  /// The largest force against gravity that robots bear, all together [N]; infinite where their structure may.
  double lifting_force(const scene::Object& object) const {
    const Vector3d up = -scene_.spec().gravity_W.normalized();
    const auto& S = scene_.model().spatial_columns(start_.kinematics);
    const scene::StepSettings& step = scene_.settings().step;
    std::vector<char> counted(to_size(scene_.nu()), 0);
    double sum = 0;
    for (const Reach& reach : reaches_) {
      const auto own = geometries_of(object);
      if (std::none_of(own.begin(), own.end(),
                       [&](int g) { return scene_.collision_world().may_touch(g, reach.geometry); }))
        continue;
      int lifting = -1;
      for (const int v : scene_.model().columns(body_of(reach.geometry))) {
        if (S.col(v).head<3>().norm() > 1e-9) return kInfinity;
        const double part = S.col(v).tail<3>().dot(up);
        if (std::abs(part) < 1e-9) continue;
        if (lifting >= 0 || std::abs(std::abs(part) - 1) > 1e-9) return kInfinity;
        lifting = v;
      }
      if (lifting < 0) return kInfinity;
      for (const scene::Robot& robot : scene_.robots()) {
        const int i = robot.command_of(lifting);
        if (i < 0 || robot.drive != scene::Drive::kPosition) continue;
        const int u = robot.first_u + i;
        if (counted[to_size(u)] != 0) continue;
        counted[to_size(u)] = 1;
        const multibody::VelocityInfo& joint = scene_.model().velocities()[lifting];
        double most = step.joint_limits ? robot.stiffness(i) * (joint.upper - joint.lower) : kInfinity;
        if (step.effort_limits) most = std::min(most, robot.effort_limit(i));
        sum += most;
      }
    }
    return sum;
  }

  /// On level ground alone an object does not go far by itself: it tips and rolls at most.
  void prove_too_far_on_the_ground(const scene::Object& object) {
    const Vector3d up = -scene_.spec().gravity_W.normalized();
    double radius = 0;
    for (const int g : geometries_of(object)) {
      radius = std::max(radius, extents_[to_size(g)].outer.centre.norm() + extents_[to_size(g)].outer.radius);
      for (const int fixed : fixed_beside(g)) {
        const auto plane = plane_of(fixed);
        if (!plane || (plane->first - up).norm() > 1e-9) return;
      }
    }
    const double roll = kRollingTurns * 2 * std::numbers::pi * radius;
    const double away = distance_at_goal(object, up);
    Vector3d way = there_.q.segment<3>(object.first_q + 4) - start_.q.segment<3>(object.first_q + 4);
    for (int k = 0; k < 3; ++k)
      if (!names(object.first_v + 3 + k) || std::abs(up(k)) > 1e-9) way(k) = 0;
    if (away > kTouchSlack + roll && way.norm() > goal_.tolerance_m() + roll)
      add(fmt::format(
              "{} cannot get to the goal: it is {:.3g} m away from all that links reach, and untouched it comes "
              "no further than {:.3g} m on level ground",
              object.name, away, roll),
          fmt::format("goals.{}.{}, the robots' places and limits", name_, object.name));
  }

  const scene::Scene& scene_;
  const Goal& goal_;
  const std::string& name_;
  scene::SceneState start_, there_;  // at the start, and at the goal's configuration
  std::vector<Extent> extents_;
  std::vector<Reach> reaches_;
  VectorXd tolerance_;  // of each velocity that the goal names [m, rad]; negative: it is free
  std::vector<Wanted> wanted_;
  std::vector<Reason> reasons_;
};

}  // namespace

std::vector<Reason> prove_impossible(const scene::Scene& scene, const Goal& goal, const std::string& name) {
  return Prover(scene, goal, name)();
}

}  // namespace deft::planning
