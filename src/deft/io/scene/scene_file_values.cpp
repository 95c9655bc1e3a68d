// `configurations:`, `initial:`, `commands:`, `goals:`: numbers by the names of models and joints.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "deft/io/scene/scene_file_parts.hpp"
#include "deft/io/settings/settings_file.hpp"

namespace deft::io {
namespace {

using scene::ModelConfiguration;
using scene::ModelNames;

constexpr double kQuaternionNormTolerance = 1e-3;

/// Whether a model's own names may be checked: false while errors elsewhere leave them uncertain.
bool certain(const SceneReading& scene, const std::string& model) {
  return scene.lengths_known && scene.unreadable.count(model) == 0;
}

/// The model that a key names, or nullptr after an error (none for models that could not be read).
const ModelNames* named_model(const YamlEntry& entry, const std::string& what, SceneReading& scene) {
  const ModelNames* names = scene.find_names(entry.key);
  if (!scene.may_exist(entry.key)) {
    scene.diagnostics.error(entry.where, fmt::format("{}: there is no model '{}'{}", what, entry.key,
                                                     did_you_mean(entry.key, scene.model_names())));
  }
  return names;
}

void check_quaternion(const YamlNode& node, const std::vector<double>& list, std::size_t first, SceneReading& scene) {
  const double norm = std::sqrt(list[first] * list[first] + list[first + 1] * list[first + 1] +
                                list[first + 2] * list[first + 2] + list[first + 3] * list[first + 3]);
  if (std::abs(norm - 1) > kQuaternionNormTolerance) {
    scene.read.error(node, fmt::format("quaternion [qw, qx, qy, qz]: the norm must be 1 to within {}, it is {:.6g}",
                                       kQuaternionNormTolerance, norm));
  }
}

/// A list of all coordinates, or of the joints without the free base.
void read_list(const YamlNode& node, const std::string& what, const ModelNames& names, SceneReading& scene,
               ModelConfiguration& out) {
  const auto list = scene.read.numbers(node, what, -1);
  if (!list) return;
  out.joints.list = *list;
  if (!certain(scene, names.name)) return;
  const std::size_t free = 7 * names.free_links.size();
  const bool whole = list->size() == names.q.size();
  if (!whole && (free == 0 || list->size() != names.q.size() - free)) {
    scene.read.error(node,
                     fmt::format("{}: expected {}{} numbers ({}), got {}", what, names.q.size(),
                                 free > 0 && names.q.size() > free ? fmt::format(" or {}", names.q.size() - free) : "",
                                 fmt::join(names.q, ", "), list->size()));
    return;
  }
  for (std::size_t i = 0; whole && i + 3 < names.q.size(); ++i) {
    if (names.q[i].ends_with("qw")) check_quaternion(node, *list, i, scene);
  }
}

void read_map(const YamlNode& node, const std::string& what, const ModelNames& names, SceneReading& scene,
              ModelConfiguration& out) {
  const YamlReader& read = scene.read;
  std::vector<std::string_view> keys(names.q.begin(), names.q.end());
  const bool has_pose = names.floating_base() || !certain(scene, names.name);
  if (has_pose) keys.insert(keys.end(), {"position", "translation", "rotation", "quat_wxyz"});
  keys.push_back("velocity");
  if (certain(scene, names.name)) read.map(node, what, keys);
  YamlNode pose = make_map();
  pose.where = node.where;
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.is_null()) continue;
    const bool coordinate = std::find(names.q.begin(), names.q.end(), entry.key) != names.q.end();
    if (coordinate) {
      if (const auto value = read.number(entry.value, fmt::format("{} {}", what, entry.key)))
        out.joints.by_name[entry.key] = *value;
    } else if (entry.key == "velocity") {
      const auto velocity = read.numbers(entry.value, what + " velocity",
                                         certain(scene, names.name) ? static_cast<int>(names.v.size()) : -1);
      if (velocity)
        out.velocity = Eigen::Map<const Eigen::VectorXd>(velocity->data(), static_cast<Eigen::Index>(velocity->size()));
    } else if (has_pose && std::find(keys.begin(), keys.end(), entry.key) != keys.end()) {
      pose.set(entry.key, entry.value);
    } else if (!certain(scene, names.name)) {
      read.refuse_quat(entry, what);  // all that can be checked
    }
  }
  if (pose.entries.empty()) return;
  const auto X = read.pose(pose, what);
  if (X && (pose.has("position") || pose.has("translation"))) out.position = X->translation();
  if (X && (pose.has("rotation") || pose.has("quat_wxyz"))) out.rotation = X->linear();
}

}  // namespace

