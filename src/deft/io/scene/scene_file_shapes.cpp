#include "deft/io/scene/scene_file_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace deft::io {
namespace {

using namespace multibody;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr std::array<std::string_view, 8> kShapeWords{"sphere",    "box",        "capsule", "cylinder",
                                                      "ellipsoid", "half_space", "prism",   "mesh"};

double cross(const Vector2d& a, const Vector2d& b) { return a.x() * b.y() - a.y() * b.x(); }

/// The value of a key that must be there.
const YamlNode* required(const YamlNode& node, std::string_view key, std::string_view what, const YamlReader& read) {
  const YamlNode* value = node.find(key);
  if (value == nullptr) read.error(node, fmt::format("{} needs '{}'", what, key));
  return value;
}

std::optional<double> required_number(const YamlNode& node, std::string_view key, std::string_view what,
                                      const NumberRange& range, const YamlReader& read) {
  const YamlNode* value = required(node, key, what, read);
  return value != nullptr ? read.number(*value, fmt::format("{} {}", what, key), range) : std::nullopt;
}

std::optional<Vector3d> required_vector(const YamlNode& node, std::string_view key, std::string_view what,
                                        const NumberRange& range, const YamlReader& read) {
  const YamlNode* value = required(node, key, what, read);
  return value != nullptr ? read.vector3(*value, fmt::format("{} {}", what, key), range) : std::nullopt;
}

template <typename Shape>
std::optional<ShapeSpec> read_round(const YamlNode& node, std::string_view what, const YamlReader& read) {
  if (!read.map(node, what, {"radius", "length"})) return std::nullopt;
  const auto radius = required_number(node, "radius", what, kPositive, read);
  const auto length = required_number(node, "length", what, kPositive, read);
  if (!radius || !length) return std::nullopt;
  return Shape{*radius, *length};
}

std::optional<ShapeSpec> read_half_space(const YamlNode& node, const YamlReader& read) {
  if (!read.map(node, "half_space", {"normal", "offset"})) return std::nullopt;
  const auto normal = required_vector(node, "normal", "half_space", kFinite, read);
  const YamlNode* offset_node = node.find("offset");
  const auto offset = offset_node != nullptr ? read.number(*offset_node, "half_space offset") : 0.0;
  if (!normal || !offset) return std::nullopt;
  const double length = normal->norm();
  if (length > 0) return HalfSpaceSpec{*normal / length, *offset / length};  // the same set: normal·x ≤ offset
  read.error(*node.find("normal"), "half_space normal: must not be zero");
  return std::nullopt;
}

std::optional<ShapeSpec> read_prism(const YamlNode& node, const YamlReader& read) {
  if (!read.map(node, "prism", {"vertices", "height"})) return std::nullopt;
  const YamlNode* list = required(node, "vertices", "prism", read);
  const auto height = required_number(node, "height", "prism", kPositive, read);
  if (list == nullptr || !height || !read.list(*list, "prism vertices")) return std::nullopt;
  PrismSpec prism{{}, *height};
  for (const YamlNode& item : list->items) {
    if (const auto xy = read.numbers(item, "prism vertex", 2)) prism.vertices.emplace_back((*xy)[0], (*xy)[1]);
  }
  const std::size_t n = prism.vertices.size();
  if (n != list->items.size()) return std::nullopt;
  double area = 0, least_turn = kInfinity, greatest_turn = -kInfinity, winding = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Vector2d &a = prism.vertices[i], &b = prism.vertices[(i + 1) % n], &c = prism.vertices[(i + 2) % n];
    area += cross(a, b) / 2;
    const double turn = cross(b - a, c - b);
    least_turn = std::min(least_turn, turn);
    greatest_turn = std::max(greatest_turn, turn);
    winding += std::atan2(turn, (b - a).dot(c - b));
  }
  // Convex: every corner turns the same way, and all of them together once around.
  const bool convex = n >= 3 && (least_turn >= 0 || greatest_turn <= 0) && std::abs(area) > 0 &&
                      std::abs(winding) < 2.5 * std::numbers::pi;
  if (!convex) {
    read.error(*list, "prism vertices: expected the corners of a convex polygon, in order, at least 3");
    return std::nullopt;
  }
  if (area < 0) std::reverse(prism.vertices.begin(), prism.vertices.end());
  return prism;
}

