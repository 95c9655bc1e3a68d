#pragma once
// Geometries of MJCF and the meshes that they name.

#include <span>
#include <string>
#include <vector>

#include "deft/exporters/assets.hpp"
#include "deft/exporters/link_tree.hpp"

namespace tinyxml2 {
class XMLElement;
}

namespace deft::exporters {

/// Writes `<geom>` elements; what they need of meshes is written at the end.
class MjcfShapes {
 public:
  /// @param folder  what `assets` is made in, where there are meshes.
  /// @param notes   gets remarks.
  MjcfShapes(std::string folder, std::vector<std::string>& notes) : assets_(std::move(folder)), notes_(notes) {}

  /// What collides: meshes and prisms as their convex hulls, group 3 where the body has other shapes to look at.
  /// @throws InputError for a half-space on a body that moves.
  void add_colliding(tinyxml2::XMLElement& body, const LinkGeometry& geometry, bool is_fixed, double mu, bool is_drawn);
  /// What is drawn and touches nothing, group 2; a mesh that cannot be read and a
  /// half-space on a body that moves become notes.
  void add_drawn(tinyxml2::XMLElement& body, const multibody::GeometrySpec& geometry, bool is_fixed);

  /// Fills `<asset>` and writes the files of meshes.
  void write_assets(tinyxml2::XMLElement& assets);
  /// Written by write_assets.
  std::span<const std::string> files() const { return assets_.files(); }

 private:
  struct Mesh {
    std::string name, file;        // of drawn ones
    std::vector<double> vertices;  // of hulls
  };
  std::string add_file(const collision::TriangleMesh& mesh);

  Assets assets_;
  std::vector<std::string>& notes_;
  std::vector<Mesh> meshes_;
  int points_ = 0;  // spheres without a radius
};

}  // namespace deft::exporters
