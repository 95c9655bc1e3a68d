// Writes a tree as YAML that people can read: short values in one line, long ones indented.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "deft/core/index.hpp"
#include "deft/core/quote.hpp"
#include "deft/io/text/yaml_node.hpp"

namespace deft::io {
namespace {

constexpr std::size_t kLineLength = 120;

bool is_plain(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return false;
  const auto safe = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '/' || c == '+' || c == '-';
  };
  return std::all_of(text.begin(), text.end(), safe) && text != "-" && text.rfind("---", 0) != 0 &&
         text.rfind("...", 0) != 0;
}

std::string scalar(const std::string& text, bool keep_quotes) {
  return !keep_quotes && is_plain(text) ? text : quote(text);
}

std::string tagged(const YamlNode& node) { return node.tag.empty() ? "" : node.tag + " "; }

/// The whole value in one line.
std::string flow(const YamlNode& node) {
  std::string out;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar:
      return tagged(node) + scalar(node.text, node.quoted);
    case YamlNode::Kind::kList:
      for (const YamlNode& item : node.items) out += (out.empty() ? "" : ", ") + flow(item);
      return tagged(node) + '[' + out + ']';
    case YamlNode::Kind::kMap:
      for (const YamlEntry& entry : node.entries)
        out += (out.empty() ? "" : ", ") + scalar(entry.key, false) + ": " + flow(entry.value);
      return tagged(node) + '{' + out + '}';
  }
  return out;
}

/// A value after `key:` or `-`: in the same line where it fits, otherwise in lines of their own, indented.
void block(const YamlNode& node, int indent, bool top, std::string& out) {
  const std::string line = flow(node);
  const bool has_parts = !node.items.empty() || !node.entries.empty();
  if (!top && (!has_parts || to_size(indent) + line.size() < kLineLength)) {
    out += ' ' + line + '\n';
    return;
  }
  if (!top) out += (node.tag.empty() ? "" : ' ' + node.tag) + '\n';
  const std::string space(to_size(indent), ' ');
  for (const YamlEntry& entry : node.entries) {
    out += space + scalar(entry.key, false) + ':';
    block(entry.value, indent + 2, false, out);
  }
  for (const YamlNode& item : node.items) {
    out += space + '-';
    block(item, indent + 2, false, out);
  }
}

}  // namespace

std::string emit_yaml(const YamlNode& root) {
  if (root.entries.empty() && root.items.empty()) return flow(root) + '\n';
  std::string out;
  block(root, 0, true, out);
  return out;
}

}  // namespace deft::io