std::optional<ShapeSpec> read_mesh(const YamlNode& node, const YamlReader& read) {
  if (!read.map(node, "mesh", {"file", "scale"})) return std::nullopt;
  const YamlNode* file = required(node, "file", "mesh", read);
  const auto path = file != nullptr ? read.text(*file, "mesh file") : std::nullopt;
  if (!path) return std::nullopt;
  MeshSpec mesh{*path};
  if (const YamlNode* scale = node.find("scale")) {
    const auto one = scale->is_scalar() ? read.number(*scale, "mesh scale", kPositive) : std::nullopt;
    const auto three = scale->is_scalar() ? (one ? std::optional(Vector3d::Constant(*one).eval()) : std::nullopt)
                                          : read.vector3(*scale, "mesh scale", kPositive);
    if (!three) return std::nullopt;
    mesh.scale = *three;
  }
  return mesh;
}

SolidProperties ellipsoid_solid(const Vector3d& r) {
  const double V = 4.0 / 3.0 * std::numbers::pi * r.prod();
  const Vector3d s = r.cwiseAbs2();
  return {V, Vector3d::Zero(), (V / 5 * Vector3d(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())).asDiagonal()};
}

SolidProperties box_solid(const Vector3d& size) {
  const double V = size.prod();
  const Vector3d s = size.cwiseAbs2();
  return {V, Vector3d::Zero(), (V / 12 * Vector3d(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())).asDiagonal()};
}

SolidProperties cylinder_solid(double r, double l) {
  const double V = std::numbers::pi * r * r * l;
  const double across = V * (3 * r * r + l * l) / 12;
  return {V, Vector3d::Zero(), Vector3d(across, across, V * r * r / 2).asDiagonal()};
}

/// A cylinder and two half-balls, whose centroids lie 3r/8 beyond the cylinder's ends.
SolidProperties capsule_solid(double r, double l) {
  SolidProperties solid = cylinder_solid(r, l);
  const double V = 4.0 / 3.0 * std::numbers::pi * r * r * r;
  const double across = V * (2.0 / 5.0 * r * r + l * l / 4 + 3.0 / 8.0 * r * l);
  solid.volume += V;
  solid.I_Com_G += Vector3d(across, across, V * 2.0 / 5.0 * r * r).asDiagonal();
  return solid;
}

/// Moments of a polygon by Green's theorem, triangle by triangle from the first corner (which keeps the numbers small).
SolidProperties prism_solid(const PrismSpec& prism) {
  const Vector2d o = prism.vertices[0];
  double area = 0;
  Vector2d first = Vector2d::Zero();
  Eigen::Matrix2d second = Eigen::Matrix2d::Zero();
  for (std::size_t i = 1; i + 1 < prism.vertices.size(); ++i) {
    const Vector2d a = prism.vertices[i] - o, b = prism.vertices[i + 1] - o;
    const double A = cross(a, b) / 2;
    area += A;
    first += A * (a + b) / 3;
    second += A / 12 * (a * a.transpose() + b * b.transpose() + (a + b) * (a + b).transpose());
  }
  const Vector2d c = first / area;
  second -= area * c * c.transpose();
  const double H = prism.height, zz = area * H * H * H / 12;
  SolidProperties solid{area * H, Vector3d(o.x() + c.x(), o.y() + c.y(), 0), Matrix3d::Zero()};
  solid.I_Com_G << H * second(1, 1) + zz, -H * second(0, 1), 0, -H * second(0, 1), H * second(0, 0) + zz, 0, 0, 0,
      H * second.trace();
  return solid;
}

Matrix3d point_inertia(const Vector3d& d) { return d.squaredNorm() * Matrix3d::Identity() - d * d.transpose(); }

}  // namespace

std::span<const std::string_view> shape_words() { return kShapeWords; }

