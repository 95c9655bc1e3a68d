#include "deft/io/text/yaml_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace deft::io {

const YamlEntry* YamlNode::find_entry(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

YamlEntry* YamlNode::find_entry(std::string_view key) {
  return const_cast<YamlEntry*>(std::as_const(*this).find_entry(key));
}

const YamlNode* YamlNode::find(std::string_view key) const {
  const YamlEntry* entry = find_entry(key);
  return entry != nullptr && !entry->value.is_null() ? &entry->value : nullptr;
}

void YamlNode::set(std::string_view key, YamlNode value) {
  if (YamlEntry* entry = find_entry(key)) {
    entry->value = std::move(value);
  } else {
    SourceLocation at = value.where;
    entries.push_back({std::string(key), std::move(at), std::move(value)});
  }
}

std::optional<YamlNode> YamlNode::take(std::string_view key) {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    if (entry->key != key) continue;
    YamlNode value = std::move(entry->value);
    entries.erase(entry);
    return value;
  }
  return std::nullopt;
}

YamlNode make_scalar(std::string text, bool quoted) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

YamlNode make_number(double value) {
  if (std::isinf(value)) return make_scalar(value > 0 ? ".inf" : "-.inf");
  return make_scalar(fmt::format("{}", value));
}

YamlNode make_list(std::vector<YamlNode> items) {
  YamlNode node;
  node.kind = YamlNode::Kind::kList;
  node.items = std::move(items);
  return node;
}

YamlNode make_map() {
  YamlNode node;
  node.kind = YamlNode::Kind::kMap;
  return node;
}

void merge_yaml(YamlNode& base, const YamlNode& over) {
  if (!base.is_map() || !over.is_map() || base.tag != over.tag) {
    base = over;
    return;
  }
  for (const YamlEntry& entry : over.entries) {
    if (YamlEntry* known = base.find_entry(entry.key)) {
      merge_yaml(known->value, entry.value);
      known->where = entry.where;
    } else {
      base.entries.push_back(entry);
    }
  }
}

namespace {

/// Takes the first part of a key path off `path`, with the dot behind it. @returns what is wrong, or "".
std::string take_key(std::string_view& path, std::string& key) {
  key.clear();
  std::size_t at = 0;
  if (!path.empty() && (path[0] == '"' || path[0] == '\'')) {
    const char quote = path[0];
    for (at = 1; at < path.size() && path[at] != quote; ++at) {
      if (quote == '"' && path[at] == '\\' && at + 1 < path.size()) ++at;  // \" and \\ stand for themselves
      key += path[at];
    }
    if (at == path.size()) return fmt::format("the quote {} of the key path is not closed", quote);
    ++at;
    if (at < path.size() && path[at] != '.') return "a quoted part of a key path ends at its quote";
  } else {
    at = std::min(path.find('.'), path.size());
    key = path.substr(0, at);
    if (key.empty()) return "the key path has an empty part";
  }
  if (at + 1 == path.size()) return "the key path has an empty part";
  path.remove_prefix(std::min(at + 1, path.size()));
  return "";
}

}  // namespace

std::string set_yaml_path(YamlNode& root, std::string_view path, YamlNode value) {
  YamlNode* at = &root;
  std::string walked, key;
  do {
    if (const std::string problem = take_key(path, key); !problem.empty()) return problem;
    if (at->is_null()) {
      *at = make_map();
      at->where = value.where;
    }
    if (at->is_list()) {
      std::size_t index = 0;
      const auto [end, problem] = std::from_chars(key.data(), key.data() + key.size(), index);
      const bool is_index = problem == std::errc{} && end == key.data() + key.size() && index < at->items.size();
      if (!is_index)
        return fmt::format("'{}' is a list of {}; '{}' is not an index of it", walked, at->items.size(), key);
      at = &at->items[index];
    } else if (at->is_map()) {
      if (!at->has(key)) {
        YamlNode fresh;
        fresh.where = value.where;
        at->set(key, std::move(fresh));
      }
      YamlEntry* entry = at->find_entry(key);
      entry->where = value.where;
      at = &entry->value;
    } else {
      return fmt::format("'{}' is a value, it has no '{}'", walked, key);
    }
    walked += (walked.empty() ? "" : ".") + key;
  } while (!path.empty());
  merge_yaml(*at, value);
  return "";
}

bool equal_yaml(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.text != b.text || a.tag != b.tag || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!equal_yaml(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key || !equal_yaml(a.entries[i].value, b.entries[i].value)) return false;
  }
  return true;
}

}  // namespace deft::io
