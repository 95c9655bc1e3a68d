#include "deft/io/settings/settings_file.hpp"
#include "deft/core/index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace deft::io {
namespace {

using scene::StepSettings;

/// The words of an enumeration whose values count from 0.
template <typename Enum>
std::vector<std::string_view> words_of(int count) {
  std::vector<std::string_view> words;
  for (int i = 0; i < count; ++i) words.push_back(scene::to_string(static_cast<Enum>(i)));
  return words;
}
const std::vector<std::string_view> kModelWords = words_of<scene::ModelKind>(7);
const std::vector<std::string_view> kDynamicsWords = words_of<scene::Dynamics>(2);
const std::vector<std::string_view> kConeWords = words_of<scene::Cone>(2);
const std::vector<std::string_view> kForcesWords = words_of<scene::Forces>(2);
const std::vector<std::string_view> kFrictionLawWords = words_of<scene::FrictionLaw>(2);
const std::vector<std::string_view> kPlaneWords = words_of<scene::Plane>(4);
const std::vector<std::string_view> kFormWords = words_of<scene::LimitSurfaceForm>(2);
const std::vector<std::string_view> kUniquenessWords{"off", "check"};

struct SettingInfo {
  std::string_view name, unit, doc;
  NumberRange range = kFinite;
};

/// A field that holds one of a few words: bool and enumerations alike.
template <typename T>
struct Choice {
  T& field;
  std::span<const std::string_view> words;
};
template <typename T>
Choice<T> choice(T& field, std::span<const std::string_view> words) {
  return {field, words};
}

/// The one list of settings: visit(info, field) for each. `Settings` is StepSettings, const or not.
template <typename Settings, typename Visitor>
void visit_settings(Settings& s, Visitor&& visit) {
  visit(SettingInfo{"h", "s", "length of a step; stepping without one is an error", kPositive}, s.h);
  visit(SettingInfo{"model", "", "what a step solves"}, choice(s.model, kModelWords));
  visit(SettingInfo{"dynamics", "",
                    "quasidynamic: momentum of the objects within a step; quasistatic: none (model convex)"},
        choice(s.dynamics, kDynamicsWords));
  visit(SettingInfo{"cone", "", "friction: a pyramid of rays, or the cone itself"}, choice(s.cone, kConeWords));
  visit(SettingInfo{"rays",
                    "1",
                    "edges of the friction pyramid: 2 in the plane, 4, 6, 8, … in space",
                    {2, true, false, "an even number >= 2"}},
        s.rays);
  visit(SettingInfo{"friction_law", "",
                    "associated: sliding bodies separate by mu times the slip (convex); coulomb: they do not (kappa "
                    "inf, no compliance)"},
        choice(s.friction_law, kFrictionLawWords));
  visit(SettingInfo{"kappa", "1/J", "weight of the smoothing log barrier; inf (or null) = exact contact",
                    kPositiveOrInfinite},
        s.kappa);
  visit(SettingInfo{"contact_margin", "m", "pairs with a gap below it are contact candidates; inf = every pair",
                    kNotNegativeOrInfinite},
        s.contact_margin);
  visit(SettingInfo{"unactuated_mass_scale", "1",
                    "scales the objects' mass in the step; null = true mass, 0 = objects do not move (model convex)",
                    kNotNegative},
        s.unactuated_mass_scale);
  visit(SettingInfo{"joint_limits", "", "joint limits are constraints"}, s.joint_limits);
  visit(SettingInfo{"effort_limits", "", "the springs of the robots saturate at the joints' effort limits"},
        s.effort_limits);
  visit(SettingInfo{"robot_gravity", "", "gravity acts on robots too (off: they compensate their own weight)"},
        s.robot_gravity);
  visit(SettingInfo{"joint_damping", "N s/m, N m s/rad",
                    "damping of the robots' joints: one number, a list or a map; none = 0", kNotNegative},
        s.joint_damping);
  visit(SettingInfo{"object_damping", "1/s",
                    "g: the surroundings of an object act on it by -g M v; one number, a list or a map over the "
                    "objects; none = 0, in steps of first order 1/h",
                    kNotNegative},
        s.object_damping);
  visit(SettingInfo{"compliance", "m/N", "compliance of every contact; 0 = rigid", kNotNegative}, s.compliance);
  visit(
      SettingInfo{
          "uniqueness", "",
          "check: look for a second motion in every step (models of exact Coulomb friction; convex ones always know)"},
      choice(s.uniqueness_check, kUniquenessWords));
  visit(
      SettingInfo{"forces", "", "which of several possible forces are reported: those of least norm, or any (faster)"},
      choice(s.forces, kForcesWords));
  visit(SettingInfo{"midpoint_forces", "",
                    "force and reaction act at the midpoint of the gap instead of at each body's surface"},
        s.midpoint_forces);
  visit(SettingInfo{"gain", "1",
                    "limit surface: c, how far robots yield to forces, v = u + c B F; 0 = perfect velocity control",
                    kNotNegative},
        s.gain);
  visit(
      SettingInfo{
          "form", "",
          "limit surface: gaps at the end of the step (time-stepping), or velocities of what touches (velocity)"},
      choice(s.form, kFormWords));
  visit(SettingInfo{"relinearize", "",
                    "limit surface: gaps are linearised again where the step ends, until it stays there"},
        s.relinearize);
}

std::vector<std::string_view> setting_names() {
  std::vector<std::string_view> names;
  const StepSettings settings;
  visit_settings(settings, [&](const SettingInfo& info, const auto&) { names.push_back(info.name); });
  return names;
}

/// Reads one value into its field; null keeps "none" for optional numbers, means inf for kappa, and the default
/// elsewhere.
class ReadSetting {
 public:
  ReadSetting(const YamlNode& node, const YamlReader& read) : node_(node), read_(read) {}

