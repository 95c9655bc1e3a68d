#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "deft/core/text_file.hpp"
#include "deft/io/text/yaml_node.hpp"

namespace deft::io {
namespace {

constexpr int kDeepestNesting = 100;
constexpr int kMostNodes = 1'000'000;  // an alias of aliases of aliases … grows without bound

/// One event of libyaml, freed at the end of its life.
class Event {
 public:
  explicit Event(yaml_parser_t& parser) : parsed_(yaml_parser_parse(&parser, &event_) == 1) {}
  ~Event() {
    if (parsed_) yaml_event_delete(&event_);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool is_parsed() const { return parsed_; }
  const yaml_event_t& operator*() const { return event_; }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
  bool parsed_;
};

std::string text_of(const yaml_char_t* text) { return text == nullptr ? "" : reinterpret_cast<const char*>(text); }

/// How many values a tree holds.
int size_of(const YamlNode& node) {
  int size = 1;
  for (const YamlNode& item : node.items) size += size_of(item);
  for (const YamlEntry& entry : node.entries) size += size_of(entry.value);
  return size;
}

/// What libyaml reads as our tree; throws InputError at the first problem of the text itself, collects duplicate keys.
class Document {
 public:
  Document(const std::string& text, const std::string& file, Diagnostics& diagnostics)
      : text_(text), file_(file), diagnostics_(diagnostics) {
    if (yaml_parser_initialize(&parser_) != 1) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Document() { yaml_parser_delete(&parser_); }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  /// The one document of the text; null if there is none.
  YamlNode root() {
    YamlNode root;
    root.where = {file_, 1, 1};
    bool found = false;
    while (true) {
      const Event event(parser_);
      check(event);
      if (event->type == YAML_STREAM_END_EVENT) return root;
      if (event->type == YAML_DOCUMENT_START_EVENT) {
        const Event first(parser_);
        check(first);
        if (found) throw InputError(location(first->start_mark), "only one YAML document per file");
        root = node(*first, 0);
        found = true;
      }
    }
  }

 private:
  void check(const Event& event) const {
    if (event.is_parsed()) return;
    const std::string problem = parser_.problem == nullptr ? "cannot be read" : parser_.problem;
    const std::string context = parser_.context == nullptr ? "" : fmt::format(" {}", parser_.context);
    // What the reader refuses, such as control characters, has no mark.
    throw InputError(
        parser_.error == YAML_READER_ERROR ? location(parser_.problem_offset) : location(parser_.problem_mark),
        fmt::format("YAML: {}{}", problem, context));
  }

  /// The value that begins with an event.
  YamlNode node(const yaml_event_t& event, int depth) {
    YamlNode result;
    result.where = location(event.start_mark);
    if (depth > kDeepestNesting)
      throw InputError(result.where, fmt::format("nested deeper than {} levels", kDeepestNesting));
    count(1, result.where);
    switch (event.type) {
      case YAML_ALIAS_EVENT:
        return alias(event);
      case YAML_SCALAR_EVENT:
        return scalar(event, std::move(result));
      case YAML_SEQUENCE_START_EVENT: {
        const std::string anchor = text_of(event.data.sequence_start.anchor);
        result.kind = YamlNode::Kind::kList;
        set_tag(result, text_of(event.data.sequence_start.tag));
        read_until(YAML_SEQUENCE_END_EVENT,
                   [&](const yaml_event_t& item) { result.items.push_back(node(item, depth + 1)); });
        return named(anchor, std::move(result));
      }
      case YAML_MAPPING_START_EVENT: {
        const std::string anchor = text_of(event.data.mapping_start.anchor);
        result.kind = YamlNode::Kind::kMap;
        set_tag(result, text_of(event.data.mapping_start.tag));
        std::vector<YamlNode> defaults;
        read_until(YAML_MAPPING_END_EVENT,
                   [&](const yaml_event_t& key) { add_entry(result, key, depth + 1, defaults); });
        for (const YamlNode& map : defaults) add_defaults(result, map);
        return named(anchor, std::move(result));
      }
      default:
        throw InputError(result.where, "YAML: a value is missing");
    }
  }

  void read_until(yaml_event_type_t end, const std::function<void(const yaml_event_t&)>& take) {
    while (true) {
      const Event event(parser_);
      check(event);
      if (event->type == end) return;
      take(*event);
    }
  }

  YamlNode alias(const yaml_event_t& event) {
    const std::string name = text_of(event.data.alias.anchor);
    const auto found = anchors_.find(name);
    if (found == anchors_.end())
      throw InputError(location(event.start_mark), fmt::format("YAML: no value has the anchor '{}' before", name));
    count(size_of(found->second), location(event.start_mark));
    return found->second;
  }

  YamlNode scalar(const yaml_event_t& event, YamlNode result) {
    const auto& data = event.data.scalar;
    const std::string tag = text_of(data.tag);
    const std::string text(reinterpret_cast<const char*>(data.value), data.length);
    const bool plain = data.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain && tag.empty() && is_null(text)) return named(text_of(data.anchor), std::move(result));
    result.kind = YamlNode::Kind::kScalar;
    result.text = text;
    result.quoted = (!plain && tag.empty()) || tag == "!" || tag == YAML_STR_TAG;
    set_tag(result, tag);
    return named(text_of(data.anchor), std::move(result));
  }

