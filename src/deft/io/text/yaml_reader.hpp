#pragma once
// Typed reading of YAML values. Every function reports what is wrong at the value's own place and returns nothing then.

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/io/text/yaml_node.hpp"

namespace deft::io {

/// Which numbers a field takes.
struct NumberRange {
  double lower = -std::numeric_limits<double>::infinity();  // least value
  bool lower_allowed = true;                                // ≥ lower, otherwise > lower
  bool infinity_allowed = false;                            // `inf` is a value
  std::string_view text = "a finite number";                // the range in words, for messages
  double upper = std::numeric_limits<double>::infinity();   // greatest value, included
};
inline constexpr NumberRange kFinite{};                                             // every finite number
inline constexpr NumberRange kPositive{0, false, false, "> 0"};                     // (0, ∞)
inline constexpr NumberRange kNotNegative{0, true, false, ">= 0"};                  // [0, ∞)
inline constexpr NumberRange kPositiveOrInfinite{0, false, true, "> 0 or inf"};     // (0, ∞]
inline constexpr NumberRange kNotNegativeOrInfinite{0, true, true, ">= 0 or inf"};  // [0, ∞]

/// Reads values of the wanted type, or reports at the value's place what it is instead and what is valid.
class YamlReader {
 public:
  /// @param diagnostics  takes what is wrong; must outlive this object.
  explicit YamlReader(Diagnostics& diagnostics) : diagnostics_(&diagnostics) {}

  /// Reports at the place of the value.
  void error(const YamlNode& node, std::string message) const { diagnostics_->error(node.where, std::move(message)); }
  /// Reports at a place, of a key for example.
  void warning(const SourceLocation& where, std::string message) const {
    diagnostics_->warning(where, std::move(message));
  }

  /// True for a map; unknown keys are errors at the key, with did-you-mean. @param what  "step", "add_weld", for the
  /// message.
  bool map(const YamlNode& node, std::string_view what, std::span<const std::string_view> keys) const;
  /// The same.
  bool map(const YamlNode& node, std::string_view what, std::initializer_list<std::string_view> keys) const {
    return map(node, what, std::span<const std::string_view>(keys.begin(), keys.size()));
  }
  /// A key `quat` or `quaternion` is an error, because it does not say where w stands. @returns true if it was one.
  bool refuse_quat(const YamlEntry& entry, std::string_view what) const;
  /// True for a map with any keys.
  bool any_map(const YamlNode& node, std::string_view what) const;
  /// True for a list (null counts as an empty one: `objects:` with nothing behind it).
  bool list(const YamlNode& node, std::string_view what) const;

  /// YAML numbers and inf; NaN is an error.
  std::optional<double> number(const YamlNode& node, std::string_view what, const NumberRange& range = kFinite) const;
  /// A whole number from `lowest` to 1e6; 3.0 counts as 3.
  std::optional<int> integer(const YamlNode& node, std::string_view what, int lowest) const;
  /// true, yes, on or false, no, off, in any case.
  std::optional<bool> boolean(const YamlNode& node, std::string_view what) const;
  /// A scalar that is not empty.
  std::optional<std::string> text(const YamlNode& node, std::string_view what) const;
  /// Index of one of `words`.
  std::optional<int> word(const YamlNode& node, std::string_view what, std::span<const std::string_view> words) const;
  /// A list of `count` numbers, each in the range; any count if negative.
  std::optional<std::vector<double>> numbers(const YamlNode& node, std::string_view what, int count,
                                             const NumberRange& range = kFinite) const;
  /// A list of three numbers.
  std::optional<Eigen::Vector3d> vector3(const YamlNode& node, std::string_view what,
                                         const NumberRange& range = kFinite) const;

  /// `!Rpy {deg: [r, p, y]}` (or rad), `!AngleAxis {angle_deg, axis}` (or angle_rad), `!Identity {}`, {quat_wxyz: [w,
  /// x, y, z]}.
  std::optional<Eigen::Matrix3d> rotation(const YamlNode& node) const;
  /// [w, x, y, z] as a rotation matrix; the norm must be 1 to 1e-3 and is then made so.
  std::optional<Eigen::Matrix3d> quaternion(const YamlNode& node) const;
  /// {translation | position, rotation | quat_wxyz}, each optional. @param base_frame  where `base_frame:` may be
  /// given: filled.
  std::optional<Eigen::Isometry3d> pose(const YamlNode& node, std::string_view what,
                                        const YamlNode** base_frame = nullptr) const;

 private:
  Diagnostics* diagnostics_;
};

/// How a value looks, for messages: "'abc'", "a list", "nothing".
std::string describe(const YamlNode& node);

/// The number a scalar spells (inf, -.INF, .nan, 1e3, …), or nothing.
std::optional<double> parse_number(std::string_view text);

}  // namespace deft::io
