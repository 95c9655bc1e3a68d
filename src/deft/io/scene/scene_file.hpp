#pragma once
// Scene files in three dialects (deft's own, published q_sys, bare Drake model directives) with overlays → SceneSpec.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/scene/description/scene_spec.hpp"
#include "deft/scene/scene.hpp"

namespace deft::io {

/// What the command line adds to a scene file.
struct SceneFileOptions {
  std::vector<std::string> overlays;           // --with FILE, later ones win
  std::vector<std::string> settings;           // --set key.path=YAML, after the overlays
  std::vector<std::string> package_paths;      // --package-path
  std::string bundled_scenes;                  // folder of package://deft_scenes
  std::map<std::string, std::string> texts{};  // instead of what is in files of these names: the scene, overlays
};

/// Reads, merges and checks one scene. A bare model file (.urdf, .sdf) is a scene with that one model.
/// All problems go to `diagnostics` with file, line and column. @returns nothing if there were errors.
std::optional<scene::SceneSpec> read_scene_file(const std::string& path, const SceneFileOptions& options,
                                                Diagnostics& diagnostics);

/// read_scene_file and Scene::build. @throws InputError with every problem.
scene::Scene load_scene(const std::string& path, const SceneFileOptions& options, Diagnostics& diagnostics);

}  // namespace deft::io
