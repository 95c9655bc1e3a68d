#include "deft/scene/description/model_files.hpp"

#include <utility>

#include "deft/collision/shapes/weigh.hpp"
#include "deft/multibody/load_model.hpp"

namespace deft::scene {

ModelFiles::ModelFiles(const std::vector<std::string>& package_paths, const std::string& bundled_scenes) {
  for (const std::string& folder : package_paths) packages_.add_package_path(folder);
  if (!bundled_scenes.empty()) packages_.set_bundled_scenes(bundled_scenes);
}

ModelFiles::Place ModelFiles::find(const std::string& uri, const std::string& speaking_file) const {
  multibody::PackageMap::Result result = packages_.resolve(uri, speaking_file);
  return {std::move(result.path), std::move(result.tried)};
}

std::optional<multibody::ModelSpec> ModelFiles::load(const std::string& path, Diagnostics& diagnostics) const {
  std::optional<multibody::ModelSpec> model = multibody::load_model(path, packages_, diagnostics);
  if (!model) return model;
  const int before = diagnostics.error_count();
  weigh(*model, diagnostics);
  if (diagnostics.error_count() > before) return std::nullopt;
  return model;
}

void ModelFiles::weigh(multibody::ModelSpec& model, Diagnostics& diagnostics) { collision::weigh(model, diagnostics); }

}  // namespace deft::scene