  void operator()(const SettingInfo& info, double& field) const {
    const YamlEntry* entry = node_.find_entry(info.name);
    if (entry == nullptr) return;
    const bool exact = entry->value.is_null() && info.range.infinity_allowed;
    if (exact) field = kInfinity;
    if (entry->value.is_null()) return;
    if (const auto value = read_.number(entry->value, label(info), info.range)) field = *value;
  }
  void operator()(const SettingInfo& info, std::optional<double>& field) const {
    const YamlEntry* entry = node_.find_entry(info.name);
    if (entry == nullptr) return;
    field.reset();
    const bool nan = entry->value.is_scalar() && std::isnan(parse_number(entry->value.text).value_or(0));
    if (entry->value.is_null() || (nan && info.name == "unactuated_mass_scale")) return;
    field = read_.number(entry->value, label(info), info.range);
  }
  void operator()(const SettingInfo& info, int& field) const {
    const YamlNode* value = node_.find(info.name);
    if (value == nullptr) return;
    const auto number = read_.integer(*value, label(info), static_cast<int>(info.range.lower));
    if (number && *number % 2 == 0) field = *number;
    if (number && *number % 2 != 0)
      read_.error(*value, fmt::format("{}: must be {}, got {}", label(info), info.range.text, *number));
  }
  void operator()(const SettingInfo& info, bool& field) const {
    const YamlNode* value = node_.find(info.name);
    if (value != nullptr) field = read_.boolean(*value, label(info)).value_or(field);
  }
  void operator()(const SettingInfo& info, scene::JointValues& field) const {
    const YamlNode* value = node_.find(info.name);
    if (value == nullptr) return;
    if (auto values = read_joint_values(*value, label(info), read_, info.range, {})) field = std::move(*values);
  }
  template <typename T>
  void operator()(const SettingInfo& info, const Choice<T>& field) const {
    const YamlNode* value = node_.find(info.name);
    if (value == nullptr) return;
    if (const auto index = read_.word(*value, label(info), field.words)) field.field = static_cast<T>(*index);
  }

 private:
  static std::string label(const SettingInfo& info) { return fmt::format("step.{}", info.name); }
  const YamlNode& node_;
  const YamlReader& read_;
};

YamlNode value_of(double field) { return make_number(field); }
YamlNode value_of(const std::optional<double>& field) { return field ? make_number(*field) : YamlNode{}; }
YamlNode value_of(int field) { return make_scalar(std::to_string(field)); }
YamlNode value_of(bool field) { return make_scalar(field ? "true" : "false"); }
template <typename T>
YamlNode value_of(const Choice<T>& field) {
  return make_scalar(std::string(field.words[to_size(field.field)]));
}
YamlNode value_of(const scene::JointValues& field) {
  if (field.all) return make_number(*field.all);
  if (field.list.empty() && field.by_name.empty()) return {};
  YamlNode node = field.list.empty() ? make_map() : make_list({});
  for (const double value : field.list) node.items.push_back(make_number(value));
  for (const auto& [name, value] : field.by_name) node.set(name, make_number(value));
  return node;
}

std::string_view range_of(const SettingInfo& info, bool) {
  return info.range.text == kFinite.text ? "true, false" : info.range.text;
}
template <typename T>
std::string range_of(const SettingInfo& info, const T&) {
  return std::string(info.range.text);
}
template <typename T>
std::string range_of(const SettingInfo&, const Choice<T>& field) {
  return fmt::format("{}", fmt::join(field.words, ", "));
}

}  // namespace

void read_settings(const YamlNode& node, const YamlReader& read, StepSettings& settings) {
  if (!read.map(node, "step", setting_names())) return;
  visit_settings(settings, ReadSetting(node, read));
}

YamlNode write_settings(const StepSettings& settings) {
  YamlNode node = make_map();
  visit_settings(settings, [&](const SettingInfo& info, const auto& field) { node.set(info.name, value_of(field)); });
  return node;
}

std::string settings_help() {
  std::string text;
  const StepSettings defaults;
  visit_settings(defaults, [&](const SettingInfo& info, const auto& field) {
    const YamlNode value = value_of(field);
    text += fmt::format("step.{:<22} {}{}\n  default {}; range: {}\n", info.name, info.doc,
                        info.unit.empty() ? "" : fmt::format(" [{}]", info.unit), value.is_null() ? "none" : value.text,
                        range_of(info, field));
  });
  return text;
}

std::optional<scene::Plane> read_plane(const YamlNode& node, const YamlReader& read) {
  const auto index = read.word(node, "plane", kPlaneWords);
  if (!index) return std::nullopt;
  return static_cast<scene::Plane>(*index);
}

std::optional<scene::JointValues> read_joint_values(const YamlNode& node, std::string_view what, const YamlReader& read,
                                                    const NumberRange& range, std::span<const std::string> names) {
  scene::JointValues values;
  values.where = node.where;
  if (node.is_list()) {
    const auto list = read.numbers(node, what, names.empty() ? -1 : static_cast<int>(names.size()), range);
    if (!list) return std::nullopt;
    values.list = *list;
  } else if (node.is_map()) {
    std::vector<std::string_view> keys(names.begin(), names.end());
    if (!names.empty() && !read.map(node, what, keys)) return std::nullopt;
    for (const YamlEntry& entry : node.entries) {
      if (const auto value = read.number(entry.value, fmt::format("{} {}", what, entry.key), range))
        values.by_name[entry.key] = *value;
    }
  } else if (const auto all = read.number(node, what, range)) {
    values.all = all;
  } else {
    return std::nullopt;
  }
  return values;
}

}  // namespace deft::io
