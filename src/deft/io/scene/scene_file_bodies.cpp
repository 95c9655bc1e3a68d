// `bodies:` of a scene file: primitives that need no model file, one body each.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "deft/collision/shapes/solid.hpp"
#include "deft/io/scene/scene_file_parts.hpp"
#include "deft/io/scene/scene_file_shapes.hpp"

namespace deft::io {
namespace {

using namespace multibody;
using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr std::array<std::string_view, 12> kBodyKeys{"shape",   "shapes", "mass",          "com",
                                                     "inertia", "joint",  "pose",          "mu",
                                                     "color",   "limits", "limit_surface", "description"};

/// The joint of a body and the names of its coordinates: x, y, z along the axes, theta about the plane's normal, s and
/// theta along and about a given axis.
class JointReader {
 public:
  JointReader(const YamlReader& read, JointSpec& joint) : read_(read), joint_(joint) {}

  bool read(const YamlNode& node) {
    if (node.is_scalar() && (node.text == "free" || node.text == "fixed")) {
      joint_.kind = node.text == "free" ? JointKind::kFree : JointKind::kFixed;
      return true;
    }
    std::vector<const YamlEntry*> given;
    for (const YamlEntry& entry : node.entries) {
      if (!entry.value.is_null()) given.push_back(&entry);
    }
    if (!node.is_map() || given.size() != 1) return fail(node);
    joint_.kind = JointKind::kAxes;
    const YamlNode& value = given[0]->value;
    if (given[0]->key == "planar") return planar(value);
    if (given[0]->key == "translation") return translation(value);
    if (given[0]->key == "prismatic") return axis(value, "s", false);
    if (given[0]->key == "revolute") return axis(value, "theta", true);
    return fail(node);
  }

 private:
  bool fail(const YamlNode& node) {
    read_.error(node, fmt::format("joint: cannot read {}; valid: free, fixed, {{planar: xy}}, {{translation: xy}}, "
                                  "{{prismatic: [x, y, z]}}, {{revolute: [x, y, z]}}",
                                  describe(node)));
    return false;
  }

  void add(std::string name, bool rotational, const Vector3d& direction) {
    JointAxisSpec spec;
    spec.coordinate = std::move(name);
    spec.rotational = rotational;
    spec.axis_J = direction;
    joint_.axes.push_back(spec);
  }

  bool planar(const YamlNode& node) {
    static constexpr std::array<std::string_view, 3> kPlanes{"xy", "xz", "yz"};
    const auto plane = read_.word(node, "planar", kPlanes);
    if (!plane) return false;
    for (const char letter : kPlanes[*plane]) add(std::string(1, letter), false, Vector3d::Unit(letter - 'x'));
    add("theta", true, Vector3d::Unit(2 - *plane));
    return true;
  }

  bool translation(const YamlNode& node) {
    static constexpr std::array<std::string_view, 7> kAxes{"x", "y", "z", "xy", "xz", "yz", "xyz"};
    const auto axes = read_.word(node, "translation", kAxes);
    if (!axes) return false;
    for (const char letter : kAxes[*axes]) add(std::string(1, letter), false, Vector3d::Unit(letter - 'x'));
    return true;
  }

  bool axis(const YamlNode& node, const char* name, bool rotational) {
    const auto direction = read_.vector3(node, "joint axis");
    if (!direction) return false;
    if (direction->norm() > 0) {
      add(name, rotational, direction->normalized());
      return true;
    }
    read_.error(node, "joint axis: must not be zero");
    return false;
  }

