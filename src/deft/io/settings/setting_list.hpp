#pragma once
// What sections of a scene file with one flat list of settings share (`step:`, `plan:`, `optimize:`, `track:`): reading
// and the page of `deft info --settings`, both from a function visit_all(settings, visit) that calls visit(SettingInfo,
// field) for each setting. Internal to io.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "deft/io/text/yaml_reader.hpp"

/// One list per section of settings: its entries, and what is made of them.
namespace deft::io::setting_list {

// Ranges beyond those of yaml_reader.hpp.
inline constexpr NumberRange kShare{0, true, false, "from 0 to 1", 1};                  // [0, 1]
inline constexpr NumberRange kPositiveShare{0, false, false, "above 0, at most 1", 1};  // (0, 1]
inline constexpr NumberRange kCount{1, true, false, "an integer >= 1"};                 // 1, 2, …
inline constexpr NumberRange kCountOrNone{0, true, false, "an integer >= 0"};           // 0, 1, …

/// What is known of a setting besides its value.
struct SettingInfo {
  std::string_view name, unit, doc;  // the key; "s", "1" or empty; one sentence without its end
  NumberRange range = kPositive;     // of numbers
  std::string_view former{};         // name of the version before, still read, with a warning
};

/// A word of the version before, still read, with a warning: {former, present}; empty: none.
template <typename Enum>
inline constexpr std::pair<std::string_view, std::string_view> kFormerWord{};

/// How many words an enumeration has; they count from 0 and have a to_string in their own namespace.
template <typename Enum>
inline constexpr int kWords = 2;

/// Settings with words for values.
template <typename Enum>
concept Word = std::is_enum_v<Enum>;
/// The words of an enumeration, in order.
template <Word Enum>
std::vector<std::string_view> words_of() {
  std::vector<std::string_view> words;
  for (int k = 0; k < kWords<Enum>; ++k) words.push_back(to_string(static_cast<Enum>(k)));
  return words;
}

/// Reads one value into its field; errors name "SECTION.name", the value, and what is valid. A key that is missing, or
/// null, leaves the field as it is.
struct ReadSetting {
  std::string_view section;  // "plan"
  const YamlNode& node;      // its map
  const YamlReader& read;    // reports errors

  ReadSetting(std::string_view of_section, const YamlNode& map, const YamlReader& reader)  // both must outlive this
      : section(of_section), node(map), read(reader) {}

  /// A number in the range.
  void operator()(const SettingInfo& info, double& field) const {
    const YamlNode* value = node.find(info.name);
    if (value != nullptr) field = read.number(*value, label(info), info.range).value_or(field);
  }
  /// The same; null means none.
  void operator()(const SettingInfo& info, std::optional<double>& field) const {
    const YamlEntry* entry = node.find_entry(info.name);
    if (entry == nullptr) return;
    field = entry->value.is_null() ? std::nullopt : read.number(entry->value, label(info), info.range);
  }
  /// A whole number from the range's lower end.
  void operator()(const SettingInfo& info, int& field) const {
    if (const YamlNode* value = node.find(info.name))
      field = read.integer(*value, label(info), static_cast<int>(info.range.lower)).value_or(field);
  }
  /// true or false.
  void operator()(const SettingInfo& info, bool& field) const {
    if (const YamlNode* value = node.find(info.name)) field = read.boolean(*value, label(info)).value_or(field);
  }
  /// A list of numbers, each in the range.
  void operator()(const SettingInfo& info, std::vector<double>& field) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    if (auto numbers = read.numbers(*value, label(info), -1, info.range)) field = std::move(*numbers);
  }
  /// A list of whole numbers, each in the range.
  void operator()(const SettingInfo& info, std::vector<int>& field) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    const auto numbers = read.numbers(*value, label(info), -1, info.range);
    if (!numbers) return;
    field.clear();
    for (const double number : *numbers) {
      if (number != std::floor(number))
        read.error(*value, fmt::format("{}: must be {}, got {}", label(info), info.range.text, number));
      field.push_back(static_cast<int>(number));
    }
  }
  /// A list of words.
  void operator()(const SettingInfo& info, std::vector<std::string>& field) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    std::vector<std::string> words;
    bool good = value->is_list();
    for (const YamlNode& item : value->items) {
      good = good && item.is_scalar();
      words.push_back(item.text);
    }
    if (!good) return read.error(*value, fmt::format("{}: must be {}", label(info), info.range.text));
    field = std::move(words);
  }
  /// One of the words; the former one with a warning.
  template <Word Enum>
  void operator()(const SettingInfo& info, Enum& field) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    YamlNode word = *value;
    if (constexpr auto former = kFormerWord<Enum>;
        !former.first.empty() && word.is_scalar() && word.text == former.first) {
      word.text = former.second;
      read.warning(word.where, fmt::format("{}: the word '{}' is now '{}'", label(info), former.first, former.second));
    }
    if (const auto index = read.word(word, label(info), words_of<Enum>())) field = static_cast<Enum>(*index);
  }
  /// "SECTION.name".
  std::string label(const SettingInfo& info) const { return fmt::format("{}.{}", section, info.name); }
};

