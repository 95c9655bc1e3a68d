#include "deft/io/text/yaml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "deft/core/infinity.hpp"
#include "deft/scene/description/scene_spec.hpp"

namespace deft::io {
namespace {

constexpr double kQuaternionNormTolerance = 1e-3;  // hand-written quaternions carry three or four digits
constexpr double kDegree = std::numbers::pi / 180;

std::vector<std::string> as_strings(std::span<const std::string_view> words) { return {words.begin(), words.end()}; }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

bool is_random(const std::string& tag) { return tag.rfind("!Uniform", 0) == 0 || tag.rfind("!Gaussian", 0) == 0; }

}  // namespace

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return fmt::format("'{}'", node.text);
    case YamlNode::Kind::kList:
      return fmt::format("a list of {}", node.items.size());
    case YamlNode::Kind::kMap:
      return node.tag.empty() ? "a map" : node.tag;
  }
  return "";
}

std::optional<double> parse_number(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const std::string word = lower_case(digits);
  if (word == ".inf" || word == "inf" || word == "infinity") return negative ? -kInfinity : kInfinity;
  if (word == ".nan" || word == "nan") return std::numeric_limits<double>::quiet_NaN();
  const bool starts_like_one =
      !digits.empty() && (std::isdigit(static_cast<unsigned char>(digits[0])) != 0 || digits[0] == '.');
  double value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (!starts_like_one || problem != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return negative ? -value : value;
}

bool YamlReader::any_map(const YamlNode& node, std::string_view what) const {
  if (node.is_map()) return true;
  error(node, fmt::format("{}: expected a map (key: value), got {}", what, describe(node)));
  return false;
}

bool YamlReader::map(const YamlNode& node, std::string_view what, std::span<const std::string_view> keys) const {
  if (!any_map(node, what)) return false;
  for (const YamlEntry& entry : node.entries) {
    const bool known = std::find(keys.begin(), keys.end(), entry.key) != keys.end();
    if (known || refuse_quat(entry, what)) continue;
    diagnostics_->error(
        entry.where, fmt::format("{} has no key '{}'{}", what, entry.key, did_you_mean(entry.key, as_strings(keys))));
  }
  return true;
}

bool YamlReader::refuse_quat(const YamlEntry& entry, std::string_view what) const {
  if (entry.key != "quat" && entry.key != "quaternion") return false;
  diagnostics_->error(entry.where,
                      fmt::format("{}: '{}' does not say its order; write quat_wxyz: [w, x, y, z]", what, entry.key));
  return true;
}

bool YamlReader::list(const YamlNode& node, std::string_view what) const {
  if (node.is_list() || node.is_null()) return true;
  error(node, fmt::format("{}: expected a list, got {}", what, describe(node)));
  return false;
}

std::optional<double> YamlReader::number(const YamlNode& node, std::string_view what, const NumberRange& range) const {
  if (is_random(node.tag)) {
    error(node, fmt::format("{}: {} stands for a random value; deft takes fixed ones", what, node.tag));
    return std::nullopt;
  }
  if (node.tag == "!Deterministic" && node.find("value") != nullptr) return number(*node.find("value"), what, range);
  const std::optional<double> value = node.is_scalar() ? parse_number(node.text) : std::nullopt;
  if (!value) {
    error(node, fmt::format("{}: expected a number, got {}", what, describe(node)));
    return std::nullopt;
  }
  const bool in_range = !std::isnan(*value) && (std::isfinite(*value) || range.infinity_allowed) &&
                        (range.lower_allowed ? *value >= range.lower : *value > range.lower) && *value <= range.upper;
  if (in_range) return value;
  error(node, std::isnan(*value) ? fmt::format("{}: is not a number (NaN)", what)
                                 : fmt::format("{}: must be {}, got {}", what, range.text, node.text));
  return std::nullopt;
}

std::optional<int> YamlReader::integer(const YamlNode& node, std::string_view what, int lowest) const {
  const std::optional<double> value = number(node, what);
  if (!value) return std::nullopt;
  if (*value == std::floor(*value) && *value >= lowest && *value <= 1e6) return static_cast<int>(*value);
  error(node, fmt::format("{}: expected a whole number >= {}, got {}", what, lowest, node.text));
  return std::nullopt;
}

std::optional<bool> YamlReader::boolean(const YamlNode& node, std::string_view what) const {
  const std::string word = node.is_scalar() ? lower_case(node.text) : "";
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  error(node, fmt::format("{}: expected true or false, got {}", what, describe(node)));
  return std::nullopt;
}

std::optional<std::string> YamlReader::text(const YamlNode& node, std::string_view what) const {
  if (node.is_scalar() && !node.text.empty()) return node.text;
  error(node, fmt::format("{}: expected a text, got {}", what, describe(node)));
  return std::nullopt;
}

std::optional<int> YamlReader::word(const YamlNode& node, std::string_view what,
                                    std::span<const std::string_view> words) const {
  const auto found = node.is_scalar() ? std::find(words.begin(), words.end(), node.text) : words.end();
  if (found != words.end()) return static_cast<int>(found - words.begin());
  const std::vector<std::string> choices = as_strings(words);
  const std::string hint = did_you_mean(node.text, choices);
  const bool listed = hint.empty() || hint.find("; valid: ") != std::string::npos;
  error(node, fmt::format("{}: {} is none of the choices{}{}", what, describe(node), hint,
                          listed ? "" : fmt::format(" (valid: {})", fmt::join(choices, ", "))));
  return std::nullopt;
}

std::optional<std::vector<double>> YamlReader::numbers(const YamlNode& node, std::string_view what, int count,
                                                       const NumberRange& range) const {
  if (node.tag == "!DeterministicVector" && node.find("value") != nullptr)
    return numbers(*node.find("value"), what, count, range);
  if (is_random(node.tag)) {
    error(node, fmt::format("{}: {} stands for a random value; deft takes fixed ones", what, node.tag));
    return std::nullopt;
  }
  if (!node.is_list()) {
    error(node, fmt::format("{}: expected a list of {}numbers, got {}", what,
                            count >= 0 ? fmt::format("{} ", count) : "", describe(node)));
    return std::nullopt;
  }
  if (count >= 0 && static_cast<int>(node.items.size()) != count) {
    error(node, fmt::format("{}: expected {} numbers, got {}", what, count, node.items.size()));
    return std::nullopt;
  }
  std::vector<double> values;
  for (const YamlNode& item : node.items) {
    if (const auto value = number(item, what, range)) values.push_back(*value);
  }
  if (values.size() != node.items.size()) return std::nullopt;
  return values;
}

std::optional<Eigen::Vector3d> YamlReader::vector3(const YamlNode& node, std::string_view what,
                                                   const NumberRange& range) const {
  const auto values = numbers(node, what, 3, range);
  if (!values) return std::nullopt;
  return Eigen::Vector3d(values->data());
}

std::optional<Eigen::Matrix3d> YamlReader::quaternion(const YamlNode& node) const {
  const auto wxyz = numbers(node, "quat_wxyz", 4);
  if (!wxyz) return std::nullopt;
  const Eigen::Quaterniond quaternion((*wxyz)[0], (*wxyz)[1], (*wxyz)[2], (*wxyz)[3]);
  if (std::abs(quaternion.norm() - 1) <= kQuaternionNormTolerance) return quaternion.normalized().toRotationMatrix();
  error(node, fmt::format("quat_wxyz: the norm must be 1 to within {}, it is {:.6g}", kQuaternionNormTolerance,
                          quaternion.norm()));
  return std::nullopt;
}

std::optional<Eigen::Matrix3d> YamlReader::rotation(const YamlNode& node) const {
  constexpr std::string_view kHint =
      "write !Rpy {deg: [roll, pitch, yaw]}, !AngleAxis {angle_deg: a, axis: [x, y, z]} or {quat_wxyz: [w, x, y, z]}";
  if (is_random(node.tag)) {
    error(node, fmt::format("rotation: {} stands for a random rotation; deft takes fixed ones: {}", node.tag, kHint));
    return std::nullopt;
  }
  if (node.tag == "!Identity" && (node.is_map() || node.is_null())) return Eigen::Matrix3d::Identity().eval();
  if (node.tag == "!Rpy" && node.is_map() && map(node, "!Rpy", {"deg", "rad"}) && node.entries.size() == 1) {
    const bool degrees = node.entries[0].key == "deg";
    const auto rpy = vector3(node.entries[0].value, degrees ? "!Rpy deg" : "!Rpy rad");
    if (!rpy) return std::nullopt;
    return rotation_from_rpy(*rpy * (degrees ? kDegree : 1));
  }
  if (node.tag == "!AngleAxis" && node.is_map() && map(node, "!AngleAxis", {"angle_deg", "angle_rad", "axis"}) &&
      node.find("axis") != nullptr) {
    const YamlNode* degrees = node.find("angle_deg");
    const YamlNode* radians = node.find("angle_rad");
    if ((degrees == nullptr) == (radians == nullptr)) {
      error(node, "!AngleAxis needs angle_deg or angle_rad");
      return std::nullopt;
    }
    const auto angle = number(degrees != nullptr ? *degrees : *radians, "angle");
    const auto axis = vector3(*node.find("axis"), "axis");
    if (!angle || !axis) return std::nullopt;
    if (axis->norm() > 0)
      return Eigen::AngleAxisd(*angle * (degrees != nullptr ? kDegree : 1), axis->normalized()).toRotationMatrix();
    error(*node.find("axis"), "axis: must not be zero");
    return std::nullopt;
  }
  if (node.tag.empty() && node.is_map() && node.entries.size() == 1 && node.entries[0].key == "quat_wxyz")
    return quaternion(node.entries[0].value);
  error(node, fmt::format("rotation: cannot read {}; {}", describe(node), kHint));
  return std::nullopt;
}

std::optional<Eigen::Isometry3d> YamlReader::pose(const YamlNode& node, std::string_view what,
                                                  const YamlNode** base_frame) const {
  static constexpr std::string_view kKeys[] = {"translation", "position", "rotation", "quat_wxyz", "base_frame"};
  if (!map(node, what, std::span(kKeys).first(base_frame != nullptr ? 5 : 4))) return std::nullopt;
  if (base_frame != nullptr) *base_frame = node.find("base_frame");
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
  bool good = true;
  const auto twice = [&](std::string_view a, std::string_view b) {
    if (node.find(a) == nullptr || node.find(b) == nullptr) return;
    error(*node.find(b), fmt::format("{}: give either {} or {}, not both", what, a, b));
    good = false;
  };
  twice("translation", "position");
  twice("rotation", "quat_wxyz");
  for (const std::string_view key : {"translation", "position"}) {
    const YamlNode* value = node.find(key);
    if (value == nullptr) continue;
    const auto p = vector3(*value, key);
    good = good && p;
    if (p) X.translation() = *p;
  }
  const YamlNode* turned = node.find("rotation");
  const YamlNode* quat = node.find("quat_wxyz");
  if (turned != nullptr || quat != nullptr) {
    const auto R = turned != nullptr ? rotation(*turned) : quaternion(*quat);
    good = good && R;
    if (R) X.linear() = *R;
  }
  if (!good) return std::nullopt;
  return X;
}

}  // namespace deft::io
