// Shapes of problem files of kind `ecp`.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "deft/io/problems/patch_file.hpp"
#include "deft/io/text/json_matrix.hpp"

namespace deft::io {
namespace {

using dynamics::PatchShape;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Json = nlohmann::ordered_json;

const std::vector<std::string> kShapes{"box", "cylinder", "sphere", "ellipsoid", "half_space", "prism", "polytope"};

double positive(const JsonField& field) {
  const double value = field.number();
  if (!(value > 0)) field.fail(fmt::format("must be positive, found {}", value));
  return value;
}

Vector3d positive_vector(const JsonField& field) {
  const Vector3d v = read_vector(field, 3, kCoordinates);
  for (std::size_t k = 0; k < 3; ++k) positive(field.element(k));
  return v;
}

/// Solid where normal·x ≤ offset, the normal made unit.
multibody::HalfSpaceSpec half_space(const JsonField& field) {
  const Vector3d normal = read_vector(field.at("normal"), 3, kCoordinates);
  const auto offset = field.find("offset");
  const double length = normal.stableNorm();
  if (!(length > 0)) field.at("normal").fail("must not be zero");
  return {normal / length, (offset ? offset->number() : 0.0) / length};
}

/// Corners come out counter-clockwise.
multibody::PrismSpec prism(const JsonField& field) {
  const JsonField list = field.at("vertices");
  multibody::PrismSpec out{{}, positive(field.at("height"))};
  for (std::size_t i = 0; i < list.list_size(); ++i) {
    const std::vector<double> p = list.element(i).numbers(2, "x, y");
    out.vertices.emplace_back(p[0], p[1]);
  }
  if (out.vertices.size() < 3) list.fail(fmt::format("has {} corners, needs at least 3", out.vertices.size()));
  double area = 0;
  for (std::size_t i = 0; i < out.vertices.size(); ++i) {
    const Vector2d p = out.vertices[i] - out.vertices[0],
                   q = out.vertices[(i + 1) % out.vertices.size()] - out.vertices[0];
    area += 0.5 * (p.x() * q.y() - p.y() * q.x());
  }
  if (area < 0) std::reverse(out.vertices.begin(), out.vertices.end());
  return out;
}

std::vector<Vector3d> polytope(const JsonField& field) {
  const JsonField list = field.at("vertices");
  std::vector<Vector3d> out;
  for (std::size_t i = 0; i < list.list_size(); ++i) out.emplace_back(read_vector(list.element(i), 3, kCoordinates));
  if (out.size() < 4) list.fail(fmt::format("has {} points, needs at least 4", out.size()));
  return out;
}

/// One shape by its kind, with an optional pose.
PatchShape read_patch_shape(const JsonField& field) {
  PatchShape out;
  out.where = {field.place(), 0, 0};
  std::string word;
  for (const std::string& known : kShapes) {
    if (!field.find(known)) continue;
    if (!word.empty())
      field.fail(fmt::format("has both '{}' and '{}'; a shape is one of: {}", word, known, fmt::join(kShapes, ", ")));
    word = known;
  }
  for (const char* other : {"capsule", "mesh"}) {
    if (field.find(other))
      field.fail(fmt::format(
          "a {} is no shape of this model, which needs intersections of smooth convex inequalities; valid: {}", other,
          fmt::join(kShapes, ", ")));
  }
  if (word.empty()) field.fail(fmt::format("names no shape that is known; valid: {}", fmt::join(kShapes, ", ")));
  const JsonField value = field.at(word);
  if (word == "box") out.shape = multibody::BoxSpec{positive_vector(value.at("size"))};
  if (word == "cylinder")
    out.shape = multibody::CylinderSpec{positive(value.at("radius")), positive(value.at("length"))};
  if (word == "sphere") out.shape = multibody::SphereSpec{positive(value.at("radius"))};
  if (word == "ellipsoid") out.shape = multibody::EllipsoidSpec{positive_vector(value.at("radii"))};
  if (word == "half_space") out.shape = half_space(value);
  if (word == "prism") out.shape = prism(value);
  if (word == "polytope") out.vertices = polytope(value);
  if (const auto pose = field.find("pose")) {
    const dynamics::PatchState at = read_patch_pose(*pose);
    out.X_CG = make_transform(rotation_from_quat_wxyz(at.quat_wxyz), at.p_WC);
  }
  return out;
}

/// A list of numbers, which must be finite.
Json shape_numbers(const auto& values) {
  Json out = Json::array();
  for (const double x : values) {
    if (!std::isfinite(x)) throw std::invalid_argument("write_patch_problem: a number of a shape is not finite");
    out.push_back(x);
  }
  return out;
}

template <class Point>
Json points(const std::vector<Point>& values) {
  Json out = Json::array();
  for (const Point& p : values) out.push_back(shape_numbers(p));
  return out;
}

/// A shape as JSON, by its kind.
struct ShapeJson {
  Json operator()(const multibody::SphereSpec& s) const { return {{"sphere", {{"radius", s.radius}}}}; }
  Json operator()(const multibody::BoxSpec& s) const { return {{"box", {{"size", shape_numbers(s.size)}}}}; }
  Json operator()(const multibody::CylinderSpec& s) const {
    return {{"cylinder", {{"radius", s.radius}, {"length", s.length}}}};
  }
  Json operator()(const multibody::EllipsoidSpec& s) const {
    return {{"ellipsoid", {{"radii", shape_numbers(s.radii)}}}};
  }
  Json operator()(const multibody::HalfSpaceSpec& s) const {
    return {{"half_space", {{"normal", shape_numbers(s.normal)}, {"offset", s.offset}}}};
  }
  Json operator()(const multibody::PrismSpec& s) const {
    return {{"prism", {{"vertices", points(s.vertices)}, {"height", s.height}}}};
  }
  Json operator()(const multibody::CapsuleSpec&) const {
    throw std::invalid_argument("write_patch_problem: a capsule is no shape of this model");
  }
  Json operator()(const multibody::MeshSpec&) const {
    throw std::invalid_argument("write_patch_problem: a mesh is given by its vertices");
  }
};

}  // namespace

dynamics::PatchState read_patch_pose(const JsonField& field) {
  constexpr double kUnit = 1e-6;
  const std::vector<double> q = field.numbers(7, "qw qx qy qz x y z");
  dynamics::PatchState out;
  out.quat_wxyz << q[0], q[1], q[2], q[3];
  out.p_WC << q[4], q[5], q[6];
  const double length = out.quat_wxyz.stableNorm();
  if (!(std::abs(length - 1) <= kUnit))
    field.fail(fmt::format("begins with a quaternion [w x y z] of length {:.9g}, needs 1 (to {:g})", length, kUnit));
  out.quat_wxyz.normalize();
  return out;
}

std::vector<PatchShape> read_patch_shapes(const JsonField& field) {
  std::vector<PatchShape> out;
  if (!field.is_list()) return {read_patch_shape(field)};
  for (std::size_t i = 0; i < field.list_size(); ++i) out.push_back(read_patch_shape(field.element(i)));
  return out;
}

nlohmann::ordered_json patch_shapes_json(const std::vector<PatchShape>& shapes) {
  Json all = Json::array();
  for (const PatchShape& shape : shapes) {
    Json one = shape.vertices.empty() ? std::visit(ShapeJson{}, shape.shape)
                                      : Json{{"polytope", {{"vertices", points(shape.vertices)}}}};
    if (!shape.X_CG.isApprox(RigidTransform::Identity(), 0)) {
      const Eigen::Vector4d q = quat_wxyz_from_rotation(shape.X_CG.linear());
      const Vector3d p = shape.X_CG.translation();
      one["pose"] = shape_numbers(std::array{q(0), q(1), q(2), q(3), p(0), p(1), p(2)});
    }
    all.push_back(std::move(one));
  }
  return all.size() == 1 ? all[0] : all;
}

}  // namespace deft::io
