#pragma once
// The scenes of scenes/planning, for tests.

#include <string>
#include <vector>

#include "deft/io/scene_file.hpp"
#include "deft/planning/goal.hpp"

namespace deft::test {

/// scenes/planning/NAME.deft.yaml with settings such as "plan.nodes=100".
inline scene::Scene load_planning(const std::string& name, std::vector<std::string> settings = {}) {
  io::SceneFileOptions options;
  options.bundled_scenes = std::string(DEFT_SOURCE_DIR) + "/scenes";
  options.settings = std::move(settings);
  Diagnostics diagnostics;
  return io::load_scene(options.bundled_scenes + "/planning/" + name + ".deft.yaml", options, diagnostics);
}

/// The same with the published search of scenes/planning/single_step/NAME.yaml.
inline scene::Scene load_published(const std::string& name, std::vector<std::string> settings = {}) {
  io::SceneFileOptions options;
  options.bundled_scenes = std::string(DEFT_SOURCE_DIR) + "/scenes";
  options.overlays = {options.bundled_scenes + "/planning/single_step/" + name + ".yaml"};
  options.settings = std::move(settings);
  Diagnostics diagnostics;
  return io::load_scene(options.bundled_scenes + "/planning/" + name + ".deft.yaml", options, diagnostics);
}

}  // namespace deft::test
