#include "deft/io/scene/disturbance_file.hpp"

#include <fmt/core.h>

#include <array>
#include <string_view>
#include <vector>

#include "deft/io/text/yaml_reader.hpp"

namespace deft::io {
namespace {

using scene::DisturbanceSpec;

struct Field {
  std::string_view name, doc;
  double DisturbanceSpec::* value;
  bool is_share = false;
};
constexpr std::string_view kLag = "lag_periods", kDelay = "delay_s";
constexpr std::array kFields{
    Field{"offset_m", "objects start so far off [m]", &DisturbanceSpec::offset_m},
    Field{"offset_rad", "bodies start turned so far, about gravity where it acts [rad]", &DisturbanceSpec::offset_rad},
    Field{"friction", "all coefficients, within this share", &DisturbanceSpec::friction, true},
    Field{"mass", "masses of objects, within this share", &DisturbanceSpec::mass, true},
    Field{"size", "shapes of objects, within this share", &DisturbanceSpec::size, true},
    Field{"stiffness", "stiffness of the robots' joints, within this share", &DisturbanceSpec::stiffness, true},
    Field{"backlash_rad", "play between commands and springs of hinges [rad]", &DisturbanceSpec::backlash_rad},
    Field{"backlash_m", "the same of slides [m]", &DisturbanceSpec::backlash_m},
    Field{"noise_m", "standard deviation of measured positions, per axis [m]", &DisturbanceSpec::noise_m},
    Field{"noise_rad", "standard deviation of measured rotations, per axis [rad]", &DisturbanceSpec::noise_rad},
    Field{kDelay, "poses are measured so late [s]", &DisturbanceSpec::delay_s},
    Field{"dropout", "share of periods without a pose", &DisturbanceSpec::dropout, true}};
constexpr int kLongestLag = 1000;
constexpr double kLongestDelay_s = 10;

}  // namespace

scene::DisturbanceSpec read_disturbance(const std::string& path) {
  Diagnostics diagnostics;
  const std::optional<YamlNode> root = read_yaml_file(path, diagnostics);
  DisturbanceSpec spec;
  if (root) {
    const YamlReader read(diagnostics);
    std::vector<std::string_view> names{kLag};
    for (const Field& field : kFields) names.push_back(field.name);
    if (!root->is_null() && read.map(*root, "disturbances", names)) {
      for (const Field& field : kFields) {
        const YamlNode* node = root->find(field.name);
        if (node == nullptr) continue;
        const auto number = read.number(*node, field.name, kNotNegative);
        if (!number) continue;
        if (field.is_share && *number >= 1)
          read.error(*node, fmt::format("{}: must be from 0 to below 1, got {}", field.name, *number));
        else if (field.name == kDelay && *number > kLongestDelay_s)
          read.error(*node, fmt::format("{}: must be from 0 to {} s, got {}", field.name, kLongestDelay_s, *number));
        spec.*field.value = *number;
      }
      if (const YamlNode* node = root->find(kLag)) {
        spec.lag_periods = read.integer(*node, kLag, 0).value_or(0);
        if (spec.lag_periods > kLongestLag)
          read.error(*node, fmt::format("{}: must be from 0 to {}, got {}", kLag, kLongestLag, spec.lag_periods));
      }
    }
  }
  diagnostics.throw_if_errors();
  return spec;
}

std::string disturbance_help() {
  const auto entry = [](std::string_view name, std::string_view doc, const std::string& range) {
    return fmt::format("{:<27} {}\n  default 0; range: {}\n", fmt::format("--disturb: {}", name), doc, range);
  };
  std::string text =
      entry(kLag, "commands act so many control periods late", fmt::format("a whole number from 0 to {}", kLongestLag));
  for (const Field& field : kFields)
    text += entry(field.name, field.doc,
                  field.is_share         ? "from 0 to below 1"
                  : field.name == kDelay ? fmt::format("from 0 to {} s", kLongestDelay_s)
                                         : ">= 0");
  return text;
}

}  // namespace deft::io
