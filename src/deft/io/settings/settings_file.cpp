#include "deft/io/settings/settings_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "deft/io/settings/setting_list.hpp"

namespace deft::io {

template <>
inline constexpr int setting_list::kWords<scene::ModelKind> = 7;
template <>
inline constexpr int setting_list::kWords<scene::Plane> = 4;

namespace {

using scene::StepSettings;
using setting_list::kPositiveShare;
using setting_list::SettingInfo;
using setting_list::Word;

/// A flag whose values have words of their own instead of true and false.
template <typename Flag>
struct WordedFlag {
  Flag& field;
};
template <typename Flag>
WordedFlag<Flag> worded(Flag& field) {
  return {field};
}
constexpr std::array<std::string_view, 2> kUniquenessWords{"off", "check"};

/// `unactuated_mass_scale`: in files 0 says that objects do not move.
template <typename Settings>
struct MassScale {
  Settings& settings;
};
template <typename Settings>
MassScale<Settings> mass_scale(Settings& settings) {
  return {settings};
}

/// `relinearize`: a number, or in files true for kUntilSettled and false for 0.
template <typename Number>
struct Relinearizations {
  Number& field;
};
template <typename Number>
Relinearizations<Number> relinearizations(Number& field) {
  return {field};
}

/// The one list: visit(info, field) for each setting of StepSettings `s`, const or not. One table is clearer than
/// parts.
constexpr auto kVisitStepSettings = [](auto& s, auto&& visit) {
  visit(SettingInfo{"h", "s", "length of a step; stepping without one is an error", kPositive}, s.h);
  visit(SettingInfo{"model", "", "what a step solves"}, s.model);
  visit(SettingInfo{"dynamics", "",
                    "quasidynamic: momentum of the objects within a step; quasistatic: none (model convex)"},
        s.dynamics);
  visit(SettingInfo{"cone", "", "friction: a pyramid of rays, or the cone itself"}, s.cone);
  visit(SettingInfo{"rays",
                    "1",
                    "edges of the friction pyramid: 2 in the plane, 4, 6, 8, … in space",
                    {2, true, false, "an even number >= 2"}},
        s.rays);
  visit(SettingInfo{"friction_law", "",
                    "associated: sliding bodies separate by mu times the slip (convex); coulomb: they do not (no "
                    "compliance)"},
        s.friction_law);
  visit(SettingInfo{"kappa", "1/J", "weight of the smoothing log barrier; inf (or null) = exact contact",
                    kPositiveOrInfinite},
        s.kappa);
  visit(SettingInfo{"contact_margin", "m", "pairs with a gap below it are contact candidates; inf = every pair",
                    kNotNegativeOrInfinite},
        s.contact_margin);
  visit(SettingInfo{"unactuated_mass_scale", "1",
                    "scales the objects' mass in the step; null = true mass, 0 = objects do not move (model convex)",
                    kNotNegative},
        mass_scale(s));
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
  visit(SettingInfo{"recovery_speed", "m/s",
                    "models of second order: what penetrates where a step starts is not parted faster than that",
                    kPositiveOrInfinite},
        s.recovery_speed);
  visit(SettingInfo{"uniqueness", "",
                    "check: search for an alternative motion in every step (models of exact Coulomb friction; convex "
                    "ones always know)"},
        worded(s.uniqueness_check));
  visit(
      SettingInfo{"forces", "", "which of several possible forces are reported: those of least norm, or any (faster)"},
      s.forces);
  visit(SettingInfo{"midpoint_forces", "",
                    "force and reaction act at the midpoint of the gap instead of at each body's surface"},
        s.midpoint_forces);
  visit(SettingInfo{"friction_arm", "1",
                    "friction of a face acts at this share of its points' distance from their middle: 1 = pressure in "
                    "the corners, 0.54 = evenly on a square; without effect in a plane; equivalent-contact-point and "
                    "derivatives need 1",
                    kPositiveShare},
        s.friction_arm);
  visit(SettingInfo{"gain", "1",
                    "limit surface: c, how far robots comply with forces, v = u + c B F; 0 = perfect velocity control",
                    kNotNegative},
        s.gain);
  visit(
      SettingInfo{
          "form", "",
          "limit surface: gaps at the end of the step (time-stepping), or velocities of what touches (velocity)"},
      s.form);
  visit(SettingInfo{"relinearize",
                    "",
                    "convex: how often contacts are linearised again about the motion found; limit surface, true: gaps "
                    "where the step ends, until it stays there",
                    {0, true, false, "an integer >= 0, true or false"}},
        relinearizations(s.relinearize));
};

/// As other sections, but null means infinity for kappa, and keeps the default elsewhere; unactuated_mass_scale takes
/// the "nan" of published files for none; whole numbers are even.
struct ReadStepSetting : setting_list::ReadSetting {
  using ReadSetting::ReadSetting;
  using ReadSetting::operator();

