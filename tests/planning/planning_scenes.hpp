#pragma once
// The scenes of scenes/planning, for tests.

#include <string>
#include <vector>

#include "deft/io/scene/scene_file.hpp"
#include "deft/planning/feasibility/goal.hpp"

namespace deft::test {

/// Tests are ended by what is found and by numbers of tries, not by the clock of a busy machine; unless they say so.
inline scene::Scene load_without_hurry(const std::string& name, const std::vector<std::string>& overlays,
                                       const std::vector<std::string>& settings) {
  io::SceneFileOptions options;
  options.bundled_scenes = std::string(DEFT_SOURCE_DIR) + "/scenes";
  for (const std::string& overlay : overlays)
    options.overlays.push_back(options.bundled_scenes + "/planning/" + overlay);
  options.settings = {"plan.time_limit_s=1e6", "plan.judges=[h]"};
  options.settings.insert(options.settings.end(), settings.begin(), settings.end());
  Diagnostics diagnostics;
  return io::load_scene(options.bundled_scenes + "/planning/" + name + ".deft.yaml", options, diagnostics);
}

/// scenes/planning/NAME.deft.yaml with settings such as "plan.nodes=100".
inline scene::Scene load_planning(const std::string& name, const std::vector<std::string>& settings = {}) {
  return load_without_hurry(name, {}, settings);
}

/// The same with the baseline search of scenes/planning/single_step/NAME.yaml.
inline scene::Scene load_baseline(const std::string& name, const std::vector<std::string>& settings = {}) {
  return load_without_hurry(name, {"single_step/" + name + ".yaml"}, settings);
}

}  // namespace deft::test
