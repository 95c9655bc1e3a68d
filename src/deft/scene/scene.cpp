#include "deft/scene/scene.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "deft/collision/decomposition/split_meshes.hpp"
#include "deft/scene/actors.hpp"
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
  std::vector<JointSpring> springs;
  std::vector<int> actuated, command_coordinates;
  std::vector<CommandShare> command_shares;
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
  springs = joint_springs(world->spec, settings.step, model, robots, objects, diagnostics);
  diagnostics.throw_if_errors();
  for (const Robot& robot : robots) {
    for (int i = 0; i < robot.nu; ++i) {
      actuated.push_back(robot.v(i));
      command_coordinates.push_back(robot.q(i));
    }
  }
  command_shares.assign(to_size(model.nv()), {});
  for (std::size_t u = 0; u < actuated.size(); ++u) command_shares[to_size(actuated[u])] = {static_cast<int>(u), 1.0};
  for (const multibody::Coupling& coupling : model.couplings())
    if (coupling.leader_v >= 0)
      command_shares[to_size(coupling.v)] = {command_shares[to_size(coupling.leader_v)].command, coupling.ratio};
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
  if (world->friction.has_torsion_of_files() && is_complementarity_model(settings.step.model))
    diagnostics.warning({world->spec.file, 0, 0},
                        fmt::format("model files state friction of turning (condim 4); step.model: {} has none; "
                                    "available with: convex, convex-second-order",
                                    to_string(settings.step.model)));
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
  for (multibody::ModelSpec& m : w.spec.world.models) collision::split_meshes(m, diagnostics);
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
const Object* Scene::object_of(int body) const {
  const auto has = [body](const Object& o) {
    return std::find(o.bodies.begin(), o.bodies.end(), body) != o.bodies.end();
  };
  const auto found = std::find_if(impl_->objects.begin(), impl_->objects.end(), has);
  return found == impl_->objects.end() ? nullptr : &*found;
}
bool Scene::stays(int body) const {
  const auto columns = model().columns(body);
  const Object* const object = object_of(body);
  return columns.empty() || (object != nullptr && object->frozen && columns.back() < object->first_v + object->nv);
}
std::span<const JointSpring> Scene::springs() const { return impl_->springs; }
std::span<const int> Scene::actuated() const { return impl_->actuated; }
std::span<const int> Scene::command_coordinates() const { return impl_->command_coordinates; }
std::span<const CommandShare> Scene::command_shares() const { return impl_->command_shares; }
Plane Scene::plane() const { return impl_->plane; }
PairFriction Scene::friction(int geometry_a, int geometry_b) const {
  PairFriction friction = impl_->world->friction.pair(geometry_a, geometry_b);
  if (friction.patch_of_file && is_complementarity_model(settings().step.model)) friction.patch = false;
  return friction;
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

void Scene::find_contacts(double margin, const std::function<bool(int, int)>& concerns, SceneState& state) const {
  collision_world().find_contacts(state.kinematics.X_WB, margin, concerns, state.collision, state.contacts);
}

bool Scene::any_nearer(double gap, const std::function<bool(int, int)>& concerns, SceneState& state) const {
  return collision_world().any_nearer(state.kinematics.X_WB, gap, concerns, state.collision);
}

void Scene::find_contacts_again(double margin, std::span<const collision::ContactPair> before,
                                std::span<const char> stay, SceneState& state) const {
  collision_world().find_contacts_again(state.kinematics.X_WB, margin, before, stay, state.collision, state.contacts);
}

void Scene::find_planar_contacts(double margin, SceneState& state) const {
  impl_->planar_world->find_contacts(state.kinematics.X_WB, margin, state.planar, state.contacts);
}

}  // namespace deft::scene
