#include "deft/scene/actors.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/math/block_parts.hpp"
#include "deft/math/dense.hpp"
#include "deft/scene/configuration.hpp"

namespace deft::scene {
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
  const auto n = static_cast<Eigen::Index>(commanded_joints(model, index).size());
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

/// K of a robot: 0 where it has no springs.
Eigen::VectorXd resolve_stiffness(const RobotSpec& spec, const Robot& robot, const StepSettings& step,
                                  const multibody::Model& model, Diagnostics& diagnostics) {
  const bool by_force = robot.drive == Drive::kForce;
  const bool springless = by_force || step.model == ModelKind::kLimitSurface;
  const bool stated = spec.stiffness.all || !spec.stiffness.list.empty() || !spec.stiffness.by_name.empty();
  Eigen::VectorXd K = Eigen::VectorXd::Zero(robot.nu);
  for (int i = 0; i < robot.nu && !springless; ++i) K(i) = model.velocities()[robot.v(i)].stiffness;
  if (by_force && stated)
    diagnostics.error(spec.where,
                      fmt::format("robot '{}' has a stiffness, but drive: force has no springs", robot.name));
  if (!stated && springless) return K;
  K = resolve_joint_values(spec.stiffness, model, robot.model, K, fmt::format("stiffness of '{}'", robot.name),
                           diagnostics);
  if (!stated && robot.admittance.size() > 0) {
    diagnostics.error(spec.where, fmt::format("robot '{}' has an admittance alone, which is for step.model: "
                                              "limit-surface; give 'stiffness' [N/m, N m/rad]",
                                              robot.name));
  } else if ((K.array() <= 0).any() || !K.allFinite()) {
    diagnostics.error(spec.stiffness.where.line > 0 ? spec.stiffness.where : spec.where,
                      fmt::format("robot '{}': stiffness must be positive and finite for each of its {} joints",
                                  robot.name, robot.nu));
  }
  return K;
}

/// Limits of a robot's joints: those of the model file, unless the scene states others under `key`.
Eigen::VectorXd resolve_limit(std::string_view key, const JointValues& stated,
                              double multibody::VelocityInfo::* of_file, const Robot& robot,
                              const multibody::Model& model, Diagnostics& diagnostics) {
  Eigen::VectorXd limit(robot.nu);
  for (int i = 0; i < robot.nu; ++i) limit(i) = model.velocities()[robot.v(i)].*of_file;
  limit =
      resolve_joint_values(stated, model, robot.model, limit, fmt::format("{} of '{}'", key, robot.name), diagnostics);
  if (!(limit.array() >= 0).all())
    diagnostics.error(stated.where, fmt::format("robot '{}': {} must not be negative", robot.name, key));
  return limit;
}

/// Whether the joints of a model can be actuated; an error says why not.
bool can_be_robot(const multibody::Model& model, int index, const RobotSpec& spec, Diagnostics& diagnostics) {
  const multibody::ModelInfo& info = model.models()[index];
  const JointRange joints = joint_range(info);
  if (joints.nq != joints.nv) {
    diagnostics.error(
        spec.where, fmt::format("robot '{}' has a ball joint; robots have joints of one degree of freedom", info.name));
    return false;
  }
  if (joints.nv == 0) diagnostics.error(spec.where, fmt::format("robot '{}' has no movable joint", info.name));
  const bool all_follow = joints.nv > 0 && commanded_joints(model, index).empty();
  if (all_follow)
    diagnostics.error(spec.where, fmt::format("robot '{}': every joint follows another or is held", info.name));
  return joints.nv > 0 && !all_follow;
}

/// Whether objects have blocks of Q that a coupling can be added to.
bool couples_objects(const StepSettings& step) {
  if (step.model == ModelKind::kConvex) return step.dynamics == Dynamics::kQuasidynamic;
  return step.model == ModelKind::kConvexSecondOrder || step.model == ModelKind::kStewartTrinkle;
}

Robot make_robot(const RobotSpec& spec, int index, const StepSettings& step, const multibody::Model& model,
                 Diagnostics& diagnostics) {
  const multibody::ModelInfo& info = model.models()[index];
  const JointRange joints = joint_range(info);
  Robot robot;
  robot.name = info.name;
  robot.model = index;
  robot.first_q = joints.first_q;
  robot.first_v = joints.first_v;
  robot.nv = joints.nv;
  robot.joints = commanded_joints(model, index);
  robot.nu = static_cast<int>(robot.joints.size());
  robot.drive = spec.drive;
  if (robot.drive == Drive::kForce) check_force_drive(step, spec, diagnostics);
  robot.admittance = resolve_admittance(spec, model, index, diagnostics);
  robot.stiffness = resolve_stiffness(spec, robot, step, model, diagnostics);
  robot.effort_limit = resolve_limit("effort_limit", spec.effort_limit, &multibody::VelocityInfo::effort_limit, robot,
                                     model, diagnostics);
  robot.velocity_limit = resolve_limit("velocity_limit", spec.velocity_limit, &multibody::VelocityInfo::velocity_limit,
                                       robot, model, diagnostics);
  return robot;
}

/// Robots in order of declaration of their models, whatever the order of the list. @param is_robot  by model.
std::vector<Robot> make_robots(const WorldSpec& spec, const StepSettings& step, const multibody::Model& model,
                               std::vector<char>& is_robot, Diagnostics& diagnostics) {
  std::vector<Robot> robots;
  for (const RobotSpec& robot : spec.robots) {
    const int index = find_model(model, robot.name);
    if (index < 0) {
      diagnostics.error(robot.where, fmt::format("robots: there is no model '{}'{}", robot.name,
                                                 did_you_mean(robot.name, model_names(model))));
      continue;
    }
    if (is_robot[index]) diagnostics.error(robot.where, fmt::format("robots: '{}' is listed twice", robot.name));
    is_robot[index] = 1;
    if (can_be_robot(model, index, robot, diagnostics))
      robots.push_back(make_robot(robot, index, step, model, diagnostics));
  }
  std::sort(robots.begin(), robots.end(), [](const Robot& a, const Robot& b) { return a.model < b.model; });
  int next_u = 0;
  for (Robot& robot : robots) {
    robot.first_u = next_u;
    next_u += robot.nu;
  }
  return robots;
}

/// The k-th free body of a robot's model, with all that it carries.
Object make_free_object(const multibody::Model& model, int index, int k) {
  const multibody::ModelInfo& info = model.models()[index];
  const JointRange joints = joint_range(info);
  Object object{.model = index, .first_q = info.first_q + 7 * k, .nq = 7, .first_v = info.first_v + 6 * k, .nv = 6};
  const std::string& first = model.coordinates()[to_size(object.first_q)].name;
  object.name = first.substr(0, first.rfind('/'));
  object.floating = true;
  for (const int body : info.bodies) {
    const auto columns = model.columns(body);
    if (columns.empty() || columns.front() != object.first_v) continue;
    object.bodies.push_back(body);
    object.mass += model.bodies()[to_size(body)].mass;
    object.is_base |= columns.back() >= joints.first_v;
  }
  return object;
}

/// All movable models that are no robots and the free bodies of those that are, with what the scene says of them.
std::vector<Object> make_objects(const WorldSpec& spec, const multibody::Model& model,
                                 const std::vector<char>& is_robot, Diagnostics& diagnostics) {
  std::vector<Object> objects;
  for (std::size_t i = 0; i < model.models().size(); ++i) {
    const multibody::ModelInfo& info = model.models()[i];
    const auto index = static_cast<int>(i);
    if (is_robot[i]) {
      for (std::size_t k = 0; k < info.free_bases.size(); ++k)
        objects.push_back(make_free_object(model, index, static_cast<int>(k)));
    } else if (info.nv > 0) {
      objects.push_back({.name = info.name,
                         .model = index,
                         .first_q = info.first_q,
                         .nq = info.nq,
                         .first_v = info.first_v,
                         .nv = info.nv,
                         .mass = info.mass,
                         .floating = info.floating_base(),
                         .bodies = info.bodies});
    }
  }
  for (const ObjectSpec& stated : spec.objects) {
    const auto found =
        std::find_if(objects.begin(), objects.end(), [&](const Object& o) { return o.name == stated.name; });
    if (found != objects.end()) {
      found->frozen = stated.frozen;
      continue;
    }
    const int index = find_model(model, stated.name);
    if (index < 0) {
      std::vector<std::string> names = model_names(model);
      for (const Object& object : objects)
        if (is_robot[to_size(object.model)]) names.push_back(object.name);
      diagnostics.error(stated.where, fmt::format("objects: there is no model '{}'{}", stated.name,
                                                  did_you_mean(stated.name, names)));
    } else if (is_robot[to_size(index)]) {
      diagnostics.error(stated.where, fmt::format("'{}' is listed both as robot and as object", stated.name));
    } else {
      diagnostics.warning(stated.where, fmt::format("object '{}' cannot move: it is welded to the world", stated.name));
    }
  }
  return objects;
}

/// What resists each velocity in a step [N/m, N·m/rad], without couplings: stiffness of drives, and M/h² where the
/// model has it; and M/h² itself. At default places of the joints.
std::pair<Eigen::VectorXd, Eigen::VectorXd> diagonal_of_energy(const StepSettings& step, const multibody::Model& model,
                                                               std::span<const Robot> robots,
                                                               std::span<const Object> objects) {
  constexpr double kUsualStep_s = 0.01;
  const double h = step.h.value_or(kUsualStep_s);
  multibody::Kinematics kinematics = model.make_kinematics();
  Eigen::MatrixXd M;
  model.update(model.default_configuration(), kinematics);
  model.mass_matrix(kinematics, M);
  const Eigen::VectorXd inertia = M.diagonal() / (h * h);
  Eigen::VectorXd held = Eigen::VectorXd::Zero(model.nv());
  if (step.model == ModelKind::kConvexSecondOrder || step.model == ModelKind::kStewartTrinkle) held = inertia;
  for (const Object& object : objects)
    held.segment(object.first_v, object.nv) = inertia.segment(object.first_v, object.nv);
  for (const Robot& robot : robots)
    for (int i = 0; i < robot.nu; ++i) held(robot.v(i)) += robot.stiffness(i);
  return {held, inertia};
}

}  // namespace

