#include "deft/scene/scene.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "deft/math/block_parts.hpp"
#include "deft/math/dense.hpp"
#include "deft/scene/collision_filter.hpp"
#include "deft/scene/command_table.hpp"
#include "deft/scene/configuration.hpp"
#include "deft/scene/control_table.hpp"
#include "deft/scene/friction_table.hpp"
#include "deft/scene/motion_plane.hpp"
#include "deft/scene/servo_table.hpp"
#include "deft/scene/wrench_table.hpp"

namespace deft::scene {

/// What no setting changes.
struct Scene::World {
  WorldSpec spec;
  std::optional<multibody::Model> model;
  Eigen::VectorXd q_default;
  std::vector<collision::GeometryDescription> geometries;
  std::vector<unsigned char> allowed;  // pairs of geometries that may touch
  FrictionTable friction;
  std::optional<collision::CollisionWorld> collision_world;
};

/// A world with settings and a start, and what follows from them.
struct Scene::Impl {
  std::shared_ptr<const World> world;
  SceneSettings settings;
  std::optional<ConfigurationSpec> start;  // none: the defaults
  Eigen::VectorXd q_initial, v_initial;

  std::vector<Robot> robots;
  std::vector<Object> objects;
  std::vector<int> actuated, command_coordinates;
  std::vector<Wrench> wrenches;
  Plane plane = Plane::kSpace;
  CommandTable commands;
  ServoTable servo;
  std::vector<RigidTransform> X_WB_initial;
  std::shared_ptr<const collision::PlanarWorld> planar_world;
  std::optional<ControlTable> control;

