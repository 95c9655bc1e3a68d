#pragma once
// From files, overlays and --set to one tree in deft's own keys. Internal to io.

#include <optional>
#include <string>

#include "deft/io/scene/scene_file.hpp"
#include "deft/io/text/yaml_node.hpp"

namespace deft::io {

/// The scene as one map of deft's keys; `quasistatic_sim_params` have become `gravity` and `step`.
struct MergedScene {
  YamlNode root;          // a map
  bool is_q_sys = false;  // a published q_sys file, which decides the conventions of friction
};

/// Reads the scene and its overlays, applies the settings. @returns nothing after an error.
std::optional<MergedScene> merge_scene(const std::string& path, const SceneFileOptions& options,
                                       Diagnostics& diagnostics);

/// Calls visit(node) for every scalar of the tree that names a file.
template <typename Visitor>
void visit_file_names(YamlNode& root, Visitor&& visit) {
  const auto scalar = [&](YamlNode& map, std::string_view key) {
    YamlEntry* entry = map.find_entry(key);
    if (entry != nullptr && entry->value.is_scalar()) visit(entry->value);
  };
  const auto mesh = [&](YamlNode& shape) {
    if (YamlEntry* entry = shape.find_entry("mesh")) scalar(entry->value, "file");
  };
  const auto items = [](YamlNode& map, std::string_view key, auto&& body) {
    YamlEntry* entry = map.find_entry(key);
    if (entry == nullptr) return;
    for (YamlNode& item : entry->value.items) body(item);
  };
  scalar(root, "model_directive");
  items(root, "objects", [&](YamlNode& item) { scalar(item, "file"); });
  items(root, "directives", [&](YamlNode& item) {
    for (YamlEntry& directive : item.entries) scalar(directive.value, "file");
  });
  if (YamlEntry* bodies = root.find_entry("bodies")) {
    for (YamlEntry& body : bodies->value.entries) {
      if (YamlEntry* shape = body.value.find_entry("shape")) mesh(shape->value);
      items(body.value, "shapes", mesh);
    }
  }
}

}  // namespace deft::io
