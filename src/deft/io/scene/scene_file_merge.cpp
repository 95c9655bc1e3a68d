#include "deft/io/scene/scene_file_merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "deft/io/text/yaml_reader.hpp"

namespace deft::io {
namespace {

constexpr std::array<std::string_view, 4> kPublishedKeys{"model_directive", "robots", "objects",
                                                         "quasistatic_sim_params"};

bool is_model_file(const std::string& path) {
  return path.ends_with(".urdf") || path.ends_with(".sdf") || path.ends_with(".mjcf") || path.ends_with(".xml");
}

void relocate(YamlNode& node, const SourceLocation& where) {
  node.where = where;
  for (YamlNode& item : node.items) relocate(item, where);
  for (YamlEntry& entry : node.entries) {
    entry.where = where;
    relocate(entry.value, where);
  }
}

/// A scalar with the place of another.
YamlNode scalar_at(std::string text, const YamlNode& original) {
  YamlNode node = make_scalar(std::move(text));
  node.where = original.where;
  return node;
}

bool is_nan(const YamlNode& node) { return node.is_scalar() && std::isnan(parse_number(node.text).value_or(0)); }

/// One published parameter as a key of `step`. @returns false if deft has nothing like it.
bool convert_parameter(const std::string& key, const YamlNode& value, const YamlReader& read, YamlNode& step) {
  if (key == "is_quasi_dynamic") {
    if (const auto yes = read.boolean(value, key))
      step.set("dynamics", scalar_at(*yes ? "quasidynamic" : "quasistatic", value));
  } else if (key == "log_barrier_weight") {
    step.set("kappa", value.is_null() || is_nan(value) ? scalar_at(".inf", value) : value);
  } else if (key == "unactuated_mass_scale" || key == "h") {
    YamlNode none;
    none.where = value.where;
    step.set(key, is_nan(value) ? none : value);
  } else if (key == "nd_per_contact") {
    step.set("rays", value);
  } else if (key == "contact_detection_tolerance") {
    step.set("contact_margin", value);
  } else {
    return false;
  }
  return true;
}

/// Turns `quasistatic_sim_params` into `gravity` and `step`; what the file says under those names itself wins.
void convert_published_parameters(YamlNode& root, Diagnostics& diagnostics) {
  const auto parameters = root.take("quasistatic_sim_params");
  if (!parameters || parameters->is_null()) return;
  const YamlReader read(diagnostics);
  if (!read.any_map(*parameters, "quasistatic_sim_params")) return;
  YamlNode converted = make_map(), step = make_map();
  converted.where = step.where = parameters->where;
  for (const YamlEntry& entry : parameters->entries) {
    if (entry.key == "gravity") {
      converted.set("gravity", entry.value);
    } else if (!convert_parameter(entry.key, entry.value, read, step)) {
      diagnostics.warning_once("quasistatic_sim_params." + entry.key, entry.where,
                               fmt::format("quasistatic_sim_params: '{}' is not used", entry.key));
    }
  }
  if (!step.entries.empty()) converted.set("step", std::move(step));
  merge_yaml(converted, root);
  root = std::move(converted);
}

/// The tree of a file, or of the text that stands for it.
std::optional<YamlNode> read_tree(const std::string& path, std::string_view what, const SceneFileOptions& options,
                                  Diagnostics& diagnostics) {
  if (const auto text = options.texts.find(path); text != options.texts.end())
    return parse_yaml(text->second, path, diagnostics);
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(path, unreadable)) {
    diagnostics.error({path, 0, 0}, fmt::format("{} not found; tried {}", what,
                                                std::filesystem::absolute(path).lexically_normal().string()));
    return std::nullopt;
  }
  return read_yaml_file(path, diagnostics);
}

/// A scene or overlay as it stands in its file: a map (nothing at all is an empty one).
std::optional<YamlNode> read_map(const std::string& path, std::string_view what, const SceneFileOptions& options,
                                 Diagnostics& diagnostics) {
  auto tree = read_tree(path, what, options, diagnostics);
  if (!tree) return std::nullopt;
  if (tree->is_null()) tree->kind = YamlNode::Kind::kMap;
  if (!YamlReader(diagnostics).any_map(*tree, what)) return std::nullopt;
  return tree;
}

/// A bare model file is a scene of one add_model.
YamlNode model_scene(const std::string& path) {
  YamlNode model = make_map(), directive = make_map(), root = make_map();
  model.set("file", make_scalar(std::filesystem::absolute(path).lexically_normal().string(), true));
  directive.set("add_model", std::move(model));
  root.set("deft", make_scalar("1"));
  root.set("directives", make_list({std::move(directive)}));
  relocate(root, {path, 0, 0});
  return root;
}

/// The '=' that ends a key path: the first outside of quotes.
std::size_t find_equals(const std::string& setting) {
  char quote = 0;
  for (std::size_t i = 0; i < setting.size(); ++i) {
    const char c = setting[i];
    if (quote != 0) {
      if (quote == '"' && c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
    } else if (c == '=') {
      return i;
    } else if ((c == '"' || c == '\'') && (i == 0 || setting[i - 1] == '.')) {
      quote = c;
    }
  }
  return std::string::npos;
}

void apply_setting(const std::string& setting, YamlNode& root, Diagnostics& diagnostics) {
  const SourceLocation where{"--set " + setting, 0, 0};
  const std::size_t equals = find_equals(setting);
  if (equals == setting.npos || equals == 0) {
    diagnostics.error(where, "expected key.path=VALUE");
    return;
  }
  Diagnostics problems;
  auto value = parse_yaml(setting.substr(equals + 1), where.file, problems);
  for (const Diagnostic& problem : problems.all()) diagnostics.error(where, problem.message);
  if (!value) return;
  relocate(*value, where);
  const std::string key = setting.substr(0, equals);
  std::string problem;
  if (key.rfind("quasistatic_sim_params", 0) == 0) {
    YamlNode overlay = make_map();
    problem = set_yaml_path(overlay, key, std::move(*value));
    convert_published_parameters(overlay, diagnostics);
    merge_yaml(root, overlay);
  } else {
    problem = set_yaml_path(root, key, std::move(*value));
  }
  if (!problem.empty()) diagnostics.error(where, problem);
}

}  // namespace

std::optional<MergedScene> merge_scene(const std::string& path, const SceneFileOptions& options,
                                       Diagnostics& diagnostics) {
  const int errors_before = diagnostics.error_count();
  MergedScene scene;
  if (is_model_file(path)) {
    scene.root = model_scene(path);
  } else if (auto tree = read_map(path, "scene", options, diagnostics)) {
    scene.root = std::move(*tree);
  } else {
    return std::nullopt;
  }
  const bool published = std::any_of(kPublishedKeys.begin(), kPublishedKeys.end(),
                                     [&](std::string_view key) { return scene.root.has(key); });
  scene.is_q_sys = !scene.root.has("deft") && published;
  if (!scene.root.has("deft") && !published && !scene.root.has("directives")) {
    diagnostics.error(
        {path, 1, 1},
        "not a scene: expected 'deft: 1', a published q_sys file (model_directive, robots, objects) or 'directives:'");
    return std::nullopt;
  }
  convert_published_parameters(scene.root, diagnostics);
  for (const std::string& overlay_path : options.overlays) {
    auto overlay = read_map(overlay_path, "overlay", options, diagnostics);
    if (!overlay) continue;
    convert_published_parameters(*overlay, diagnostics);
    merge_yaml(scene.root, *overlay);
  }
  for (const std::string& setting : options.settings) apply_setting(setting, scene.root, diagnostics);
  if (diagnostics.error_count() > errors_before) return std::nullopt;
  return scene;
}

}  // namespace deft::io
