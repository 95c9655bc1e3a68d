#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "deft/collision/collision_world.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/multibody/model.hpp"
#include "deft/scene/description/scene_spec.hpp"
#include "deft/scene/scene.hpp"

namespace deft::scene {

/// Coefficient per geometry, pair rule μ = 2μ₁μ₂/(μ₁+μ₂) (0 if both are 0), and the overrides of `friction.pairs`.
class FrictionTable {
 public:
  FrictionTable() = default;
  /// Resolves coefficients and names; unknown names and coefficients that are negative or not finite are errors.
  /// @param geometries  in the order of the models' links and their collision geometries.
  FrictionTable(const WorldSpec& spec, const multibody::Model& model,
                std::span<const collision::GeometryDescription> geometries, Diagnostics& diagnostics);
  /// Friction between geometries `a` and `b`, whatever their order. No allocation.
  PairFriction pair(int a, int b) const;
  /// Whether the friction of turning of any pair comes from a model file.
  bool has_torsion_of_files() const;

 private:
  void add_file_pairs(const WorldSpec& spec);

  std::vector<double> mu_, torsion_;                // by geometry; 0: no torsion
  std::vector<char> is_round_;                      // spheres, ellipsoids, capsules, cylinders
  double rolling_ = 0;                              // of pairs that state none
  std::optional<std::array<double, 3>> ellipsoid_;  // of pairs that state none
  std::unordered_map<std::uint64_t, PairFriction> overrides_;
};

/// Index of every collision geometry, in the order of the models' links, by "model/geometry" with the file's names.
std::map<std::string, int> geometries_by_name(const WorldSpec& spec);

/// True when `name` ("model/link", inline body "ball") matches "ball", "hand::link", "hand/link", "hand::*" or "*".
bool matches_body(const std::string& pattern, const std::string& name);

}  // namespace deft::scene
