#pragma once
// A YAML document as a tree of values that remember where they were written. Trees of several files merge into one, and
// every value keeps its file, line and column. libyaml is included by yaml_node_parse.cpp only.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deft/core/diagnostics.hpp"

namespace deft::io {

struct YamlEntry;

/// One value: null, scalar text, list or map, with the place where it was written.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };  // what it is
  Kind kind = Kind::kNull;                          // decides which of the members below are used
  std::string text;                                 // kScalar
  bool quoted = false;                              // a scalar in quotes is a string whatever it looks like
  std::string tag;                                  // local tag: "!Rpy"; empty otherwise
  std::vector<YamlNode> items;                      // kList
  std::vector<YamlEntry> entries;                   // kMap, file order, keys unique
  SourceLocation where;                             // file, line and column; line 0 where it comes from no file

  bool is_null() const { return kind == Kind::kNull; }      // nothing, `~` or `null`
  bool is_scalar() const { return kind == Kind::kScalar; }  // text that is not null
  bool is_list() const { return kind == Kind::kList; }      // of `items`
  bool is_map() const { return kind == Kind::kMap; }        // of `entries`
  /// The value of a key, or nullptr if this is no map, has no such key, or says null there (null means absent).
  const YamlNode* find(std::string_view key) const;
  /// The entry of a key, null values too; nullptr if there is none.
  const YamlEntry* find_entry(std::string_view key) const;
  YamlEntry* find_entry(std::string_view key);  // the same, to be changed
  /// Whether a map has the key, null values too.
  bool has(std::string_view key) const { return find_entry(key) != nullptr; }
  /// Sets or appends an entry of a map.
  void set(std::string_view key, YamlNode value);
  /// Removes an entry and returns its value.
  std::optional<YamlNode> take(std::string_view key);
};

/// One `key: value` of a map.
struct YamlEntry {
  std::string key;       // unique in its map
  SourceLocation where;  // of the key
  YamlNode value;        // with a place of its own
};

/// A scalar without a place, for values that the program itself writes.
YamlNode make_scalar(std::string text, bool quoted = false);
/// Shortest text that reads back as the same number; infinities as .inf.
YamlNode make_number(double value);
YamlNode make_list(std::vector<YamlNode> items);  // a list without a place
YamlNode make_map();                              // an empty map without a place

/// Parses one document. Syntax errors, several documents, duplicate keys, nesting deeper than 100 and alias bombs are
/// errors with line and column, and so is text that is not UTF-8. An empty text is null. @returns nothing after an
/// error.
std::optional<YamlNode> parse_yaml(const std::string& text, const std::string& file, Diagnostics& diagnostics);
/// Reads and parses a file. @returns nothing after an error (missing, unreadable, not UTF-8 text).
std::optional<YamlNode> read_yaml_file(const std::string& path, Diagnostics& diagnostics);

/// Merges `over` into `base`: maps key by key (when their tags agree), everything else is replaced; null in `over`
/// hides a value, since it counts as absent.
void merge_yaml(YamlNode& base, const YamlNode& over);

/// Sets `key.path` (list items by index; keys with dots in "…" or '…', as in TOML) to `value`; missing maps on the way
/// are made.
/// @returns what is wrong with the path, or an empty string.
std::string set_yaml_path(YamlNode& root, std::string_view path, YamlNode value);

/// YAML text that parses to an equal tree.
std::string emit_yaml(const YamlNode& root);

/// Equal content, whatever the places.
bool equal_yaml(const YamlNode& a, const YamlNode& b);

/// One line per value that differs, "plan.nodes: 100 there, 200 here".
std::vector<std::string> yaml_differences(const YamlNode& there, const YamlNode& here);

}  // namespace deft::io
