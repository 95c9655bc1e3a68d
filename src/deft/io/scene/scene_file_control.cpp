// `control:` of a scene file: the controller's horizon, weights, bounds and reference.

#include <fmt/format.h>

#include "deft/io/scene/scene_file_parts.hpp"
#include "deft/io/settings/settings_file.hpp"

namespace deft::io {
namespace {

using scene::ControlSettings;
using scene::ControlValues;

constexpr NumberRange kBound{-std::numeric_limits<double>::infinity(), true, true, "a number, inf or -inf"};

struct ValuesInfo {
  std::string_view name, doc;
  ControlValues ControlSettings::* field;
  NumberRange range;
  bool matrix;  // a list of rows may stand for it
  bool states;  // per state, or per input
};

constexpr ValuesInfo kValues[] = {
    {"Q", "weights of the states' distance from the reference at steps 0 … N−1; what is not named weighs 0",
     &ControlSettings::Q, kNotNegative, true, true},
    {"R", "weights of the inputs", &ControlSettings::R, kNotNegative, true, false},
    {"Qf", "weights at step N; missing: those of Q", &ControlSettings::Qf, kNotNegative, true, true},
    {"x_min", "lower bounds of the states at steps 1 … N", &ControlSettings::x_min, kBound, false, true},
    {"x_max", "upper bounds", &ControlSettings::x_max, kBound, false, true},
    {"x_price", "price per unit of violation that makes bounds soft; inf: hard", &ControlSettings::x_price,
     kNotNegativeOrInfinite, false, true},
    {"u_min", "lower bounds of the inputs", &ControlSettings::u_min, kBound, false, false},
    {"u_max", "upper bounds", &ControlSettings::u_max, kBound, false, false},
};

struct NumberInfo { std::string_view name, unit, doc, range, initial; };
constexpr NumberInfo kNumbers[] = {
    {"type", "", "the controller", "mixed-integer", "mixed-integer"},
    {"N", "1", "horizon, in steps of step.h", "an integer >= 1", "5"},
    {"goal", "", "where to be: a placement as in `configurations`, or the name of one", "", "none"},
    {"path", "", "instead: knots [{t, …placement}], linear in between", "", "none"},
    {"gap", "1", "relative gap at which a plan counts as optimal", ">= 0", "1e-07"},
    {"time_limit_s", "s", "wall time per period; then the best plan so far is used", "> 0 or inf", "inf"},
    {"threads", "1", "of the search", "an integer >= 1", "1"},
    {"contact_margin", "m", "contacts further away are no pairs of the system", ">= 0 or inf", "inf"},
    {"fallback", "", "command without a plan: no effort, or the last one again", "zero, hold", "zero"},
};

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

std::string control_settings_help() {
  std::string text;
  for (const NumberInfo& info : kNumbers)
    text += fmt::format("control.{:<19} {}{}\n  default {}{}{}\n", info.name, info.doc,
                        info.unit.empty() ? "" : fmt::format(" [{}]", info.unit), info.initial,
                        info.range.empty() ? "" : "; range: ", info.range);
  for (const ValuesInfo& info : kValues)
    text += fmt::format("control.{:<19} {}\n  a number, a list{} or a map by model{}; range: {}\n", info.name, info.doc,
                        info.matrix ? ", a list of rows" : "", info.states ? ", velocities under 'velocity'" : "",
                        info.range.text);
  return text;
}

}  // namespace deft::io
