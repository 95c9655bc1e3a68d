#include "deft/io/scene/scene_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <tuple>
#include <utility>

#include "deft/io/scene/scene_file_merge.hpp"
#include "deft/io/scene/scene_file_parts.hpp"
#include "deft/io/settings/settings_file.hpp"

namespace deft::io {
namespace {

constexpr std::array<std::string_view, 22> kSceneKeys{
    "deft",    "name",    "description", "package_paths", "model_directive", "directives",     "bodies",  "robots",
    "objects", "gravity", "friction",    "step",          "plane",           "configurations", "initial", "commands",
    "goals",   "plan",    "optimize",    "track",         "wrenches",        "control"};

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

/// "planar_hand" for planar_hand.yml, planar_hand.deft.yaml and planar_hand/scene.deft.yaml.
std::string default_name(const std::string& path) {
  const std::filesystem::path file(absolute(path));
  std::string stem = file.stem().string();
  if (stem.ends_with(".deft")) stem.resize(stem.size() - 5);
  return stem == "scene" && file.has_parent_path() && !file.parent_path().filename().empty()
             ? file.parent_path().filename().string()
             : stem;
}

/// Unknown keys are errors; those of a published file itself are warnings, so that it loads unedited.
void check_keys(const YamlNode& root, bool is_q_sys, const std::string& file, Diagnostics& diagnostics) {
  for (const YamlEntry& entry : root.entries) {
    const bool known = std::find(kSceneKeys.begin(), kSceneKeys.end(), entry.key) != kSceneKeys.end();
    if (known) continue;
    if (is_q_sys && entry.where.file == file) {
      diagnostics.warning(entry.where, fmt::format("'{}' is not used", entry.key));
    } else {
      const std::vector<std::string> keys(kSceneKeys.begin(), kSceneKeys.end());
      diagnostics.error(entry.where,
                        fmt::format("a scene has no key '{}'{}", entry.key, did_you_mean(entry.key, keys)));
    }
  }
}

void check_version(const YamlNode& root, const YamlReader& read) {
  const YamlNode* version = root.find("deft");
  if (version != nullptr && version->text != "1")
    read.error(*version, fmt::format("deft: this program reads version 1 of scene files, got {}", describe(*version)));
}

/// Folders given on the command line first, then the scene's own, relative to the file that names them.
std::vector<std::string> package_paths(const YamlNode& root, const SceneFileOptions& options, const YamlReader& read) {
  std::vector<std::string> folders;
  for (const std::string& folder : options.package_paths) folders.push_back(absolute(folder));
  const YamlNode* list = root.find("package_paths");
  if (list == nullptr || !read.list(*list, "package_paths")) return folders;
  for (const YamlNode& item : list->items) {
    const auto folder = read.text(item, "package_paths");
    if (!folder) continue;
    const std::filesystem::path base =
        item.where.line > 0 ? std::filesystem::path(item.where.file).parent_path() : std::filesystem::path();
    folders.push_back(absolute((base / *folder).string()));
  }
  return folders;
}

/// Keyframes of model files are configurations of the scene, unless it has one of the name: by the name of the
/// keyframe, or "model/keyframe" where an earlier model has one of that name.
void add_keyframes(SceneReading& scene) {
  auto& configurations = scene.spec.configurations;
  for (const multibody::ModelSpec& model : scene.spec.world.models) {
    for (const multibody::KeyframeSpec& keyframe : model.keyframes) {
      const bool taken = std::any_of(configurations.begin(), configurations.end(),
                                     [&](const auto& known) { return known.name == keyframe.name; });
      scene::ModelConfiguration at{.joints = {.all = {}, .list = {}, .by_name = {}, .where = keyframe.where},
                                   .position = {},
                                   .rotation = {},
                                   .velocity = {},
                                   .free_bodies = {},
                                   .where = keyframe.where};
      at.joints.by_name.insert(keyframe.joints.begin(), keyframe.joints.end());
      for (const auto& free : keyframe.free) {
        const RigidTransform X_WB = model.X_WModel * free.X_ML;
        at.free_bodies[free.link] = {X_WB.translation(), X_WB.linear()};
      }
      configurations.push_back({.name = taken ? model.name + "/" + keyframe.name : keyframe.name,
                                .models = {{model.name, std::move(at)}},
                                .where = keyframe.where});
    }
  }
}

/// Models, frames and welds: directives first, then inline bodies, then the objects' files.
void read_world(const YamlNode& root, SceneReading& scene) {
  DirectiveReader directives(scene);
  if (const YamlNode* file = root.find("model_directive")) directives.read_file(*file, "");
  if (const YamlNode* list = root.find("directives")) directives.read_list(*list, "");
  if (const YamlNode* bodies = root.find("bodies")) read_bodies(*bodies, scene);
  if (const YamlNode* objects = root.find("objects")) read_object_files(*objects, scene);
  directives.resolve();
  add_keyframes(scene);
  const int errors_before = scene.diagnostics.error_count();
  scene.names = scene::list_names(scene.spec.world, scene.diagnostics);
  if (scene.diagnostics.error_count() > errors_before) scene.lengths_known = false;
}

void read_settings_keys(const YamlNode& root, SceneReading& scene) {
  const YamlReader& read = scene.read;
  if (const YamlNode* name = root.find("name")) scene.spec.name = read.text(*name, "name").value_or("");
  if (scene.spec.name.find('/') != std::string::npos) read.error(*root.find("name"), "name: must not contain '/'");
  if (const YamlNode* gravity = root.find("gravity"))
    scene.spec.gravity_W = read.vector3(*gravity, "gravity").value_or(Eigen::Vector3d::Zero());
  if (const YamlNode* step = root.find("step")) read_settings(*step, read, scene.spec.step);
  if (const YamlNode* plane = root.find("plane")) scene.spec.plane = read_plane(*plane, read);
  if (const YamlNode* plan = root.find("plan")) read_plan_settings(*plan, read, scene.spec.plan);
  if (const YamlNode* optimize = root.find("optimize")) read_optimize_settings(*optimize, read, scene.spec.optimize);
  if (const YamlNode* track = root.find("track")) read_track_settings(*track, read, scene.spec.track);
}

/// Everything that speaks of models by name.
void read_named(const YamlNode& root, SceneReading& scene) {
  using Part = void (*)(const YamlNode&, SceneReading&);
  constexpr std::pair<std::string_view, Part> kParts[] = {
      {"robots", read_robots},     {"objects", read_objects},
      {"friction", read_friction}, {"configurations", read_configurations},
      {"initial", read_initial},   {"commands", read_commands},
      {"goals", read_goals},       {"wrenches", read_wrenches},
      {"control", read_control}};
  for (const auto& [key, part] : kParts) {
    if (const YamlNode* node = root.find(key)) part(*node, scene);
  }
}

/// The scene as one file that reads back to the same specification from any folder: names of files resolved, every step
/// setting written out. Stays in its dialect, because that decides conventions (friction).
std::string merged_text(YamlNode root, bool is_q_sys, const std::vector<std::string>& folders,
                        const SceneReading& scene) {
  visit_file_names(root, [&](YamlNode& node) {
    const scene::ModelFiles::Place place =
        scene.files.find(node.text, node.where.line > 0 ? node.where.file : scene.spec.file);
    if (!place.path.empty()) node.text = place.path;
  });
  YamlNode ordered = make_map();
  root.take("deft");
  if (!is_q_sys) ordered.set("deft", make_scalar("1"));
  ordered.set("name", make_scalar(scene.spec.name, true));
  root.take("package_paths");
  YamlNode paths = make_list({});
  for (const std::string& folder : folders) paths.items.push_back(make_scalar(folder, true));
  if (!folders.empty()) ordered.set("package_paths", std::move(paths));
  const Eigen::Vector3d& g = scene.spec.gravity_W;
  root.set("gravity", make_list({make_number(g.x()), make_number(g.y()), make_number(g.z())}));
  root.set("step", write_settings(scene.spec.step));
  if (is_q_sys && !root.has("model_directive") && !root.has("robots") && !root.has("objects"))
    root.set("objects", make_list({}));
  for (YamlEntry& entry : root.entries) {
    if (!ordered.has(entry.key)) ordered.entries.push_back(std::move(entry));
  }
  return emit_yaml(ordered);
}

/// Reads in the order in which parts depend on each other; problems are found in that order too.
std::optional<scene::SceneSpec> read_in_order(const std::string& path, const SceneFileOptions& options,
                                              Diagnostics& diagnostics) {
  const auto merged = merge_scene(path, options, diagnostics);
  if (!merged) return std::nullopt;
  const YamlReader read(diagnostics);
  const std::vector<std::string> folders = package_paths(merged->root, options, read);
  const scene::ModelFiles files(folders, options.bundled_scenes);

  SceneReading scene(files, diagnostics);
  scene.spec.file = path;
  scene.spec.name = default_name(path);
  scene.spec.is_q_sys = merged->is_q_sys;
  scene.spec.defaults.name = "defaults";
  scene.spec.defaults.where = {path, 0, 0};
  if (merged->is_q_sys)
    scene.spec.friction = {.fallback = 1.0, .prefer_static = true, .warn_missing = false, .pairs = {}};

  check_keys(merged->root, merged->is_q_sys, path, diagnostics);
  check_version(merged->root, read);
  read_settings_keys(merged->root, scene);
  read_world(merged->root, scene);
  read_named(merged->root, scene);
  if (diagnostics.has_errors()) return std::nullopt;
  scene.spec.merged_yaml = merged_text(merged->root, merged->is_q_sys, folders, scene);
  return std::move(scene.spec);
}

/// Hands on what was found, file by file and from top to bottom as a reader meets it.
void report_in_reading_order(std::span<const Diagnostic> found, Diagnostics& diagnostics) {
  std::vector<std::string> files;
  for (const Diagnostic& entry : found) {
    if (std::find(files.begin(), files.end(), entry.where.file) == files.end()) files.push_back(entry.where.file);
  }
  const auto place = [&](const Diagnostic& entry) {
    return std::tuple(std::find(files.begin(), files.end(), entry.where.file), entry.where.line, entry.where.column);
  };
  std::vector<Diagnostic> sorted(found.begin(), found.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  for (Diagnostic& entry : sorted) {
    if (entry.severity == Severity::kError)
      diagnostics.error(entry.where, std::move(entry.message));
    else
      diagnostics.warning(entry.where, std::move(entry.message), std::move(entry.kind));
  }
}

}  // namespace

std::optional<scene::SceneSpec> read_scene_file(const std::string& path, const SceneFileOptions& options,
                                                Diagnostics& diagnostics) {
  Diagnostics found;
  auto spec = read_in_order(path, options, found);
  report_in_reading_order(found.all(), diagnostics);
  return spec;
}

// ---------------------------------------------------------------------------------------------------- SceneReading

const scene::ModelNames* SceneReading::find_names(const std::string& model) const {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const scene::ModelNames& n) { return n.name == model; });
  return found != names.end() ? &*found : nullptr;
}

