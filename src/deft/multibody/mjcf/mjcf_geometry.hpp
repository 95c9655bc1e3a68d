#pragma once
// `<geom>`: shape, place, friction, what it collides with and what it weighs.

#include <optional>
#include <set>
#include <string>

#include "deft/multibody/mjcf/mjcf_assets.hpp"

namespace deft::multibody::mjcf {

/// One `<geom>`.
struct Geometry {
  std::string name;                // of the file, may be empty
  GeometrySpec spec;               // shape and place in the body, friction, bits
  std::optional<SolidSpec> solid;  // what it weighs; nothing for planes and groups that do not count
  bool collides = true;            // some bit is set
  bool drawn = true;               // in one of the groups that MuJoCo draws unless told otherwise, 0 to 2
};

/// Friction of a geometry or pair by its `condim`: 1: none; 3: sliding; 4 and 6: turning too, `torsion` [m] is its
/// coefficient over that of sliding.
void read_friction(const Element& element, double sliding, double turning, const Values& values,
                   std::optional<double>& mu, std::optional<double>& torsion);

/// Reads geometries. The elements are those with their defaults.
class GeometryReader {
 public:
  /// All must outlive this object.
  GeometryReader(const Compiler& compiler, const Assets& assets, const Values& values)
      : compiler_(compiler), assets_(assets), values_(values) {}

  /// Nothing after an error, and where nothing collides with what cannot be read.
  std::optional<Geometry> read(const Element& element) const;

 private:
  struct Placed {
    ShapeSpec shape;
    RigidTransform X_BG = RigidTransform::Identity();
    const MeshAsset* mesh = nullptr;
  };
  std::optional<Placed> shape(const Element& element, bool collides) const;
  std::optional<Placed> mesh(const Element& element, bool collides) const;
  std::optional<std::vector<double>> sizes(const Element& element, std::size_t needed, const std::string& type) const;
  std::optional<double> stretch(const Element& element, RigidTransform& X_BG) const;
  void refuse(const Element& element, bool collides, const std::string& message) const;
  std::optional<std::array<double, 4>> colour(const Element& element) const;
  std::optional<SolidSpec> solid(const Element& element, const Placed& placed) const;
  void friction(const Element& element, GeometrySpec& spec) const;

  const Compiler& compiler_;
  const Assets& assets_;
  const Values& values_;
};

}  // namespace deft::multibody::mjcf