  void operator()(const SettingInfo& info, double& field) const {
    const YamlEntry* entry = node.find_entry(info.name);
    if (entry == nullptr) return;
    const bool exact = entry->value.is_null() && info.range.infinity_allowed;
    if (exact) field = kInfinity;
    if (entry->value.is_null()) return;
    if (const auto value = read.number(entry->value, label(info), info.range)) field = *value;
  }
  void operator()(const SettingInfo& info, std::optional<double>& field) const {
    const YamlEntry* entry = node.find_entry(info.name);
    if (entry == nullptr) return;
    field.reset();
    if (!entry->value.is_null()) field = read.number(entry->value, label(info), info.range);
  }
  void operator()(const SettingInfo& info, const MassScale<StepSettings>& field) const {
    const YamlEntry* entry = node.find_entry(info.name);
    if (entry == nullptr) return;
    StepSettings& settings = field.settings;
    settings.unactuated_mass_scale.reset();
    settings.objects_move = true;
    const bool nan = entry->value.is_scalar() && std::isnan(parse_number(entry->value.text).value_or(0));
    if (entry->value.is_null() || nan) return;
    settings.unactuated_mass_scale = read.number(entry->value, label(info), info.range);
    if (settings.unactuated_mass_scale != 0.0) return;
    settings.unactuated_mass_scale.reset();
    settings.objects_move = false;
  }
  void operator()(const SettingInfo& info, int& field) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    const auto number = read.integer(*value, label(info), static_cast<int>(info.range.lower));
    if (number && *number % 2 == 0) field = *number;
    if (number && *number % 2 != 0)
      read.error(*value, fmt::format("{}: must be {}, got {}", label(info), info.range.text, *number));
  }
  void operator()(const SettingInfo& info, scene::JointValues& field) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    if (auto values = read_joint_values(*value, label(info), read, info.range, {})) field = std::move(*values);
  }
  void operator()(const SettingInfo& info, const Relinearizations<int>& number) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    if (value->is_scalar() && parse_number(value->text)) {
      number.field = read.integer(*value, label(info), 0).value_or(number.field);
    } else if (value->is_scalar() && (value->text == "true" || value->text == "false")) {
      number.field = value->text == "true" ? StepSettings::kUntilSettled : 0;
    } else {
      read.error(*value, fmt::format("{}: must be {}, got '{}'", label(info), info.range.text, value->text));
    }
  }
  void operator()(const SettingInfo& info, const WordedFlag<bool>& flag) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    if (const auto index = read.word(*value, label(info), kUniquenessWords)) flag.field = *index != 0;
  }
};

YamlNode value_of(double field) { return make_number(field); }
YamlNode value_of(const std::optional<double>& field) { return field ? make_number(*field) : YamlNode{}; }
YamlNode value_of(const MassScale<const StepSettings>& field) {
  return field.settings.objects_move ? value_of(field.settings.unactuated_mass_scale) : make_number(0);
}
YamlNode value_of(int field) { return make_scalar(std::to_string(field)); }
YamlNode value_of(bool field) { return make_scalar(field ? "true" : "false"); }
template <Word Enum>
YamlNode value_of(Enum field) {
  return make_scalar(std::string(to_string(field)));
}
template <typename Flag>
YamlNode value_of(const WordedFlag<Flag>& flag) {
  return make_scalar(std::string(kUniquenessWords[flag.field ? 1 : 0]));
}
template <typename Number>
YamlNode value_of(const Relinearizations<Number>& number) {
  return number.field == StepSettings::kUntilSettled ? value_of(true) : value_of(int{number.field});
}
YamlNode value_of(const scene::JointValues& field) {
  if (field.all) return make_number(*field.all);
  if (field.list.empty() && field.by_name.empty()) return {};
  YamlNode node = field.list.empty() ? make_map() : make_list({});
  for (const double value : field.list) node.items.push_back(make_number(value));
  for (const auto& [name, value] : field.by_name) node.set(name, make_number(value));
  return node;
}

/// What is valid, in words.
template <typename T>
std::string valid_of(const SettingInfo& info, const T& field) {
  return setting_list::range_of(info, field);
}
std::string valid_of(const SettingInfo& info, const std::optional<double>&) { return std::string(info.range.text); }
template <typename Settings>
std::string valid_of(const SettingInfo& info, const MassScale<Settings>&) {
  return std::string(info.range.text);
}
template <typename Number>
std::string valid_of(const SettingInfo& info, const Relinearizations<Number>&) {
  return std::string(info.range.text);
}
template <typename Flag>
std::string valid_of(const SettingInfo&, const WordedFlag<Flag>&) {
  return fmt::format("{}", fmt::join(kUniquenessWords, ", "));
}

}  // namespace

void read_settings(const YamlNode& node, const YamlReader& read, StepSettings& settings) {
  setting_list::read_all<ReadStepSetting>("step", node, read, settings, kVisitStepSettings);
}

YamlNode write_settings(const StepSettings& settings) {
  YamlNode node = make_map();
  kVisitStepSettings(settings,
                     [&](const SettingInfo& info, const auto& field) { node.set(info.name, value_of(field)); });
  return node;
}

std::string settings_help() {
  std::string text;
  const StepSettings defaults;
  kVisitStepSettings(defaults, [&](const SettingInfo& info, const auto& field) {
    const YamlNode value = value_of(field);
    text += setting_list::help_line("step", info, value.is_null() ? "none" : value.text, valid_of(info, field));
  });
  return text;
}

std::optional<scene::Plane> read_plane(const YamlNode& node, const YamlReader& read) {
  const auto index = read.word(node, "plane", setting_list::words_of<scene::Plane>());
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
