#include "deft/io/scene/scene_file_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace deft::io {
namespace {

using namespace multibody;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr std::array<std::string_view, 8> kShapeWords{"sphere",    "box",        "capsule", "cylinder",
                                                      "ellipsoid", "half_space", "prism",   "mesh"};

constexpr NumberRange kConcavity{.lower = 0.01, .text = "a number from 0.01 to 1", .upper = 1};

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

/// true, false, or {parts, concavity}. @returns whether it could be read.
bool read_decompose(const YamlNode& node, MeshSpec& mesh, const YamlReader& read) {
  if (node.is_scalar()) {
    const auto yes = read.boolean(node, "mesh decompose");
    if (yes && *yes) mesh.decompose = DecompositionSpec{};
    return yes.has_value();
  }
  if (!read.map(node, "mesh decompose", {"parts", "concavity"})) return false;
  DecompositionSpec how;
  if (const YamlNode* parts = node.find("parts")) {
    const auto count = read.integer(*parts, "mesh decompose parts", 1);
    if (!count) return false;
    how.parts = *count;
  }
  if (const YamlNode* concavity = node.find("concavity")) {
    const auto value = read.number(*concavity, "mesh decompose concavity", kConcavity);
    if (!value) return false;
    how.concavity = *value;
  }
  mesh.decompose = how;
  return true;
}

std::optional<ShapeSpec> read_mesh(const YamlNode& node, const YamlReader& read) {
  if (!read.map(node, "mesh", {"file", "scale", "decompose"})) return std::nullopt;
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
  if (const YamlNode* decompose = node.find("decompose");
      decompose != nullptr && !read_decompose(*decompose, mesh, read))
    return std::nullopt;
  return mesh;
}

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

}  // namespace deft::io
