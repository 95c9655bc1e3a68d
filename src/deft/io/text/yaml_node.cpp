#include "deft/io/text/yaml_node.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace deft::io {
namespace {

constexpr int kDeepestNesting = 100;
constexpr int kMostNodes = 1'000'000;  // an alias of aliases of aliases … grows without bound

/// Copies yaml-cpp's tree into ours; throws InputError at the first problem of the text itself, collects duplicate
/// keys.
class TreeCopy {
 public:
  TreeCopy(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  YamlNode node(const YAML::Node& source, int depth) {
    YamlNode copy;
    copy.where = location(source.Mark());
    if (depth > kDeepestNesting)
      throw InputError(copy.where, fmt::format("nested deeper than {} levels", kDeepestNesting));
    if (++count_ > kMostNodes)
      throw InputError(copy.where, fmt::format("more than {} values (aliases of aliases?)", kMostNodes));
    const std::string& tag = source.Tag();
    if (tag.size() > 1 && tag[0] == '!') copy.tag = tag;
    if (source.IsScalar()) {
      copy.kind = YamlNode::Kind::kScalar;
      copy.text = source.Scalar();
      copy.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    } else if (source.IsSequence()) {
      copy.kind = YamlNode::Kind::kList;
      for (const YAML::Node& item : source) copy.items.push_back(node(item, depth + 1));
    } else if (source.IsMap()) {
      copy.kind = YamlNode::Kind::kMap;
      std::vector<YamlNode> defaults;
      for (const auto& entry : source) add_entry(copy, entry.first, entry.second, depth, defaults);
      for (const YamlNode& map : defaults) add_defaults(copy, map);
    }
    return copy;
  }

 private:
  void add_entry(YamlNode& map, const YAML::Node& key, const YAML::Node& value, int depth,
                 std::vector<YamlNode>& defaults) {
    const SourceLocation where = location(key.Mark());
    if (!key.IsScalar()) {
      diagnostics_.error(where, "a key must be a word or a number");
      return;
    }
    YamlNode copy = node(value, depth + 1);
    if (key.Scalar() == "<<" && key.Tag() != "!") {
      defaults.push_back(std::move(copy));
    } else if (const YamlEntry* first = map.find_entry(key.Scalar())) {
      diagnostics_.error(where,
                         fmt::format("duplicate key '{}', first used in line {}", key.Scalar(), first->where.line));
    } else {
      map.entries.push_back({key.Scalar(), where, std::move(copy)});
    }
  }

  /// `<<: *defaults`: the keys of a map, or of several, that this map does not state itself.
  void add_defaults(YamlNode& map, const YamlNode& source) {
    for (const YamlNode& item : source.items) add_defaults(map, item);
    if (!source.is_map() && !source.is_list()) diagnostics_.error(source.where, "'<<' takes a map or a list of maps");
    for (const YamlEntry& entry : source.entries) {
      if (!map.has(entry.key)) map.entries.push_back(entry);
    }
  }

  SourceLocation location(const YAML::Mark& mark) const {
    return mark.is_null() ? SourceLocation{file_, 0, 0} : SourceLocation{file_, mark.line + 1, mark.column + 1};
  }

  const std::string& file_;
  Diagnostics& diagnostics_;
  int count_ = 0;
};

}  // namespace

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

std::optional<YamlNode> parse_yaml(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  const int errors_before = diagnostics.error_count();
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1)
      throw InputError({file, documents[1].Mark().line + 1, documents[1].Mark().column + 1},
                       "only one YAML document per file");
    YamlNode root;
    root.where = {file, 1, 1};
    if (!documents.empty()) root = TreeCopy(file, diagnostics).node(documents[0], 0);
    if (diagnostics.error_count() == errors_before) return root;
  } catch (const YAML::Exception& problem) {
    const bool known = !problem.mark.is_null();
    diagnostics.error({file, known ? problem.mark.line + 1 : 0, known ? problem.mark.column + 1 : 0},
                      "YAML: " + problem.msg);
  } catch (const InputError& problem) {
    for (const Diagnostic& diagnostic : problem.diagnostics()) diagnostics.error(diagnostic.where, diagnostic.message);
  }
  return std::nullopt;
}

std::optional<YamlNode> read_yaml_file(const std::string& path, Diagnostics& diagnostics) {
  std::error_code unknown;
  const bool is_folder = std::filesystem::is_directory(path, unknown);
  std::ifstream file(path, std::ios::binary);
  const std::string text =
      is_folder ? "" : std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (is_folder || !file.is_open() || file.bad()) {
    diagnostics.error({path, 0, 0}, "cannot be read as a file");
    return std::nullopt;
  }
  if (text.find('\0') != text.npos) {
    diagnostics.error({path, 0, 0}, "is not a text file (it holds zero bytes)");
    return std::nullopt;
  }
  return parse_yaml(text, path, diagnostics);
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

std::string set_yaml_path(YamlNode& root, std::string_view path, YamlNode value) {
  YamlNode* at = &root;
  std::string walked;
  while (true) {
    const auto dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    if (key.empty()) return "the key path has an empty part";
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
    walked += (walked.empty() ? "" : ".") + std::string(key);
    if (dot == path.npos) break;
    path.remove_prefix(dot + 1);
  }
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
