#include "deft/multibody/mjcf/mjcf_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace deft::multibody::mjcf {
namespace {

using Eigen::Vector3d;

const std::vector<std::string>& types() {
  static const std::vector<std::string> names{"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                              "cylinder", "box",    "mesh",   "sdf"};
  return names;
}

enum Type { kPlane, kHeightField, kSphere, kCapsule, kEllipsoid, kCylinder, kBox, kMesh, kDistanceField };

constexpr int kLastGroupDrawn = 2;
constexpr std::array<double, 2> kFriction{1, 0.005};  // of sliding [-] and turning [m], where a file states none

/// How many sizes a type has where no two ends are given.
std::size_t sizes_of(int type) {
  if (type == kSphere) return 1;
  return type == kCapsule || type == kCylinder ? 2 : 3;
}

bool can_be_stretched(int type) { return type == kCapsule || type == kCylinder || type == kEllipsoid || type == kBox; }

ShapeSpec make_shape(int type, const std::vector<double>& s) {
  if (type == kSphere) return SphereSpec{s[0]};
  if (type == kCapsule) return CapsuleSpec{s[0], 2 * s[1]};
  if (type == kCylinder) return CylinderSpec{s[0], 2 * s[1]};
  if (type == kEllipsoid) return EllipsoidSpec{Vector3d(s.data())};
  return BoxSpec{2 * Vector3d(s.data())};
}

}  // namespace

std::optional<Geometry> GeometryReader::read(const Element& element) const {
  Geometry geometry{.name = values_.text(element, "name")};
  GeometrySpec& spec = geometry.spec;
  spec.where = element.where;
  spec.contact_type = static_cast<unsigned>(values_.integer(element, "contype", 1));
  spec.contact_affinity = static_cast<unsigned>(values_.integer(element, "conaffinity", 1));
  const int group = values_.integer(element, "group", 0);
  geometry.collides = spec.contact_type != 0 || spec.contact_affinity != 0;
  geometry.drawn = group <= kLastGroupDrawn;
  const auto placed = shape(element, geometry.collides);
  if (!placed) return std::nullopt;
  spec.X_LG = placed->X_BG;
  spec.shape = placed->shape;
  friction(element, spec);
  spec.rgba = colour(element);
  if (group >= compiler_.first_group && group <= compiler_.last_group) geometry.solid = solid(element, *placed);
  return geometry;
}

/// An error where it would leave a contact out, a warning where only a picture.
void GeometryReader::refuse(const Element& element, bool collides, const std::string& message) const {
  if (collides)
    values_.error(element, message);
  else
    values_.warning(element, message, "geometries that are only drawn cannot be read and are left out");
}

std::optional<GeometryReader::Placed> GeometryReader::shape(const Element& element, bool collides) const {
  const int type = values_.keyword(element, "type", types(), kSphere);
  Placed placed{.shape = {}, .X_BG = read_pose(element, compiler_, values_)};
  if (type == kMesh) return mesh(element, collides);
  if (type == kHeightField || type == kDistanceField) {
    refuse(element, collides,
           fmt::format("<geom type=\"{}\"> is not read; valid: plane, sphere, capsule, ellipsoid, cylinder, box, mesh",
                       types()[type]));
    return std::nullopt;
  }
  if (type == kPlane) {
    placed.shape = HalfSpaceSpec{Vector3d::UnitZ(), 0.0};
    return placed;
  }
  if (element.find("mesh") != nullptr) {
    refuse(element, collides,
           fmt::format(
               "<geom type=\"{}\" mesh=…>: fitting a shape to a mesh is not read; write its size, or type=\"mesh\"",
               types()[type]));
    return std::nullopt;
  }
  const bool stretched = element.find("fromto") != nullptr && can_be_stretched(type);
  std::size_t needed = sizes_of(type);
  if (stretched) needed = 1;
  auto size = sizes(element, needed, types()[type]);
  if (!size) return std::nullopt;
  if (stretched) {
    const auto half = stretch(element, placed.X_BG);
    if (!half) return std::nullopt;
    *size = type == kCapsule || type == kCylinder ? std::vector<double>{size->front(), *half}
                                                  : std::vector<double>{size->front(), size->front(), *half};
  }
  placed.shape = make_shape(type, *size);
  return placed;
}

/// The first `needed` sizes, which must be positive (a sphere of radius 0 is a point).
std::optional<std::vector<double>> GeometryReader::sizes(const Element& element, std::size_t needed,
                                                         const std::string& type) const {
  const auto read = values_.numbers(element, "size", 1, 3);
  if (!read) {
    if (element.find("size") == nullptr)
      values_.error(element, fmt::format("<geom type=\"{}\"> needs the attribute 'size'", type));
    return std::nullopt;
  }
  const auto end = read->begin() + static_cast<std::ptrdiff_t>(std::min(needed, read->size()));
  if (read->size() < needed || *std::min_element(read->begin(), end) <= 0) {
    values_.error(element, fmt::format("<geom type=\"{}\">: size needs {} positive number{}", type, needed,
                                       needed == 1 ? "" : "s"));
    return std::nullopt;
  }
  return read;
}

/// From the ends of `fromto`: the middle, z from the second to the first. @returns half their distance.
std::optional<double> GeometryReader::stretch(const Element& element, RigidTransform& X_BG) const {
  const auto ends = values_.numbers(element, "fromto", 6, 6);
  if (!ends) return std::nullopt;
  const Vector3d from(ends->data()), to(ends->data() + 3);
  if (from == to) {
    values_.error(element, "<geom>: the two points of fromto are one");
    return std::nullopt;
  }
  X_BG = pose_between(from, to);
  return 0.5 * (from - to).norm();
}

std::optional<GeometryReader::Placed> GeometryReader::mesh(const Element& element, bool collides) const {
  const std::string name = values_.required(element, "mesh");
  const auto found = assets_.meshes.find(name);
  if (found == assets_.meshes.end()) {
    std::vector<std::string> names;
    for (const auto& [known, ignored] : assets_.meshes) names.push_back(known);
    if (!name.empty())
      refuse(element, collides, fmt::format("<geom>: there is no mesh '{}'{}", name, did_you_mean(name, names)));
    return std::nullopt;
  }
  return Placed{found->second.shape, read_pose(element, compiler_, values_) * found->second.X_GM, &found->second};
}

/// Coefficients of sliding and turning; none where the normal force is all there is.
void GeometryReader::friction(const Element& element, GeometrySpec& spec) const {
  std::vector<double> coefficients = values_.numbers(element, "friction", 1, 3).value_or(std::vector<double>{});
  for (std::size_t k = coefficients.size(); k < kFriction.size(); ++k) coefficients.push_back(kFriction[k]);
  read_friction(element, coefficients[0], coefficients[1], values_, spec.mu, spec.torsion);
}

void read_friction(const Element& element, double sliding, double turning, const Values& values,
                   std::optional<double>& mu, std::optional<double>& torsion) {
  const int dimension = values.integer(element, "condim", 3);
  mu = dimension == 1 ? 0.0 : sliding;
  if (dimension >= 4 && sliding > 0 && turning > 0) torsion = turning / sliding;
  if (dimension == 6)
    values.warning(element, "condim 6: friction of rolling is not read (the scene may state `rolling`)",
                   "geometries have condim 6: friction of rolling is not read (the scene may state `rolling`)");
}

std::optional<std::array<double, 4>> GeometryReader::colour(const Element& element) const {
  if (const auto own = values_.colour(element)) return own;
  const auto material = assets_.colours.find(values_.text(element, "material"));
  if (material == assets_.colours.end()) return std::nullopt;
  return material->second;
}

std::optional<SolidSpec> GeometryReader::solid(const Element& element, const Placed& placed) const {
  if (std::holds_alternative<HalfSpaceSpec>(placed.shape)) return std::nullopt;
  SolidSpec solid{.shape = placed.shape, .X_LG = placed.X_BG, .where = element.where};
  if (element.find("mass") != nullptr) solid.mass = values_.number(element, "mass", 0);
  solid.density = values_.number(element, "density", solid.density);
  if (solid.mass.value_or(0) < 0 || solid.density < 0)
    values_.error(element, "<geom>: mass and density must not be negative");
  solid.shell = values_.boolean(element, "shellinertia", placed.mesh != nullptr && placed.mesh->shell);
  if (placed.mesh == nullptr) return solid;
  solid.filling = placed.mesh->filling;
  solid.triangles = placed.mesh->triangles;
  return solid;
}

}  // namespace deft::multibody::mjcf