scene::ConfigurationSpec read_configuration(const YamlNode& node, const std::string& name, std::string_view skip,
                                            SceneReading& scene) {
  scene::ConfigurationSpec configuration;
  configuration.name = name;
  configuration.where = node.where;
  if (!scene.read.any_map(node, name)) return configuration;
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.is_null() || entry.key == skip) continue;
    const ModelNames* names = named_model(entry, name, scene);
    if (names == nullptr) continue;
    const std::string what = fmt::format("{} {}", name, entry.key);
    ModelConfiguration& model = configuration.models[entry.key];
    model.where = model.joints.where = entry.value.where;
    if (entry.value.is_map()) {
      read_map(entry.value, what, *names, scene, model);
    } else if (entry.value.is_list()) {
      read_list(entry.value, what, *names, scene, model);
    } else if (const auto all = scene.read.number(entry.value, what)) {
      model.joints.all = all;
      const std::size_t joints = names->q.size() - 7 * names->free_links.size();
      if (joints == 0 && certain(scene, names->name))
        scene.read.error(entry.value, fmt::format("{}: has no joints; give a position and a rotation", what));
    }
  }
  return configuration;
}

void read_configurations(const YamlNode& node, SceneReading& scene) {
  if (!scene.read.any_map(node, "configurations")) return;
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.is_null()) continue;
    std::erase_if(scene.spec.configurations, [&](const auto& of_file) { return of_file.name == entry.key; });
    scene.spec.configurations.push_back(read_configuration(entry.value, entry.key, "", scene));
  }
}

void read_initial(const YamlNode& node, SceneReading& scene) {
  auto& configurations = scene.spec.configurations;
  const auto known = [&](const std::string& name) {
    return std::any_of(configurations.begin(), configurations.end(), [&](const auto& c) { return c.name == name; });
  };
  if (node.is_map()) {
    std::string name = "initial";
    while (known(name)) name += '_';
    configurations.push_back(read_configuration(node, name, "", scene));
    scene.spec.initial = name;
    return;
  }
  const auto name = scene.read.text(node, "initial");
  if (!name) return;
  scene.spec.initial = *name;
  if (known(*name)) return;
  std::vector<std::string> names;
  for (const auto& configuration : configurations) names.push_back(configuration.name);
  scene.read.error(node, fmt::format("initial: there is no configuration '{}'{}", *name, did_you_mean(*name, names)));
}

