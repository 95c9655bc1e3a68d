// `robots:`, `objects:` and `friction:`: who is who among the models, and how they touch.

#include <fmt/format.h>

#include <algorithm>

#include "deft/io/scene/scene_file_parts.hpp"
#include "deft/io/settings/settings_file.hpp"
#include "deft/scene/friction_table.hpp"

namespace deft::io {
namespace {

/// The `name:` of an item that must name a model; reports unknown and repeated names.
std::optional<std::string> model_name(const YamlNode& item, std::string_view what, std::set<std::string>& seen,
                                      SceneReading& scene) {
  const YamlNode* node = item.find("name");
  if (node == nullptr) {
    scene.read.error(item, fmt::format("{}: each item needs 'name'", what));
    return std::nullopt;
  }
  const auto name = scene.read.text(*node, fmt::format("{} name", what));
  if (!name) return std::nullopt;
  if (!seen.insert(*name).second) {
    scene.read.error(*node, fmt::format("{}: duplicate name '{}'", what, *name));
    return std::nullopt;
  }
  const bool known = scene.may_exist(*name);
  if (known) return name;
  scene.read.error(*node,
                   fmt::format("{}: there is no model '{}'{}", what, *name, did_you_mean(*name, scene.model_names())));
  return std::nullopt;
}

/// Names whose count a list must have; none while they are uncertain, which skips those checks.
std::span<const std::string> certain_names(const SceneReading& scene, const std::string& model,
                                           const std::vector<std::string>& names) {
  const bool certain = scene.lengths_known && scene.unreadable.count(model) == 0;
  return certain ? std::span<const std::string>(names) : std::span<const std::string>();
}

/// Of these joints those whose model file states no stiffness of a position drive.
std::vector<std::string> without_drives(const SceneReading& scene, const std::string& robot,
                                        std::span<const std::string> joints) {
  std::vector<std::string> left(joints.begin(), joints.end());
  for (const multibody::ModelSpec& model : scene.spec.world.models) {
    if (model.name != robot) continue;
    for (const multibody::JointSpec& joint : model.joints)
      for (const multibody::JointAxisSpec& axis : joint.axes)
        if (axis.stiffness > 0) std::erase(left, axis.coordinate);
  }
  return left;
}

/// `stiffness`, or `Kp` as published files say; every joint needs one, unless its model file states that of a drive.
/// @param optional  whether the step model does without.
scene::JointValues read_stiffness(const YamlNode& item, const std::string& robot, std::span<const std::string> joints,
                                  bool optional, const SceneReading& scene) {
  const YamlReader& read = scene.read;
  const std::vector<std::string> needed = without_drives(scene, robot, joints);
  const YamlNode* Kp = item.find("Kp");
  const YamlNode* stiffness = item.find("stiffness");
  if (Kp != nullptr && stiffness != nullptr) read.error(*Kp, "give either stiffness or Kp, not both");
  if (stiffness == nullptr) stiffness = Kp;
  if (stiffness == nullptr) {
    if (!optional && (joints.empty() || !needed.empty()))
      read.error(item, item.find("admittance") != nullptr
                           ? fmt::format("robot '{}' has an admittance alone, which is for step.model: limit-surface; "
                                         "give 'stiffness' [N/m, N m/rad]",
                                         robot)
                           : fmt::format("robot '{}' needs 'stiffness' [N/m, N m/rad]: one number, a list of one per "
                                         "joint, or a map by joint",
                                         robot));
    return {};
  }
  const auto values = read_joint_values(*stiffness, fmt::format("stiffness of '{}'", robot), read, kPositive, joints);
  if (!values) return {};
  const bool is_complete = std::all_of(needed.begin(), needed.end(), [&](const std::string& joint) {
    return values->by_name.contains(joint) || values->by_name.contains(robot + "/" + joint);
  });
  if (!values->by_name.empty() && values->by_name.size() < joints.size() && !is_complete) {
    read.error(*stiffness, fmt::format("stiffness of '{}' leaves out some of its {} joints: {}", robot, joints.size(),
                                       fmt::join(joints, ", ")));
  }
  return *values;
}

void read_robot(const YamlNode& item, std::set<std::string>& seen, SceneReading& scene) {
  const YamlReader& read = scene.read;
  if (!read.map(item, "robots",
                {"name", "drive", "stiffness", "Kp", "effort_limit", "velocity_limit", "self_collision", "admittance"}))
    return;
  const auto name = model_name(item, "robots", seen, scene);
  if (!name) return;
  const scene::ModelNames* names = scene.find_names(*name);
  const auto joints = names != nullptr ? certain_names(scene, *name, names->u) : std::span<const std::string>();
  scene::RobotSpec robot;
  robot.name = *name;
  robot.where = item.find("name")->where;
  static constexpr std::string_view kDrives[] = {"position", "force"};
  if (const YamlNode* drive = item.find("drive"))
    robot.drive =
        static_cast<scene::Drive>(read.word(*drive, fmt::format("drive of '{}'", *name), kDrives).value_or(0));
  const bool springless =
      robot.drive == scene::Drive::kForce || scene.spec.step.model == scene::ModelKind::kLimitSurface;
  robot.stiffness = read_stiffness(item, *name, joints, springless, scene);
  const auto read_limit = [&](const char* key, const NumberRange& range) -> scene::JointValues {
    const YamlNode* limit = item.find(key);
    if (limit == nullptr) return {};
    return read_joint_values(*limit, fmt::format("{} of '{}'", key, *name), read, range, joints)
        .value_or(scene::JointValues{});
  };
  robot.effort_limit = read_limit("effort_limit", kNotNegativeOrInfinite);
  robot.velocity_limit = read_limit("velocity_limit", kPositiveOrInfinite);
  if (const YamlNode* self = item.find("self_collision"))
    robot.self_collision = read.boolean(*self, "self_collision").value_or(false);
  if (const YamlNode* admittance = item.find("admittance")) {
    const std::string what = fmt::format("admittance of '{}'", *name);
    robot.admittance = read_joint_values(*admittance, what, read, kPositive, joints).value_or(scene::JointValues{});
    if (!joints.empty() && !robot.admittance.by_name.empty() && robot.admittance.by_name.size() < joints.size())
      read.error(*admittance,
                 fmt::format("{} leaves out some of its {} joints: {}", what, joints.size(), fmt::join(joints, ", ")));
  }
  scene.spec.robots.push_back(std::move(robot));
}

std::optional<std::array<double, 3>> read_ellipsoid(const YamlNode& node, std::string_view what,
                                                    const YamlReader& read) {
  const auto e = read.vector3(node, what, kPositive);
  if (!e) return std::nullopt;
  return std::array<double, 3>{e->x(), e->y(), e->z()};
}

void read_pair(const YamlNode& item, const std::vector<std::string>& bodies, SceneReading& scene) {
  const YamlReader& read = scene.read;
  if (!read.map(item, "friction.pairs", {"between", "mu", "ellipsoid", "frictionless", "rolling"})) return;
  scene::FrictionPairSpec pair;
  pair.where = item.where;
  const YamlNode* between = item.find("between");
  if (between == nullptr || !between->is_list() || between->items.size() != 2) {
    read.error(between != nullptr ? *between : item,
               "friction.pairs: 'between' takes a list of two names, of models or links: [hand, \"table::*\"]");
    return;
  }
  std::vector<std::string> choices = scene.model_names();
  choices.insert(choices.end(), bodies.begin(), bodies.end());
  for (std::size_t i = 0; i < 2; ++i) {
    const auto name = read.text(between->items[i], "between");
    if (!name) return;
    const auto matches = [&](const std::string& body) { return scene::matches_body(*name, body); };
    if (scene.all_read() && std::none_of(bodies.begin(), bodies.end(), matches)) {
      read.error(between->items[i],
                 fmt::format("friction.pairs: '{}' matches no body{}", *name, did_you_mean(*name, choices)));
    }
    pair.between[i] = *name;
  }
  if (const YamlNode* mu = item.find("mu")) pair.mu = read.number(*mu, "friction.pairs mu", kNotNegative);
  if (const YamlNode* ellipsoid = item.find("ellipsoid"))
    pair.ellipsoid = read_ellipsoid(*ellipsoid, "friction.pairs ellipsoid", read);
  if (const YamlNode* frictionless = item.find("frictionless"))
    pair.frictionless = read.boolean(*frictionless, "friction.pairs frictionless").value_or(false);
  if (const YamlNode* rolling = item.find("rolling"))
    pair.rolling = read.number(*rolling, "friction.pairs rolling", kNotNegative);
  if (item.find("mu") == nullptr && item.find("ellipsoid") == nullptr && item.find("frictionless") == nullptr &&
      item.find("rolling") == nullptr)
    read.error(item, "friction.pairs: give 'mu', 'ellipsoid', 'frictionless' or 'rolling'");
  scene.spec.friction.pairs.push_back(pair);
}

}  // namespace

void read_object_files(const YamlNode& objects, SceneReading& scene) {
  if (!objects.is_list()) return;  // read_objects says so
  for (const YamlNode& item : objects.items) {
    const YamlNode* file = item.find("file");
    const YamlNode* name = item.find("name");
    if (file != nullptr && name != nullptr && name->is_scalar() && !name->text.empty())
      scene.add_model(*file, name->text, name->where);
  }
}

void read_robots(const YamlNode& robots, SceneReading& scene) {
  if (!scene.read.list(robots, "robots")) return;
  std::set<std::string> seen;
  for (const YamlNode& item : robots.items) read_robot(item, seen, scene);
}

void read_objects(const YamlNode& objects, SceneReading& scene) {
  const YamlReader& read = scene.read;
  if (!read.list(objects, "objects")) return;
  std::set<std::string> seen;
  for (const YamlNode& item : objects.items) {
    if (!read.map(item, "objects", {"name", "file", "frozen", "limit_surface"})) continue;
    const auto name = model_name(item, "objects", seen, scene);
    if (!name) continue;
    scene::ObjectSpec object;
    object.name = *name;
    object.where = item.find("name")->where;
    const bool is_robot = std::any_of(scene.spec.robots.begin(), scene.spec.robots.end(),
                                      [&](const auto& robot) { return robot.name == *name; });
    if (is_robot) read.error(*item.find("name"), fmt::format("'{}' is listed both as robot and as object", *name));
    if (const YamlNode* frozen = item.find("frozen")) object.frozen = read.boolean(*frozen, "frozen").value_or(false);
    if (const YamlNode* limit_surface = item.find("limit_surface")) read_limit_surface(*limit_surface, *name, scene);
    scene.spec.objects.push_back(object);
  }
}

void read_friction(const YamlNode& friction, SceneReading& scene) {
  const YamlReader& read = scene.read;
  if (!read.map(friction, "friction", {"default", "pairs", "ellipsoid", "ellipsoid_axis", "rolling"})) return;
  if (const YamlNode* fallback = friction.find("default")) {
    if (const auto mu = read.number(*fallback, "friction.default", kNotNegative)) scene.spec.friction.fallback = *mu;
    scene.spec.friction.warn_missing = false;  // asked for
  }
  if (const YamlNode* rolling = friction.find("rolling"))
    scene.spec.friction.rolling = read.number(*rolling, "friction.rolling", kNotNegative).value_or(0);
  if (const YamlNode* ellipsoid = friction.find("ellipsoid"))
    scene.spec.friction.ellipsoid = read_ellipsoid(*ellipsoid, "friction.ellipsoid", read);
  if (const YamlNode* axis = friction.find("ellipsoid_axis")) {
    const auto direction = read.vector3(*axis, "friction.ellipsoid_axis");
    if (direction && direction->norm() == 0) read.error(*axis, "friction.ellipsoid_axis: must not be zero");
    if (direction && direction->norm() > 0) scene.spec.friction.ellipsoid_axis = direction->normalized();
  }
  const YamlNode* pairs = friction.find("pairs");
  if (pairs == nullptr || !read.list(*pairs, "friction.pairs")) return;
  std::vector<std::string> bodies;
  for (const multibody::ModelSpec& model : scene.spec.world.models) {
    for (const multibody::LinkSpec& link : model.links)
      bodies.push_back(model.inline_body ? model.name : model.name + "/" + link.name);
  }
  for (const YamlNode& item : pairs->items) read_pair(item, bodies, scene);
}

}  // namespace deft::io
