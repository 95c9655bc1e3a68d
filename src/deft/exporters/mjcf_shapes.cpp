#include "deft/exporters/mjcf_shapes.hpp"

#include <fmt/format.h>
#include <tinyxml2.h>

#include "deft/exporters/xml_text.hpp"
#include "deft/plant/plant_parts.hpp"

namespace deft::exporters {
namespace {

using tinyxml2::XMLElement;

constexpr const char *kDrawnGroup = "2", *kCollidingGroup = "3";

/// type, size and pose of a primitive; false for what only a mesh can be.
struct Primitive {
  XMLElement& geom;
  const multibody::GeometrySpec& spec;
  bool is_fixed;
  int& points;

  bool sized(const char* type, std::initializer_list<double> sizes) {
    geom.SetAttribute("type", type);
    set(geom, "size", sizes);
    set_pose(geom, spec.X_LG);
    return true;
  }
  bool operator()(const multibody::SphereSpec& s) {
    points += s.radius < plant::kPointRadius_m;
    return sized("sphere", {std::max(s.radius, plant::kPointRadius_m)});
  }
  bool operator()(const multibody::BoxSpec& s) {
    return sized("box", {0.5 * s.size.x(), 0.5 * s.size.y(), 0.5 * s.size.z()});
  }
  bool operator()(const multibody::CapsuleSpec& s) {
    return s.length > 0 ? sized("capsule", {s.radius, 0.5 * s.length}) : (*this)(multibody::SphereSpec{s.radius});
  }
  bool operator()(const multibody::CylinderSpec& s) { return sized("cylinder", {s.radius, 0.5 * s.length}); }
  bool operator()(const multibody::EllipsoidSpec& s) {
    return sized("ellipsoid", {s.radii.x(), s.radii.y(), s.radii.z()});
  }
  bool operator()(const multibody::HalfSpaceSpec& s) {
    if (!is_fixed)
      throw InputError(spec.where, fmt::format("geometry '{}' is a half-space on a body that moves; MuJoCo has them on "
                                               "fixed bodies only",
                                               spec.name));
    geom.SetAttribute("type", "plane");
    geom.SetAttribute("size", "0 0 1");
    set_pose(geom, spec.X_LG * plane_pose(s));
    return true;
  }
  bool operator()(const multibody::PrismSpec&) { return false; }
  bool operator()(const multibody::MeshSpec&) { return false; }
};

void set_mesh(XMLElement& geom, const std::string& name, const RigidTransform& X) {
  geom.SetAttribute("type", "mesh");
  geom.SetAttribute("mesh", name.c_str());
  set_pose(geom, X);
}

}  // namespace

void MjcfShapes::add_colliding(XMLElement& body, const LinkGeometry& geometry, bool is_fixed, double mu,
                               bool is_drawn) {
  XMLElement* const geom = body.InsertNewChildElement("geom");
  geom->SetAttribute("name", geometry.name.c_str());
  if (!std::visit(Primitive{*geom, *geometry.spec, is_fixed, points_}, geometry.spec->shape)) {
    meshes_.push_back({"hull_" + std::to_string(meshes_.size()), "", hull_of(*geometry.spec).vertices});
    set_mesh(*geom, meshes_.back().name, geometry.spec->X_LG);
  }
  set(*geom, "friction", std::array{mu, 0.0, 0.0});
  if (is_drawn) geom->SetAttribute("group", kCollidingGroup);
}

void MjcfShapes::add_drawn(XMLElement& body, const multibody::GeometrySpec& spec, bool is_fixed) {
  if (!is_fixed && std::holds_alternative<multibody::HalfSpaceSpec>(spec.shape))
    return notes_.push_back(fmt::format("'{}' is not drawn: a half-space on a body that moves", spec.name));
  for (const DrawnPart& part : drawn_parts(spec, notes_)) {
    XMLElement* const geom = body.InsertNewChildElement("geom");
    geom->SetAttribute("group", kDrawnGroup);
    geom->SetAttribute("contype", 0);
    geom->SetAttribute("conaffinity", 0);
    if (part.rgba) set(*geom, "rgba", *part.rgba);
    if (part.mesh) {
      set_mesh(*geom, add_file(*part.mesh), spec.X_LG);
    } else if (!std::visit(Primitive{*geom, spec, true, points_}, spec.shape)) {
      meshes_.push_back({"hull_" + std::to_string(meshes_.size()), "", hull_of(spec).vertices});
      set_mesh(*geom, meshes_.back().name, spec.X_LG);
    }
  }
}

/// @returns the name of the mesh.
std::string MjcfShapes::add_file(const collision::TriangleMesh& mesh) {
  const std::string file = assets_.add(mesh);
  meshes_.push_back({file.substr(0, file.rfind('.')), file, {}});
  return meshes_.back().name;
}

void MjcfShapes::write_assets(XMLElement& assets) {
  if (points_ > 0)
    notes_.push_back(fmt::format("{} points are spheres of radius {} m", points_, plant::kPointRadius_m));
  for (const Mesh& mesh : meshes_) {
    XMLElement* const element = assets.InsertNewChildElement("mesh");
    element->SetAttribute("name", mesh.name.c_str());
    if (mesh.file.empty())
      set(*element, "vertex", mesh.vertices);
    else
      element->SetAttribute("file", mesh.file.c_str());
    element->SetAttribute("inertia", mesh.file.empty() ? "convex" : "shell");
  }
}

}  // namespace deft::exporters
