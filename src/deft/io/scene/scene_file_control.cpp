// `control:` of a scene file: the controller's horizon, weights, bounds and reference.

#include <fmt/format.h>

#include "deft/io/scene/scene_file_parts.hpp"
#include "deft/io/settings/control_setting_list.hpp"
#include "deft/io/settings/settings_file.hpp"

namespace deft::io {
namespace {

using control_list::kNumbers;
using control_list::kValues;
using control_list::NumberInfo;
using control_list::ValuesInfo;
using scene::ControlSettings;
using scene::ControlValues;

std::optional<scene::JointValues> joint_values(const YamlNode& node, const std::string& what, const ValuesInfo& info,
                                               const YamlReader& read) {
  return read_joint_values(node, what, read, info.range, {});
}

std::optional<ControlValues::OfModel> read_model(const YamlNode& node, const std::string& what, const ValuesInfo& info,
                                                 const YamlReader& read) {
  ControlValues::OfModel model{.where = node.where};
  if (!node.is_map()) {
    const auto values = joint_values(node, what, info, read);
    if (!values) return std::nullopt;
    model.position = *values;
    return model;
  }
  model.position.where = node.where;
  for (const YamlEntry& entry : node.entries) {
    const std::string label = fmt::format("{} {}", what, entry.key);
    if (entry.key == "velocity" && info.states) {
      if (const auto values = joint_values(entry.value, label, info, read)) model.velocity = *values;
    } else if (const auto number = read.number(entry.value, label, info.range)) {
      model.position.by_name[entry.key] = *number;
    }
  }
  return model;
}

std::optional<Eigen::MatrixXd> read_matrix(const YamlNode& node, const std::string& what, const YamlReader& read) {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(node.items.size()),
                         static_cast<Eigen::Index>(node.items.front().items.size()));
  for (std::size_t r = 0; r < node.items.size(); ++r) {
    const auto row = read.numbers(node.items[r], what, static_cast<int>(matrix.cols()));
    if (!row) return std::nullopt;
    matrix.row(static_cast<Eigen::Index>(r)) = Eigen::Map<const Eigen::RowVectorXd>(row->data(), matrix.cols());
  }
  return matrix;
}

void read_values(const YamlNode& node, const ValuesInfo& info, SceneReading& scene, ControlValues& out) {
  const YamlReader& read = scene.read;
  const std::string what = fmt::format("control.{}", info.name);
  out.where = node.where;
  if (node.is_list()) {
    if (info.matrix && !node.items.empty() && node.items.front().is_list()) {
      out.matrix = read_matrix(node, what, read);
    } else if (auto list = read.numbers(node, what, -1, info.range)) {
      out.list = std::move(*list);
    }
  } else if (node.is_map()) {
    for (const YamlEntry& entry : node.entries) {
      if (!scene.may_exist(entry.key)) {
        scene.diagnostics.error(entry.where, fmt::format("{}: there is no model '{}'{}", what, entry.key,
                                                         did_you_mean(entry.key, scene.model_names())));
        continue;
      }
      if (auto model = read_model(entry.value, fmt::format("{} {}", what, entry.key), info, read))
        out.models[entry.key] = std::move(*model);
    }
  } else if (const auto all = read.number(node, what, info.range)) {
    out.all = all;
  }
}

void read_goal(const YamlNode& node, SceneReading& scene, ControlSettings& control) {
  if (node.is_map()) {
    control.goal = read_configuration(node, "control.goal", "", scene);
    return;
  }
  const auto name = scene.read.text(node, "control.goal");
  if (!name) return;
  std::vector<std::string> names;
  for (const scene::ConfigurationSpec& known : scene.spec.configurations) {
    names.push_back(known.name);
    if (known.name == *name) control.goal = known;
  }
  if (!control.goal)
    scene.read.error(node,
                     fmt::format("control.goal: there is no configuration '{}'{}", *name, did_you_mean(*name, names)));
}

void read_path(const YamlNode& node, SceneReading& scene, ControlSettings& control) {
  const YamlReader& read = scene.read;
  if (!read.list(node, "control.path")) return;
  for (const YamlNode& item : node.items) {
    if (!read.any_map(item, "a knot of control.path")) continue;
    const YamlNode* t = item.find("t");
    if (t == nullptr) read.error(item, "a knot of control.path needs 't' [s]");
    const auto time = t != nullptr ? read.number(*t, "control.path t") : std::nullopt;
    if (time) control.path.push_back({*time, read_configuration(item, "control.path", "t", scene)});
  }
  if (node.items.empty()) read.error(node, "control.path: needs at least one knot");
}

}  // namespace

void read_control(const YamlNode& node, SceneReading& scene) {
  static constexpr std::string_view kTypes[] = {"mixed-integer"};
  static constexpr std::string_view kFallbacks[] = {"zero", "hold"};
  const YamlReader& read = scene.read;
  std::vector<std::string_view> keys;
  for (const NumberInfo& info : kNumbers) keys.push_back(info.name);
  for (const ValuesInfo& info : kValues) keys.push_back(info.name);
  if (!read.map(node, "control", keys)) return;
  ControlSettings& control = scene.spec.control.emplace();
  control.where = node.where;
  if (const YamlNode* type = node.find("type")) read.word(*type, "control.type", kTypes);
  if (const YamlNode* N = node.find("N")) control.N = read.integer(*N, "control.N", 1).value_or(control.N);
  if (const YamlNode* threads = node.find("threads"))
    control.threads = read.integer(*threads, "control.threads", 1).value_or(1);
  const auto set = [&](std::string_view key, const NumberRange& range, double& field) {
    if (const YamlNode* value = node.find(key))
      field = read.number(*value, fmt::format("control.{}", key), range).value_or(field);
  };
  set("gap", kNotNegative, control.gap);
  set("time_limit_s", kPositiveOrInfinite, control.time_limit_s);
  set("contact_margin", kNotNegativeOrInfinite, control.contact_margin);
  if (const YamlNode* fallback = node.find("fallback"))
    control.fallback = static_cast<scene::Fallback>(read.word(*fallback, "control.fallback", kFallbacks).value_or(0));
  for (const ValuesInfo& info : kValues)
    if (const YamlNode* values = node.find(info.name)) read_values(*values, info, scene, control.*info.field);
  if (const YamlNode* goal = node.find("goal")) read_goal(*goal, scene, control);
  if (const YamlNode* path = node.find("path")) read_path(*path, scene, control);
}

}  // namespace deft::io
