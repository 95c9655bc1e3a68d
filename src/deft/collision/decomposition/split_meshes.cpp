#include "deft/collision/decomposition/split_meshes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "deft/collision/decomposition/part_files.hpp"

namespace deft::collision {
namespace {

using multibody::GeometrySpec;
using multibody::LinkSpec;
using multibody::MeshSpec;

const MeshSpec* to_split(const GeometrySpec& geometry) {
  const auto* mesh = std::get_if<MeshSpec>(&geometry.shape);
  return mesh != nullptr && mesh->decompose ? mesh : nullptr;
}

void split(LinkSpec& link, Diagnostics& diagnostics) {
  if (link.visuals.empty()) link.visuals = link.collisions;
  std::vector<GeometrySpec> collisions;
  for (const GeometrySpec& geometry : std::exchange(link.collisions, {})) {
    const MeshSpec* const mesh = to_split(geometry);
    if (mesh == nullptr) {
      collisions.push_back(geometry);
      continue;
    }
    try {
      int number = 0;
      for (const std::string& file : part_files(*mesh)) {
        GeometrySpec& part = collisions.emplace_back(geometry);
        part.name = fmt::format("{}_{}", geometry.name, number++);
        part.shape = MeshSpec{.path = file, .is_convex = true};
      }
    } catch (const InputError& error) {
      for (const Diagnostic& found : error.diagnostics())
        diagnostics.error(geometry.where, found.where.file.empty()
                                              ? found.message
                                              : fmt::format("mesh '{}': {}", found.where.file, found.message));
    }
  }
  link.collisions = std::move(collisions);
}

}  // namespace

void split_meshes(multibody::ModelSpec& model, Diagnostics& diagnostics) {
  for (LinkSpec& link : model.links)
    if (std::any_of(link.collisions.begin(), link.collisions.end(), to_split)) split(link, diagnostics);
}

}  // namespace deft::collision
