#pragma once
// The scenes of scenes/planning, for tests.

#include <string>
#include <vector>

#include "deft/io/scene_file.hpp"
#include "deft/planning/goal.hpp"

namespace deft::test {

/// Tests are ended by what is found and by numbers of tries, not by the clock of a busy machine; unless they say so.
inline std::vector<std::string> without_hurry(const std::vector<std::string>& settings) {
  std::vector<std::string> all{"plan.time_limit_s=1e6"};
  all.insert(all.end(), settings.begin(), settings.end());
  return all;
}

/// scenes/planning/NAME.deft.yaml with settings such as "plan.nodes=100".
inline scene::Scene load_planning(const std::string& name, const std::vector<std::string>& settings = {}) {
  io::SceneFileOptions options;
  options.bundled_scenes = std::string(DEFT_SOURCE_DIR) + "/scenes";
  options.settings = without_hurry(settings);
  Diagnostics diagnostics;
  return io::load_scene(options.bundled_scenes + "/planning/" + name + ".deft.yaml", options, diagnostics);
}

/// The same with the published search of scenes/planning/single_step/NAME.yaml.
inline scene::Scene load_published(const std::string& name, const std::vector<std::string>& settings = {}) {
  io::SceneFileOptions options;
  options.bundled_scenes = std::string(DEFT_SOURCE_DIR) + "/scenes";
  options.overlays = {options.bundled_scenes + "/planning/single_step/" + name + ".yaml"};
  options.settings = without_hurry(settings);
  Diagnostics diagnostics;
  return io::load_scene(options.bundled_scenes + "/planning/" + name + ".deft.yaml", options, diagnostics);
}

}  // namespace deft::test