  const YamlReader& read_;
  JointSpec& joint_;
};

bool read_limits(const YamlNode& node, const YamlReader& read, JointSpec& joint) {
  std::vector<std::string_view> names;
  for (const JointAxisSpec& axis : joint.axes) names.push_back(axis.coordinate);
  if (names.empty()) {
    read.error(node, "limits: this joint has no coordinates to limit");
    return false;
  }
  if (!read.map(node, "limits", names)) return false;
  constexpr NumberRange kAny{-kInfinity, true, true, "a number or inf"};
  for (JointAxisSpec& axis : joint.axes) {
    const YamlNode* value = node.find(axis.coordinate);
    if (value == nullptr) continue;
    const auto limits = read.numbers(*value, "limits " + axis.coordinate, 2, kAny);
    if (!limits) return false;
    if ((*limits)[0] > (*limits)[1])
      read.error(*value, fmt::format("limits {}: the lower one is above the upper one", axis.coordinate));
    axis.lower = (*limits)[0];
    axis.upper = (*limits)[1];
  }
  return true;
}

/// [r, g, b(, a)] from 0 to 1, or "#rrggbb".
std::optional<std::array<double, 4>> read_color(const YamlNode& node, const YamlReader& read) {
  std::array<double, 4> rgba{0, 0, 0, 1};
  if (node.is_scalar() && node.text.size() == 7 && node.text[0] == '#') {
    unsigned hex = 0;
    const auto [end, problem] = std::from_chars(node.text.data() + 1, node.text.data() + 7, hex, 16);
    if (problem == std::errc{} && end == node.text.data() + 7) {
      for (int i = 0; i < 3; ++i) rgba[i] = ((hex >> (16 - 8 * i)) & 0xff) / 255.0;
      return rgba;
    }
  }
  const auto values = node.is_list() ? read.numbers(node, "color", -1, kNotNegative) : std::nullopt;
  if (node.is_list() && !values) return std::nullopt;
  if (!values || values->size() < 3 || values->size() > 4 || *std::max_element(values->begin(), values->end()) > 1) {
    read.error(node, fmt::format("color: expected [r, g, b] or [r, g, b, a] from 0 to 1, or \"#rrggbb\", got {}",
                                 describe(node)));
    return std::nullopt;
  }
  std::copy(values->begin(), values->end(), rgba.begin());
  return rgba;
}

bool add_shape(const YamlNode& node, SceneReading& scene, LinkSpec& link) {
  std::vector<std::string_view> keys(shape_words().begin(), shape_words().end());
  keys.insert(keys.end(), {"pose", "mu", "color"});
  if (!scene.read.map(node, "a shape", keys)) return false;
  GeometrySpec geometry;
  geometry.where = node.where;
  geometry.name = fmt::format("shape_{}", link.collisions.size());
  auto shape = read_shape(node, scene.read);
  if (!shape) return false;
  if (auto* mesh = std::get_if<MeshSpec>(&*shape)) {
    const auto path = scene.find_file(*node.find("mesh")->find("file"), "mesh");
    if (!path) return false;
    mesh->path = *path;
  }
  geometry.shape = *shape;
  if (const YamlNode* pose = node.find("pose")) {
    const auto X = scene.read.pose(*pose, "pose");
    if (!X) return false;
    geometry.X_LG = *X;
  }
  if (const YamlNode* mu = node.find("mu")) geometry.mu = scene.read.number(*mu, "mu", kNotNegative);
  if (const YamlNode* color = node.find("color")) geometry.rgba = read_color(*color, scene.read);
  link.collisions.push_back(geometry);
  return true;
}

/// Leaves the inertia of shapes with meshes among them to those who read meshes. @returns false if one has no solid.
bool leave_to_shapes(double mass, ModelSpec& model) {
  LinkSpec& link = model.links.front();
  for (const GeometrySpec& geometry : link.collisions) {
    if (std::holds_alternative<HalfSpaceSpec>(geometry.shape)) return false;
    link.solids.push_back({.shape = geometry.shape, .X_LG = geometry.X_LG, .where = geometry.where});
  }
  model.inertia_rules.total_mass = mass;
  return true;
}

/// mass, com and inertia; what is left out is that of a uniform solid of the shapes, taken about `com`. Nothing if
/// there is no mass, or if it is left to the shapes.
std::optional<InertialSpec> read_inertial(const YamlNode& node, const YamlReader& read, ModelSpec& model) {
  const YamlNode* mass_node = node.find("mass");
  const YamlNode* inertia_node = node.find("inertia");
  const YamlNode* com_node = node.find("com");
  if (mass_node == nullptr) {
    if (inertia_node != nullptr) read.error(*inertia_node, "inertia needs a mass");
    if (com_node != nullptr) read.error(*com_node, "com needs a mass");
    return std::nullopt;
  }
  const auto mass = read.number(*mass_node, "mass", kNotNegative);
  const auto com = com_node != nullptr ? read.vector3(*com_node, "com") : std::nullopt;
  if (!mass || (com_node != nullptr && !com)) return std::nullopt;
  const auto solid = collision::solid_inertia(model.links.front().collisions, *mass);
  InertialSpec inertial = solid.value_or(InertialSpec{});
  inertial.mass = *mass;
  if (com) {
    const Vector3d d = inertial.p_LCom - *com;
    inertial.I_Com_L += *mass * (d.squaredNorm() * Matrix3d::Identity() - d * d.transpose());
    inertial.p_LCom = *com;
  }
  if (inertia_node == nullptr) {
    if (solid) return inertial;
    if (com)
      read.error(*com_node, "inertia is needed: about a com of its own it is not computed for a mesh or a half-space");
    else if (*mass > 0 && leave_to_shapes(*mass, model))
      return std::nullopt;
    else
      read.error(*mass_node, "inertia is needed: it cannot be computed for a half-space, nor for a mesh without mass");
    return inertial;
  }
  const bool six = inertia_node->is_list() && inertia_node->items.size() == 6;
  const auto I = read.numbers(*inertia_node, "inertia [ixx, iyy, izz(, ixy, ixz, iyz)]", six ? 6 : 3);
  if (!I) return std::nullopt;
  const auto at = [&](std::size_t i) { return i < I->size() ? (*I)[i] : 0.0; };
  inertial.I_Com_L << at(0), at(3), at(4), at(3), at(1), at(5), at(4), at(5), at(2);
  return inertial;
}

void add_shapes(const YamlNode& node, SceneReading& scene, LinkSpec& link) {
  const YamlReader& read = scene.read;
  const YamlNode* shape = node.find("shape");
  const YamlNode* shapes = node.find("shapes");
  if (shape != nullptr) add_shape(*shape, scene, link);
  if (shape != nullptr && shapes != nullptr) read.error(*shapes, "give either shape or shapes, not both");
  if (shapes != nullptr && read.list(*shapes, "shapes")) {
    for (const YamlNode& item : shapes->items) add_shape(item, scene, link);
  }
  const auto mu = node.find("mu") != nullptr ? read.number(*node.find("mu"), "mu", kNotNegative) : std::nullopt;
  const auto color = node.find("color") != nullptr ? read_color(*node.find("color"), read) : std::nullopt;
  for (GeometrySpec& geometry : link.collisions) {
    if (!geometry.mu) geometry.mu = mu;
    if (!geometry.rgba) geometry.rgba = color;
  }
}

/// The one link of the model, its joint and pose. The joint frame and the link frame coincide; a free body has no
/// joint.
void read_body(const YamlNode& node, SceneReading& scene, ModelSpec& model) {
  const YamlReader& read = scene.read;
  if (!read.map(node, fmt::format("body '{}'", model.name), kBodyKeys)) return;
  LinkSpec& link = model.links.front();
  add_shapes(node, scene, link);
  link.inertial = read_inertial(node, read, model);
  if (const YamlNode* pose = node.find("pose"))
    model.X_WModel = read.pose(*pose, "pose").value_or(RigidTransform::Identity());
  if (const YamlNode* limit_surface = node.find("limit_surface")) read_limit_surface(*limit_surface, model.name, scene);
  const YamlNode* joint_node = node.find("joint");
  if (joint_node == nullptr) {
    read.error(node, fmt::format("body '{}' needs 'joint' (free, fixed, {{planar: xy}}, …)", model.name));
    return;
  }
  JointSpec joint;
  joint.name = "joint";
  joint.child = link.name;
  joint.where = joint_node->where;
  if (!JointReader(read, joint).read(*joint_node)) return;
  if (const YamlNode* limits = node.find("limits")) read_limits(*limits, read, joint);
  if (joint.kind != JointKind::kFree) model.joints.push_back(std::move(joint));
}

/// Fixes a body that could not be read, so that nothing more is said about its motion and mass.
void hold_still(ModelSpec& model) {
  JointSpec joint;
  joint.name = "joint";
  joint.child = model.links.front().name;
  model.joints = {joint};
  model.links.front().inertial.reset();
}

}  // namespace

void read_bodies(const YamlNode& bodies, SceneReading& scene) {
  if (!scene.read.any_map(bodies, "bodies")) return;
  for (const YamlEntry& entry : bodies.entries) {
    if (entry.value.is_null()) continue;  // an overlay took it away
    const int errors_before = scene.diagnostics.error_count();
    ModelSpec model;
    model.name = entry.key;
    model.inline_body = true;
    model.where = entry.where;
    model.links.resize(1);
    model.links[0].name = entry.key;
    model.links[0].where = entry.where;
    read_body(entry.value, scene, model);
    if (scene.diagnostics.error_count() == errors_before) scene.files.weigh(model, scene.diagnostics);
    if (scene.diagnostics.error_count() > errors_before) {
      scene.unreadable.insert(entry.key);
      hold_still(model);
    }
    scene.append_model(std::move(model), entry.where);
  }
}

}  // namespace deft::io
