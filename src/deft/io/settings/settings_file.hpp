#pragma once
// The settings of `step:`, `plan:`, `optimize:` and `track:`, each listed once: read from YAML, written back, and
// printed with unit, range and default.

#include <string>
#include <string_view>

#include "deft/io/text/yaml_reader.hpp"
#include "deft/scene/description/scene_spec.hpp"

namespace deft::io {

/// Reads a `step:` map over the values that `settings` holds. Unknown keys and bad values are errors at their place.
void read_settings(const YamlNode& node, const YamlReader& read, scene::StepSettings& settings);

/// Every setting with its value, as a `step:` map.
YamlNode write_settings(const scene::StepSettings& settings);

/// One line per setting for `deft info --settings`: name, default, unit, range, meaning.
std::string settings_help();

/// `plane: xy | xz | yz | space`.
std::optional<scene::Plane> read_plane(const YamlNode& node, const YamlReader& read);

/// A number for all, a list in order, or a map by name, with the names allowed. An empty `names` means that they are
/// not known yet.
std::optional<scene::JointValues> read_joint_values(const YamlNode& node, std::string_view what, const YamlReader& read,
                                                    const NumberRange& range, std::span<const std::string> names);

/// `plan:`, merged over what `settings` holds.
void read_plan_settings(const YamlNode& node, const YamlReader& read, scene::PlanSettings& settings);
/// Every key of `plan:` with its unit, default and range.
std::string plan_settings_help();
/// `optimize:`, merged over what `settings` holds.
void read_optimize_settings(const YamlNode& node, const YamlReader& read, scene::OptimizeSettings& settings);
/// Every key of `optimize:` with its unit, default and range.
std::string optimize_settings_help();
/// `track:`, merged over what `settings` holds.
void read_track_settings(const YamlNode& node, const YamlReader& read, scene::TrackSettings& settings);
/// Every key of `track:` with its unit, default and range.
std::string track_settings_help();
/// Every key of `control:` with its unit, default and range.
std::string control_settings_help();

}  // namespace deft::io