/// A field's value as it is printed.
template <typename Number>
std::string text_of(const std::vector<Number>& field) {
  return fmt::format("[{}]", fmt::join(field, ", "));
}
/// The same of a number that may be missing.
inline std::string text_of(const std::optional<double>& field) { return field ? fmt::format("{}", *field) : "null"; }
/// The same of a word, a number or a flag.
template <typename T>
std::string text_of(const T& field) {
  if constexpr (Word<T>)
    return std::string(to_string(field));
  else
    return fmt::format("{}", field);
}

/// What is valid, in words.
template <typename T>
std::string range_of(const SettingInfo& info, const T&) {
  if constexpr (Word<T>)
    return fmt::format("{}", fmt::join(words_of<T>(), ", "));
  else if constexpr (std::is_same_v<T, std::optional<double>>)
    return fmt::format("{} or null", info.range.text);
  else
    return std::is_same_v<T, bool> ? "true, false" : std::string(info.range.text);
}

/// Renames a key of the version before, with a warning. Both names in one map are an error.
inline void take_former_name(std::string_view section, const SettingInfo& info, YamlNode& node,
                             const YamlReader& read) {
  YamlEntry* entry = info.former.empty() ? nullptr : node.find_entry(info.former);
  if (entry == nullptr) return;
  const std::string text = fmt::format("{0}.{1} is now {0}.{2}", section, info.former, info.name);
  if (node.has(info.name)) return read.error(entry->value, text + ", and both are given");
  read.warning(entry->where, text);
  entry->key = info.name;
}

/// Reads the map `node` over what `settings` holds; unknown keys are errors with the nearest known one.
template <typename Reader = ReadSetting, typename Settings, typename VisitAll>
void read_all(std::string_view section, YamlNode node, const YamlReader& read, Settings& settings,
              VisitAll&& visit_all) {
  std::vector<std::string_view> names;
  visit_all(settings, [&](const SettingInfo& info, const auto&) {
    names.push_back(info.name);
    if (node.is_map()) take_former_name(section, info, node, read);
  });
  if (read.map(node, section, names)) visit_all(settings, Reader(section, node, read));
}

/// One key of the page: meaning, unit, default and range.
inline std::string help_line(std::string_view section, const SettingInfo& info, std::string_view initial,
                             std::string_view range) {
  return fmt::format("{:<27} {}{}\n  default {}; range: {}\n", fmt::format("{}.{}", section, info.name), info.doc,
                     info.unit.empty() ? "" : fmt::format(" [{}]", info.unit), initial, range);
}

/// Every key of a section.
template <typename Settings, typename VisitAll>
std::string help_of(std::string_view section, const Settings& defaults, VisitAll&& visit_all) {
  std::string text;
  visit_all(defaults, [&](const SettingInfo& info, const auto& field) {
    text += help_line(section, info, text_of(field), range_of(info, field));
  });
  return text;
}

}  // namespace deft::io::setting_list