std::vector<std::string> SceneReading::model_names() const {
  std::vector<std::string> all;
  for (const multibody::ModelSpec& model : spec.world.models) all.push_back(model.name);
  for (const std::string& name : unreadable) {
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  }
  for (const scene::ModelNames& part : names) {
    if (std::find(all.begin(), all.end(), part.name) == all.end()) all.push_back(part.name);
  }
  return all;
}

std::optional<std::string> SceneReading::find_file(const YamlNode& node, std::string_view what) {
  const auto uri = read.text(node, what);
  if (!uri) return std::nullopt;
  const scene::ModelFiles::Place place = files.find(*uri, node.where.line > 0 ? node.where.file : spec.file);
  if (!place.path.empty() && std::filesystem::is_regular_file(place.path)) return place.path;
  read.error(node, fmt::format("{} '{}' not found; tried {}", what, *uri, fmt::join(place.tried, ", ")));
  return std::nullopt;
}

const multibody::ModelSpec* SceneReading::add_model(const YamlNode& file, const std::string& name,
                                                    const SourceLocation& name_at) {
  const auto path = find_file(file, "model file");
  auto model = path ? files.load(*path, diagnostics) : std::nullopt;
  if (!model) {
    unreadable.insert(name.empty() && path ? std::filesystem::path(*path).stem().string() : name);
    models_known = models_known && !name.empty();
    return nullptr;
  }
  if (!name.empty()) model->name = name;
  if (model->name.empty()) model->name = std::filesystem::path(*path).stem().string();
  return append_model(std::move(*model), name_at);
}

const multibody::ModelSpec* SceneReading::append_model(multibody::ModelSpec model, const SourceLocation& where) {
  if (model.name.empty() || model.name == "world" || model.name.find('/') != std::string::npos) {
    diagnostics.error(
        where, fmt::format("'{}' cannot be the name of a model: 'world' and names with '/' are taken", model.name));
    return nullptr;
  }
  const auto same = std::find_if(spec.world.models.begin(), spec.world.models.end(),
                                 [&](const auto& known) { return known.name == model.name; });
  if (same != spec.world.models.end()) {
    diagnostics.error(where, fmt::format("duplicate model name '{}', first used for {}", model.name,
                                         same->where.line > 0 ? fmt::format("{}:{}", same->where.file, same->where.line)
                                                              : same->where.file));
    return nullptr;
  }
  spec.world.models.push_back(std::move(model));
  return &spec.world.models.back();
}

}  // namespace deft::io
