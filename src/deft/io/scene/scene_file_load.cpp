#include "deft/io/scene/scene_file.hpp"

namespace deft::io {

scene::Scene load_scene(const std::string& path, const SceneFileOptions& options, Diagnostics& diagnostics) {
  auto spec = read_scene_file(path, options, diagnostics);
  if (!spec) throw InputError(diagnostics.all());
  return scene::Scene::build(std::move(*spec), diagnostics);
}

}  // namespace deft::io
