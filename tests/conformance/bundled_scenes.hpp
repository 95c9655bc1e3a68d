#pragma once
// The scenes that come with deft, for laws that hold on all of them.

#include <filesystem>
#include <string>
#include <vector>

#include "deft/io/scene/scene_file.hpp"

namespace deft::test {

/// The scene files of scenes/*/, in no particular order.
inline std::vector<std::string> bundled_scenes() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(DEFT_SOURCE_DIR) + "/scenes")) {
    const auto file = entry.path() / "scene.deft.yaml";
    if (std::filesystem::exists(file)) files.push_back(file.string());
  }
  return files;
}

/// One of them with settings such as "step.kappa=1000".
inline scene::Scene load_bundled(const std::string& file, std::vector<std::string> settings) {
  io::SceneFileOptions options;
  options.bundled_scenes = std::string(DEFT_SOURCE_DIR) + "/scenes";
  options.settings = std::move(settings);
  Diagnostics diagnostics;
  return io::load_scene(file, options, diagnostics);
}

}  // namespace deft::test
