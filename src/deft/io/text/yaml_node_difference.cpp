#include <fmt/format.h>

#include "deft/io/text/yaml_node.hpp"

namespace deft::io {
namespace {

std::string shown(const YamlNode* node) {
  if (node == nullptr || node->is_null()) return "nothing";
  if (node->is_scalar()) return node->text;
  return node->is_list() ? "another list" : "a map";
}

void compare(const YamlNode* a, const YamlNode* b, const std::string& path, std::vector<std::string>& lines) {
  if (a != nullptr && b != nullptr) {
    if (equal_yaml(*a, *b)) return;
    const auto at = [&](std::string_view key) {
      return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
    };
    if (a->is_map() && b->is_map() && a->tag == b->tag) {
      for (const YamlEntry& entry : a->entries) compare(&entry.value, b->find(entry.key), at(entry.key), lines);
      for (const YamlEntry& entry : b->entries) {
        if (!a->has(entry.key)) compare(nullptr, &entry.value, at(entry.key), lines);
      }
      return;
    }
    if (a->is_list() && b->is_list() && a->items.size() == b->items.size()) {
      for (std::size_t i = 0; i < a->items.size(); ++i)
        compare(&a->items[i], &b->items[i], fmt::format("{}[{}]", path, i), lines);
      return;
    }
  }
  lines.push_back(fmt::format("{}: {} there, {} here", path, shown(a), shown(b)));
}

}  // namespace

std::vector<std::string> yaml_differences(const YamlNode& there, const YamlNode& here) {
  std::vector<std::string> lines;
  compare(&there, &here, "", lines);
  return lines;
}

}  // namespace deft::io