std::optional<ShapeSpec> read_shape(const YamlNode& node, const YamlReader& read) {
  std::vector<const YamlEntry*> named;
  for (const YamlEntry& entry : node.entries) {
    if (!entry.value.is_null() && std::find(kShapeWords.begin(), kShapeWords.end(), entry.key) != kShapeWords.end())
      named.push_back(&entry);
  }
  if (named.size() != 1) {
    read.error(node, fmt::format("a shape is one of {{{}: …}}", fmt::join(kShapeWords, ": …} {")));
    return std::nullopt;
  }
  const std::string& word = named[0]->key;
  const YamlNode& value = named[0]->value;
  if (word == "sphere") {
    if (!read.map(value, "sphere", {"radius"})) return std::nullopt;
    const auto radius = required_number(value, "radius", "sphere", kNotNegative, read);
    return radius ? std::optional<ShapeSpec>(SphereSpec{*radius}) : std::nullopt;
  }
  if (word == "box") {
    if (!read.map(value, "box", {"size"})) return std::nullopt;
    const auto size = required_vector(value, "size", "box", kPositive, read);
    return size ? std::optional<ShapeSpec>(BoxSpec{*size}) : std::nullopt;
  }
  if (word == "ellipsoid") {
    if (!read.map(value, "ellipsoid", {"radii"})) return std::nullopt;
    const auto radii = required_vector(value, "radii", "ellipsoid", kPositive, read);
    return radii ? std::optional<ShapeSpec>(EllipsoidSpec{*radii}) : std::nullopt;
  }
  if (word == "capsule") return read_round<CapsuleSpec>(value, "capsule", read);
  if (word == "cylinder") return read_round<CylinderSpec>(value, "cylinder", read);
  if (word == "half_space") return read_half_space(value, read);
  if (word == "prism") return read_prism(value, read);
  return read_mesh(value, read);
}

std::optional<SolidProperties> solid_properties(const ShapeSpec& shape) {
  if (const auto* sphere = std::get_if<SphereSpec>(&shape)) return ellipsoid_solid(Vector3d::Constant(sphere->radius));
  if (const auto* ellipsoid = std::get_if<EllipsoidSpec>(&shape)) return ellipsoid_solid(ellipsoid->radii);
  if (const auto* box = std::get_if<BoxSpec>(&shape)) return box_solid(box->size);
  if (const auto* cylinder = std::get_if<CylinderSpec>(&shape))
    return cylinder_solid(cylinder->radius, cylinder->length);
  if (const auto* capsule = std::get_if<CapsuleSpec>(&shape)) return capsule_solid(capsule->radius, capsule->length);
  if (const auto* prism = std::get_if<PrismSpec>(&shape)) return prism_solid(*prism);
  return std::nullopt;
}

std::optional<InertialSpec> solid_inertia(const std::vector<GeometrySpec>& shapes, double mass) {
  std::vector<SolidProperties> solids;
  InertialSpec inertial;
  inertial.mass = mass;
  double volume = 0;
  for (const GeometrySpec& geometry : shapes) {
    const auto solid = solid_properties(geometry.shape);
    if (!solid) return std::nullopt;
    solids.push_back(*solid);
    volume += solid->volume;
  }
  const auto weight = [&](std::size_t i) {
    return volume > 0 ? solids[i].volume / volume : 1.0 / static_cast<double>(solids.size());
  };
  for (std::size_t i = 0; i < solids.size(); ++i) inertial.p_LCom += weight(i) * (shapes[i].X_LG * solids[i].p_GCom);
  if (volume <= 0) return inertial;
  for (std::size_t i = 0; i < solids.size(); ++i) {
    const Matrix3d R = shapes[i].X_LG.linear();
    const Vector3d d = shapes[i].X_LG * solids[i].p_GCom - inertial.p_LCom;
    inertial.I_Com_L += mass / volume * (R * solids[i].I_Com_G * R.transpose() + solids[i].volume * point_inertia(d));
  }
  return inertial;
}

}  // namespace deft::io