  /// Robots and objects. @throws InputError with every error so far.
  void resolve_actors(Diagnostics& diagnostics);
  /// Commands, reference and plane of motion, from the start.
  void resolve_motion(Diagnostics& diagnostics);
  void resolve_forces(Diagnostics& diagnostics);
  /// Outlines in the plane of motion, for the models that need them. @throws InputError with every error so far.
  void resolve_outlines(Diagnostics& diagnostics);
  bool on_supports() const { return settings.step.model == ModelKind::kLimitSurface; }
};

namespace {

int find_model(const multibody::Model& model, const std::string& name) {
  const auto models = model.models();
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::vector<std::string> model_names(const multibody::Model& model) {
  std::vector<std::string> names;
  for (const multibody::ModelInfo& info : model.models()) names.push_back(info.name);
  return names;
}

/// B of a robot; empty if it has none.
Eigen::VectorXd resolve_admittance(const RobotSpec& spec, const multibody::Model& model, int index,
                                   Diagnostics& diagnostics) {
  const JointValues& values = spec.admittance;
  if (!values.all && values.list.empty() && values.by_name.empty()) return {};
  const int n = model.models()[index].nv;
  Eigen::VectorXd B = resolve_joint_values(values, model, index, Eigen::VectorXd::Zero(n),
                                           fmt::format("admittance of '{}'", spec.name), diagnostics);
  if ((B.array() <= 0).any() || !B.allFinite())
    diagnostics.error(
        values.where,
        fmt::format("robot '{}': admittance must be positive and finite for each of its {} joints", spec.name, n));
  return B;
}

/// `limit_surface` of objects, by name.
void set_limit_surfaces(const WorldSpec& spec, const multibody::Model& model, std::span<Object> objects,
                        Diagnostics& diagnostics) {
  for (const auto& [name, limit_surface] : spec.limit_surfaces) {
    const auto object =
        std::find_if(objects.begin(), objects.end(), [&, &wanted = name](const Object& o) { return o.name == wanted; });
    if (object != objects.end()) {
      object->limit_surface = limit_surface;
    } else {
      diagnostics.error(
          limit_surface.where,
          find_model(model, name) < 0
              ? fmt::format("limit_surface: there is no model '{}'{}", name, did_you_mean(name, model_names(model)))
              : fmt::format("limit_surface: '{}' is a robot or cannot move; only objects slide on a support", name));
    }
  }
}

/// `step.object_damping`: one number for all objects, a list in their order, or a map by name.
void set_object_damping(const StepSettings& step, std::span<Object> objects, Diagnostics& diagnostics) {
  const JointValues& values = step.object_damping;
  if (!values.all && values.list.empty() && values.by_name.empty()) return;
  const bool first_order = step.model == ModelKind::kConvex;
  const auto error = [&](const std::string& what) { diagnostics.error(values.where, "step.object_damping: " + what); };
  if (first_order ? step.dynamics != Dynamics::kQuasidynamic
                  : step.model != ModelKind::kConvexSecondOrder && step.model != ModelKind::kStewartTrinkle)
    return error(fmt::format(
        "step.model: {}{} has no such force; available with: convex (dynamics: quasidynamic), convex-second-order, "
        "stewart-trinkle",
        to_string(step.model), first_order ? fmt::format(" with dynamics: {}", to_string(step.dynamics)) : ""));
  if (!values.list.empty() && values.list.size() != objects.size())
    return error(
        fmt::format("{} values expected (one per object), the list has {}", objects.size(), values.list.size()));
  std::vector<std::string> names;
  for (const Object& object : objects) names.push_back(object.name);
  for (const auto& [name, value] : values.by_name)
    if (std::find(names.begin(), names.end(), name) == names.end())
      error(fmt::format("there is no object '{}'{}", name, did_you_mean(name, names)));
  for (std::size_t k = 0; k < objects.size(); ++k) {
    const auto named = values.by_name.find(objects[k].name);
    objects[k].damping = values.all;
    if (!values.list.empty()) objects[k].damping = values.list[k];
    if (named != values.by_name.end()) objects[k].damping = named->second;
    if (first_order && objects[k].damping == 0.0)
      error(fmt::format("'{}' has nothing else that resists motion in a step of first order; must be > 0, got 0",
                        objects[k].name));
  }
}

/// Forces need inertia to act on; springs and saturation are not theirs.
void check_force_drive(const StepSettings& step, const RobotSpec& robot, Diagnostics& diagnostics) {
  const ModelKind kind = step.model;
  if (kind != ModelKind::kStewartTrinkle && kind != ModelKind::kConvexSecondOrder)
    diagnostics.error(robot.where, fmt::format("robot '{}': drive: force needs a step.model with momentum, {} has "
                                               "none; valid: stewart-trinkle, convex-second-order",
                                               robot.name, to_string(kind)));
  if (step.effort_limits)
    diagnostics.error(robot.where, fmt::format("robot '{}': drive: force with step.effort_limits: true is not "
                                               "available: commanded forces are not limited; valid: false",
                                               robot.name));
}

/// Splits the movable models into robots (named by the scene) and objects (all others).
void sort_models(const WorldSpec& spec, const StepSettings& step, const multibody::Model& model,
                 Diagnostics& diagnostics, std::vector<Robot>& robots, std::vector<Object>& objects) {
  std::vector<char> is_robot(model.models().size(), 0);
  for (const RobotSpec& robot_spec : spec.robots) {
    const int index = find_model(model, robot_spec.name);
    if (index < 0) {
      diagnostics.error(robot_spec.where, fmt::format("robots: there is no model '{}'{}", robot_spec.name,
                                                      did_you_mean(robot_spec.name, model_names(model))));
      continue;
    }
    const multibody::ModelInfo& info = model.models()[index];
    if (is_robot[index])
      diagnostics.error(robot_spec.where, fmt::format("robots: '{}' is listed twice", robot_spec.name));
    is_robot[index] = 1;
    if (info.floating_base) {
      diagnostics.error(
          robot_spec.where,
          fmt::format("robot '{}' floats: weld its base (add_weld), every joint of a robot is actuated", info.name));
      continue;
    }
    if (info.nq != info.nv) {
      diagnostics.error(
          robot_spec.where,
          fmt::format("robot '{}' has a ball joint; robots have joints of one degree of freedom", info.name));
      continue;
    }
    if (info.nv == 0) diagnostics.error(robot_spec.where, fmt::format("robot '{}' has no movable joint", info.name));
    Robot robot;
    robot.name = info.name;
    robot.model = index;
    robot.first_q = info.first_q;
    robot.first_v = info.first_v;
    robot.nu = info.nv;
    robot.drive = robot_spec.drive;
    const bool by_force = robot.drive == Drive::kForce;
    if (by_force) check_force_drive(step, robot_spec, diagnostics);
    const bool springless = by_force || step.model == ModelKind::kLimitSurface;
    robot.admittance = resolve_admittance(robot_spec, model, index, diagnostics);
    const bool stated =
        robot_spec.stiffness.all || !robot_spec.stiffness.list.empty() || !robot_spec.stiffness.by_name.empty();
    robot.stiffness.setZero(info.nv);
    if (by_force && stated)
      diagnostics.error(robot_spec.where,
                        fmt::format("robot '{}' has a stiffness, but drive: force has no springs", info.name));
    if (stated || !springless)
      robot.stiffness = resolve_joint_values(robot_spec.stiffness, model, index, Eigen::VectorXd::Zero(info.nv),
                                             fmt::format("stiffness of '{}'", info.name), diagnostics);
    if (!stated && !springless && robot.admittance.size() > 0) {
      diagnostics.error(robot_spec.where, fmt::format("robot '{}' has an admittance alone, which is for step.model: "
                                                      "limit-surface; give 'stiffness' [N/m, N m/rad]",
                                                      info.name));
    } else if ((stated || !springless) && ((robot.stiffness.array() <= 0).any() || !robot.stiffness.allFinite())) {
      diagnostics.error(robot_spec.stiffness.where.line > 0 ? robot_spec.stiffness.where : robot_spec.where,
                        fmt::format("robot '{}': stiffness must be positive and finite for each of its {} joints",
                                    info.name, info.nv));
    }
    robot.effort_limit.resize(info.nv);
    for (int i = 0; i < info.nv; ++i) robot.effort_limit(i) = model.velocities()[info.first_v + i].effort_limit;
    robot.effort_limit = resolve_joint_values(robot_spec.effort_limit, model, index, robot.effort_limit,
                                              fmt::format("effort_limit of '{}'", info.name), diagnostics);
    if (!(robot.effort_limit.array() >= 0).all()) {
      diagnostics.error(robot_spec.effort_limit.where,
                        fmt::format("robot '{}': effort_limit must not be negative", info.name));
    }
    robots.push_back(std::move(robot));
  }
  // Robots in order of declaration of their models, whatever the order of the list.
  std::sort(robots.begin(), robots.end(), [](const Robot& a, const Robot& b) { return a.model < b.model; });
  int next_u = 0;
  for (Robot& robot : robots) {
    robot.first_u = next_u;
    next_u += robot.nu;
  }
  for (std::size_t i = 0; i < model.models().size(); ++i) {
    const multibody::ModelInfo& info = model.models()[i];
    if (is_robot[i] || info.nv == 0) continue;
    objects.push_back({info.name, static_cast<int>(i), info.first_q, info.nq, info.first_v, info.nv, info.mass, false});
  }
  for (const ObjectSpec& object_spec : spec.objects) {
    const auto found =
        std::find_if(objects.begin(), objects.end(), [&](const Object& o) { return o.name == object_spec.name; });
    if (found != objects.end()) {
      found->frozen = object_spec.frozen;
      continue;
    }
    const int index = find_model(model, object_spec.name);
    if (index < 0) {
      diagnostics.error(object_spec.where, fmt::format("objects: there is no model '{}'{}", object_spec.name,
                                                       did_you_mean(object_spec.name, model_names(model))));
    } else if (is_robot[index]) {
      diagnostics.error(object_spec.where, fmt::format("'{}' is listed both as robot and as object", object_spec.name));
    } else {
      diagnostics.warning(object_spec.where,
                          fmt::format("object '{}' cannot move: it is welded to the world", object_spec.name));
    }
  }
}

/// Objects, and robots driven by forces, resist motion by their inertia alone: M_u must be positive definite.
void check_inertia(const WorldSpec& spec, const multibody::Model& model, const Eigen::VectorXd& q,
                   std::span<const Robot> robots, std::span<const Object> objects, Diagnostics& diagnostics) {
  multibody::Kinematics kinematics = model.make_kinematics();
  BlockDiagonal M;
  model.update(q, kinematics);
  model.mass_matrix(kinematics, M);
  const auto check = [&](const char* what, int index, const std::string& name, int first_v, int nv) {
    Eigen::MatrixXd M_u = Eigen::MatrixXd::Zero(nv, nv);
    add_part(M, first_v, nv, 1.0, M_u);
    const double smallest = M_u.allFinite() ? symmetric_eigenvalues(M_u).minCoeff() : -1.0;
    if (!(smallest > 0)) {
      diagnostics.error(spec.world.models[index].where,
                        fmt::format("{} '{}' can move without inertia (non-positive mass or moment of inertia); give "
                                    "its links positive masses",
                                    what, name));
    }
  };
  for (const Object& object : objects) check("object", object.model, object.name, object.first_v, object.nv);
  for (const Robot& robot : robots)
    if (robot.drive == Drive::kForce) check("robot", robot.model, robot.name, robot.first_v, robot.nu);
  // An object carried by another object would couple their inertias across models.
  const auto bodies = model.bodies();
  std::vector<const Object*> object_of(model.nv(), nullptr);
  for (const Object& object : objects) std::fill_n(object_of.begin() + object.first_v, object.nv, &object);
  for (const Object& object : objects) {
    for (int body : model.models()[object.model].bodies) {
      for (int v : model.columns(body)) {
        const Object* const other = object_of[v];
        if (other != nullptr && other->model != object.model) {
          diagnostics.error(
              spec.world.models[object.model].where,
              fmt::format("not available yet: object '{}' with joints of its own is carried by object '{}' ({})",
                          object.name, other->name, bodies[body].name));
          return;
        }
      }
    }
  }
}

/// Limits that are asked for but stated nowhere.
void check_effort_limits(const WorldSpec& spec, const StepSettings& step, std::span<const Robot> robots,
                         Diagnostics& diagnostics) {
  const auto limited = [](const Robot& robot) { return !robot.effort_limit.array().isInf().all(); };
  if (!step.effort_limits || std::any_of(robots.begin(), robots.end(), limited)) return;
  diagnostics.warning({spec.file, 0, 0},
                      "step.effort_limits: no robot joint has an effort limit; give them in the model file or as "
                      "robots: [{effort_limit: …}]");
}

std::vector<collision::GeometryDescription> describe_geometries(const WorldSpec& spec, const multibody::Model& model) {
  std::vector<collision::GeometryDescription> geometries;
  for (const multibody::ModelSpec& model_spec : spec.world.models) {
    for (const multibody::LinkSpec& link : model_spec.links) {
      const std::string body_name = model_spec.inline_body ? model_spec.name : model_spec.name + "/" + link.name;
      const int body = model.find_body(body_name);
      for (const multibody::GeometrySpec& geometry : link.collisions) {
        geometries.push_back({body_name + "#" + geometry.name, body, geometry.X_LG, geometry.shape, geometry.where});
      }
    }
  }
  return geometries;
}

}  // namespace

void Scene::Impl::resolve_actors(Diagnostics& diagnostics) {
  const multibody::Model& model = *world->model;
  sort_models(world->spec, settings.step, model, diagnostics, robots, objects);
  set_limit_surfaces(world->spec, model, objects, diagnostics);
  set_object_damping(settings.step, objects, diagnostics);
  diagnostics.throw_if_errors();
  for (const Robot& robot : robots) {
    for (int i = 0; i < robot.nu; ++i) {
      actuated.push_back(robot.first_v + i);
      command_coordinates.push_back(robot.first_q + i);
    }
  }
}

void Scene::Impl::resolve_motion(Diagnostics& diagnostics) {
  const multibody::Model& model = *world->model;
  const WorldSpec& spec = world->spec;
  if (!on_supports())
    check_inertia(spec, model, q_initial, robots, objects, diagnostics);  // where mass has no part in the motion none
                                                                          // is needed
  if (spec.commands.velocity && !on_supports())
    diagnostics.error(spec.commands.where,
                      "commands.type: velocity is for step.model: limit-surface; give joint targets (type: position)");
  if (!spec.commands.velocity && on_supports() && !spec.commands.knots.empty())
    diagnostics.error(spec.commands.where, "commands: step.model limit-surface takes velocities; say type: velocity");
  if (settings.control) control = ControlTable(*settings.control, model, robots, q_initial, diagnostics);
  commands = CommandTable(spec.commands, model, robots, q_initial, diagnostics);
  plane = choose_plane(spec, settings.step, model, q_initial, diagnostics);
  multibody::Kinematics kinematics = model.make_kinematics();
  model.update(q_initial, kinematics);
  X_WB_initial = kinematics.X_WB;
  if (spec.commands.servo)
    servo = ServoTable(*spec.commands.servo, model, robots, q_initial, kinematics, plane, diagnostics);
}

void Scene::Impl::resolve_forces(Diagnostics& diagnostics) {
  wrenches = resolve_wrenches(world->spec.wrenches, *world->model, objects, settings.step.model, diagnostics);
  check_effort_limits(world->spec, settings.step, robots, diagnostics);
}

void Scene::Impl::resolve_outlines(Diagnostics& diagnostics) {
  diagnostics.throw_if_errors();
  if (!on_supports()) return;
  if (plane == Plane::kSpace)
    diagnostics.error(
        {world->spec.file, 0, 0},
        fmt::format("step.model: limit-surface is for motion in a plane (joints {{planar: xy}}, {{translation: xy}}, "
                    "hinges about its normal), but bodies of this scene move in space: {}",
                    bodies_in_space(*world->model, q_initial)));
  else
    planar_world = std::make_shared<const collision::PlanarWorld>(collision::PlanarWorld::build(
        world->geometries, world->allowed, X_WB_initial, plane_normal(plane), diagnostics));
  diagnostics.throw_if_errors();
}

Scene Scene::build(SceneSpec spec, Diagnostics& diagnostics) {
  const auto world = std::make_shared<World>();
  const auto impl = std::make_shared<Impl>();
  impl->world = world;
  impl->settings = std::move(static_cast<SceneSettings&>(spec));
  world->spec = std::move(static_cast<WorldSpec&>(spec));
  World& w = *world;
  Impl& s = *impl;
  w.model = multibody::Model::build(w.spec.world, diagnostics);
  const multibody::Model& model = *w.model;
  s.resolve_actors(diagnostics);

  w.q_default = make_configuration(w.spec.defaults, model, model.default_configuration(), diagnostics);
  s.q_initial = w.q_default;
  s.v_initial.setZero(model.nv());
  if (!w.spec.initial.empty()) {
    const ConfigurationSpec* initial = find_configuration(w.spec, w.spec.initial, diagnostics);
    if (initial) {
      s.start = *initial;
      s.q_initial = make_configuration(*initial, model, w.q_default, diagnostics);
      s.v_initial = make_velocity(*initial, model, diagnostics);
    }
  }
  for (const ConfigurationSpec& configuration : w.spec.configurations) {
    if (configuration.name != w.spec.initial) make_configuration(configuration, model, w.q_default, diagnostics);
  }
  for (const GoalSpec& goal : w.spec.goals) make_configuration(goal.target, model, s.q_initial, diagnostics);
  s.resolve_motion(diagnostics);

  w.geometries = describe_geometries(w.spec, model);
  w.friction = FrictionTable(w.spec, model, w.geometries, diagnostics);
  s.resolve_forces(diagnostics);
  w.allowed = allowed_pairs(w.spec, model, w.geometries, diagnostics);
  s.resolve_outlines(diagnostics);
  w.collision_world = collision::CollisionWorld::build(w.geometries, w.allowed, diagnostics);
  diagnostics.throw_if_errors();
  return Scene(impl);
}

Scene Scene::with(SceneSettings settings) const {
  return resolved(std::move(settings), impl_->start, impl_->q_initial, impl_->v_initial);
}

Scene Scene::starting_at(const ConfigurationSpec& start) const {
  Diagnostics diagnostics;
  const Eigen::VectorXd q = make_configuration(start, model(), impl_->world->q_default, diagnostics);
  const Eigen::VectorXd v = make_velocity(start, model(), diagnostics);
  diagnostics.throw_if_errors();
  return resolved(impl_->settings, start, q, v);
}

Scene Scene::resolved(SceneSettings settings, const std::optional<ConfigurationSpec>& start, const Eigen::VectorXd& q,
                      const Eigen::VectorXd& v) const {
  Diagnostics diagnostics;
  const auto impl = std::make_shared<Impl>();
  impl->world = impl_->world;
  impl->settings = std::move(settings);
  impl->start = start;
  impl->q_initial = q;
  impl->v_initial = v;
  impl->resolve_actors(diagnostics);
  impl->resolve_motion(diagnostics);
  impl->resolve_forces(diagnostics);
  impl->resolve_outlines(diagnostics);
  return Scene(impl);
}

const WorldSpec& Scene::spec() const { return impl_->world->spec; }
const SceneSettings& Scene::settings() const { return impl_->settings; }
const ConfigurationSpec* Scene::start() const { return impl_->start ? &*impl_->start : nullptr; }
SceneSpec Scene::description() const {
  SceneSpec spec{this->spec(), settings()};
  spec.initial.clear();
  if (!impl_->start) return spec;
  const ConfigurationSpec& start = *impl_->start;
  spec.initial = start.name;
  const auto found = std::find_if(spec.configurations.begin(), spec.configurations.end(),
                                  [&](const ConfigurationSpec& other) { return other.name == start.name; });
  if (found != spec.configurations.end())
    *found = start;
  else
    spec.configurations.push_back(start);
  return spec;
}
const multibody::Model& Scene::model() const { return *impl_->world->model; }
const collision::CollisionWorld& Scene::collision_world() const { return *impl_->world->collision_world; }
int Scene::nq() const { return model().nq(); }
int Scene::nv() const { return model().nv(); }
int Scene::nu() const { return static_cast<int>(impl_->actuated.size()); }
std::span<const Robot> Scene::robots() const { return impl_->robots; }
std::span<const Object> Scene::objects() const { return impl_->objects; }
std::span<const int> Scene::actuated() const { return impl_->actuated; }
std::span<const int> Scene::command_coordinates() const { return impl_->command_coordinates; }
Plane Scene::plane() const { return impl_->plane; }
PairFriction Scene::friction(int geometry_a, int geometry_b) const {
  return impl_->world->friction.pair(geometry_a, geometry_b);
}
std::span<const Wrench> Scene::wrenches() const { return impl_->wrenches; }

std::vector<std::string> Scene::names_q() const {
  std::vector<std::string> names;
  for (const auto& coordinate : model().coordinates()) names.push_back(coordinate.name);
  return names;
}

std::vector<std::string> Scene::names_v() const {
  std::vector<std::string> names;
  for (const auto& velocity : model().velocities()) names.push_back(velocity.name);
  return names;
}

std::vector<std::string> Scene::names_u() const {
  std::vector<std::string> names;
  for (int v : impl_->actuated) names.push_back(model().velocities()[v].name);
  return names;
}

std::vector<std::string> Scene::names_bodies() const {
  std::vector<std::string> names;
  for (const auto& body : model().bodies()) names.push_back(body.name);
  return names;
}

Eigen::VectorXd Scene::configuration(const std::string& name) const {
  Diagnostics diagnostics;
  const ConfigurationSpec* found = find_configuration(spec(), name, diagnostics);
  diagnostics.throw_if_errors();
  Eigen::VectorXd q = make_configuration(*found, model(), impl_->world->q_default, diagnostics);
  diagnostics.throw_if_errors();
  return q;
}

Eigen::VectorXd Scene::initial_configuration() const { return impl_->q_initial; }
Eigen::VectorXd Scene::initial_velocity() const { return impl_->v_initial; }

Eigen::VectorXd Scene::goal_configuration(const GoalSpec& goal) const {
  Diagnostics diagnostics;
  Eigen::VectorXd q = make_configuration(goal.target, model(), impl_->q_initial, diagnostics);
  diagnostics.throw_if_errors();
  return q;
}

void Scene::command(double t, double h, Eigen::VectorXd& u) const {
  if (impl_->servo.empty())
    impl_->commands.evaluate(t, h, u);
  else
    impl_->servo.evaluate(t, impl_->q_initial, impl_->X_WB_initial, u);
}
void Scene::command(double t, double h, const SceneState& state, Eigen::VectorXd& u) const {
  if (impl_->servo.empty())
    impl_->commands.evaluate(t, h, u);
  else
    impl_->servo.evaluate(t, state.q, state.X_WB(), u);
}
const ControlTable* Scene::control() const { return impl_->control ? &*impl_->control : nullptr; }
bool Scene::velocity_commands() const { return spec().commands.velocity; }
double Scene::last_knot_time() const {
  return spec().commands.until.value_or(std::max(impl_->commands.last_time(), impl_->servo.last_time()));
}

SceneState Scene::make_state() const {
  return {impl_->q_initial, model().make_kinematics(), collision_world().make_workspace(), {}, {}};
}

void Scene::update(const Eigen::VectorXd& q, SceneState& state) const {
  state.q = q;
  model().update(q, state.kinematics);
}

void Scene::find_contacts(double margin, SceneState& state) const {
  collision_world().find_contacts(state.kinematics.X_WB, margin, state.collision, state.contacts);
}

void Scene::find_planar_contacts(double margin, SceneState& state) const {
  impl_->planar_world->find_contacts(state.kinematics.X_WB, margin, state.planar, state.contacts);
}

}  // namespace deft::scene