void read_commands(const YamlNode& node, SceneReading& scene) {
  static constexpr std::string_view kInterpolations[] = {"linear", "hold"};
  static constexpr std::string_view kTypes[] = {"position", "velocity"};
  const YamlReader& read = scene.read;
  if (!read.map(node, "commands", {"interpolation", "type", "knots", "formulas", "servo", "until"})) return;
  scene::CommandSpec& commands = scene.spec.commands;
  commands.where = node.where;
  if (const YamlNode* interpolation = node.find("interpolation")) {
    scene.spec.commands.interpolation = static_cast<scene::Interpolation>(
        read.word(*interpolation, "commands.interpolation", kInterpolations).value_or(0));
  }
  if (const YamlNode* type = node.find("type")) {
    commands.velocity = read.word(*type, "commands.type", kTypes) == 1;
    if (commands.velocity && scene.spec.step.model != scene::ModelKind::kLimitSurface)
      read.error(*type,
                 "commands.type: velocity is for step.model: limit-surface; give joint targets (type: position)");
  }
  if (const YamlNode* until = node.find("until")) commands.until = read.number(*until, "commands.until", kNotNegative);
  if (const YamlNode* formulas = node.find("formulas")) read_formulas(*formulas, scene);
  if (const YamlNode* servo = node.find("servo")) read_servo(*servo, scene);
  const YamlNode* knots = node.find("knots");
  if (knots == nullptr || !read.list(*knots, "commands.knots")) return;
  for (const YamlNode& item : knots->items) {
    if (!read.any_map(item, "a knot")) continue;
    scene::KnotSpec knot;
    knot.where = item.where;
    const YamlNode* t = item.find("t");
    if (t == nullptr) read.error(item, "a knot needs 't' [s]");
    const auto time = t != nullptr ? read.number(*t, "knot t") : std::nullopt;
    auto& earlier = scene.spec.commands.knots;
    if (time && !earlier.empty() && *time <= earlier.back().t) {
      read.error(*t, fmt::format("knots must have ascending times, {} follows {}", *time, earlier.back().t));
    }
    knot.t = time.value_or(earlier.empty() ? 0 : earlier.back().t);
    for (const YamlEntry& entry : item.entries) {
      if (entry.key == "t" || entry.value.is_null()) continue;
      std::vector<std::string> robots;
      for (const scene::RobotSpec& robot : scene.spec.robots) robots.push_back(robot.name);
      const ModelNames* names = scene.find_names(entry.key);
      if (std::find(robots.begin(), robots.end(), entry.key) == robots.end()) {
        const bool is_model = scene.may_exist(entry.key);
        scene.diagnostics.error(entry.where, is_model ? fmt::format("commands: '{}' is not among the robots", entry.key)
                                                      : fmt::format("commands: there is no robot '{}'{}", entry.key,
                                                                    did_you_mean(entry.key, robots)));
        continue;
      }
      const bool checked = names != nullptr && certain(scene, entry.key);
      const std::span<const std::string> joints =
          checked ? std::span<const std::string>(names->u) : std::span<const std::string>();
      if (auto values =
              read_joint_values(entry.value, fmt::format("command of '{}'", entry.key), read, kFinite, joints))
        knot.robots[entry.key] = std::move(*values);
    }
    earlier.push_back(std::move(knot));
  }
}

void read_goals(const YamlNode& node, SceneReading& scene) {
  const YamlReader& read = scene.read;
  if (!read.any_map(node, "goals")) return;
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.is_null()) continue;
    scene::GoalSpec goal;
    goal.target = read_configuration(entry.value, entry.key, "tolerance", scene);
    const YamlNode* tolerance = entry.value.find("tolerance");
    if (tolerance != nullptr && read.map(*tolerance, "tolerance", {"position", "rotation", "joint"})) {
      const auto set = [&](std::string_view key, double& field) {
        if (const YamlNode* value = tolerance->find(key))
          field = read.number(*value, fmt::format("tolerance {}", key), kNotNegative).value_or(field);
      };
      set("position", goal.tolerance_position_m);
      set("rotation", goal.tolerance_rotation_rad);
      if (const YamlNode* joints = tolerance->find("joint"); joints != nullptr && joints->is_map()) {
        for (const YamlEntry& joint : joints->entries) {
          if (const auto number = read.number(joint.value, fmt::format("tolerance joint {}", joint.key), kNotNegative))
            goal.tolerance_joints[joint.key] = *number;
        }
      } else {
        set("joint", goal.tolerance_joint);
      }
    }
    scene.spec.goals.push_back(std::move(goal));
  }
}

}  // namespace deft::io