void sort_models(const WorldSpec& spec, const StepSettings& step, const multibody::Model& model,
                 Diagnostics& diagnostics, std::vector<Robot>& robots, std::vector<Object>& objects) {
  std::vector<char> is_robot(model.models().size(), 0);
  robots = make_robots(spec, step, model, is_robot, diagnostics);
  objects = make_objects(spec, model, is_robot, diagnostics);
  set_limit_surfaces(spec, model, objects, diagnostics);
  set_object_damping(step, objects, diagnostics);
}

std::vector<JointSpring> joint_springs(const WorldSpec& spec, const StepSettings& step, const multibody::Model& model,
                                       std::span<const Robot> robots, std::span<const Object> objects,
                                       Diagnostics& diagnostics) {
  constexpr double kFactor = 1e6;
  std::vector<const Object*> object_of(model.nv(), nullptr);
  for (const Object& object : objects) std::fill_n(object_of.begin() + object.first_v, object.nv, &object);
  const auto acts = [&](int v, const char* what, bool is_needed) {
    const Object* const object = object_of[v];
    if (object == nullptr) {
      if (is_needed && step.model == ModelKind::kLimitSurface)
        diagnostics.error({spec.file, 0, 0},
                          fmt::format("'{}' follows another joint; not available with step.model: {}",
                                      model.velocities()[v].name, to_string(step.model)));
      return true;
    }
    if (object->frozen || couples_objects(step)) return !object->frozen;
    const std::string message =
        fmt::format("object '{}' has joints that {}; not available with step.model: {}{}", object->name, what,
                    to_string(step.model), step.model == ModelKind::kConvex ? ", dynamics: quasistatic" : "");
    const SourceLocation& where = spec.world.models[object->model].where;
    is_needed ? diagnostics.error(where, message) : diagnostics.warning(where, message);
    return false;
  };

  std::vector<JointSpring> springs;
  if (!model.couplings().empty()) {
    const auto [held, inertia] = diagonal_of_energy(step, model, robots, objects);
    for (const multibody::Coupling& coupling : model.couplings()) {
      double stiffest = std::max(held(coupling.v), coupling.leader_v < 0 ? 0.0 : held(coupling.leader_v));
      if (stiffest == 0) stiffest = inertia(coupling.v);  // nothing else holds it
      if (acts(coupling.v, "follow others", true)) springs.push_back({coupling, kFactor * stiffest, true});
    }
  }
  const auto velocities = model.velocities();
  for (int v = 0; v < model.nv(); ++v) {
    const multibody::VelocityInfo& joint = velocities[v];
    if (joint.spring_stiffness == 0 || !acts(v, "have springs", false)) continue;
    springs.push_back({{.q = joint.q_index, .v = v, .offset = joint.spring_reference}, joint.spring_stiffness, false});
  }
  return springs;
}

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
    if (robot.drive == Drive::kForce) check("robot", robot.model, robot.name, robot.first_v, robot.nv);
  // An object carried by another object would couple their inertias across models.
  const auto bodies = model.bodies();
  std::vector<const Object*> object_of(model.nv(), nullptr);
  for (const Object& object : objects) std::fill_n(object_of.begin() + object.first_v, object.nv, &object);
  for (const Object& object : objects) {
    for (int body : object.bodies) {
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

void check_effort_limits(const WorldSpec& spec, const StepSettings& step, std::span<const Robot> robots,
                         Diagnostics& diagnostics) {
  const auto limited = [](const Robot& robot) { return !robot.effort_limit.array().isInf().all(); };
  if (!step.effort_limits || std::any_of(robots.begin(), robots.end(), limited)) return;
  diagnostics.warning({spec.file, 0, 0},
                      "step.effort_limits: no robot joint has an effort limit; give them in the model file or as "
                      "robots: [{effort_limit: …}]");
}

}  // namespace deft::scene