  static bool is_null(std::string_view text) {
    return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
  }

  static void set_tag(YamlNode& node, const std::string& tag) {
    if (tag.size() > 1 && tag[0] == '!') node.tag = tag;
  }

  YamlNode named(const std::string& anchor, YamlNode node) {
    if (anchor.empty()) return node;
    count(size_of(node), node.where);  // a copy
    anchors_[anchor] = node;
    return node;
  }

  void add_entry(YamlNode& map, const yaml_event_t& event, int depth, std::vector<YamlNode>& defaults) {
    const YamlNode key = node(event, depth);
    const Event next(parser_);
    check(next);
    YamlNode value = node(*next, depth);
    if (!key.is_scalar()) {
      diagnostics_.error(key.where, "a key must be a word or a number");
    } else if (key.text == "<<" && !key.quoted) {
      defaults.push_back(std::move(value));
    } else if (const YamlEntry* first = map.find_entry(key.text)) {
      diagnostics_.error(key.where,
                         fmt::format("duplicate key '{}', first used in line {}", key.text, first->where.line));
    } else {
      map.entries.push_back({key.text, key.where, std::move(value)});
    }
  }

  /// `<<: *defaults`: the keys of a map, or of several, that this map does not state itself.
  void add_defaults(YamlNode& map, const YamlNode& source) {
    for (const YamlNode& item : source.items) add_defaults(map, item);
    if (!source.is_map() && !source.is_list()) diagnostics_.error(source.where, "'<<' takes a map or a list of maps");
    for (const YamlEntry& entry : source.entries) {
      if (map.has(entry.key)) continue;
      count(size_of(entry.value), source.where);
      map.entries.push_back(entry);
    }
  }

  void count(int more, const SourceLocation& where) {
    count_ += more;
    if (count_ > kMostNodes)
      throw InputError(where, fmt::format("more than {} values (aliases of aliases?)", kMostNodes));
  }

  /// Of a byte.
  SourceLocation location(std::size_t offset) const {
    const std::string_view before = text_.substr(0, offset);
    const std::size_t start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    return {file_, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(before.size() - start) + 1};
  }
  SourceLocation location(const yaml_mark_t& mark) const {
    return {file_, static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
  }

  std::string_view text_;
  const std::string& file_;
  Diagnostics& diagnostics_;
  yaml_parser_t parser_{};
  std::map<std::string, YamlNode> anchors_;
  int count_ = 0;
};

}  // namespace

std::optional<YamlNode> parse_yaml(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  const int errors_before = diagnostics.error_count();
  try {
    if (const auto wrong = find_not_utf8(text)) throw InputError({file, wrong->line, wrong->column}, wrong->message);
    YamlNode root = Document(text, file, diagnostics).root();
    if (diagnostics.error_count() == errors_before) return root;
  } catch (const InputError& problem) {
    for (const Diagnostic& diagnostic : problem.diagnostics()) diagnostics.error(diagnostic.where, diagnostic.message);
  }
  return std::nullopt;
}

std::optional<YamlNode> read_yaml_file(const std::string& path, Diagnostics& diagnostics) {
  if (const std::optional<std::string> text = read_file(path)) return parse_yaml(*text, path, diagnostics);
  diagnostics.error({path, 0, 0}, "cannot be read as a file");
  return std::nullopt;
}

}  // namespace deft::io
