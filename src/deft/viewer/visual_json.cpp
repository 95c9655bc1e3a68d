#include "deft/viewer/visual_json.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "deft/collision/shapes/painted_mesh.hpp"
#include "deft/core/log.hpp"
#include "deft/core/quote.hpp"
#include "deft/math/uniform_pressure.hpp"
#include "deft/scene/scene.hpp"
#include "deft/scene/support_axes.hpp"

namespace deft::viewer {
namespace {

using namespace scene;

/// A JSON number; infinity as the strings of the conventions.
std::string number(double value) {
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return fmt::format("{}", value);
}

template <typename Range>
std::string list(const Range& values) {
  std::string out = "[";
  for (const auto& value : values) out += (out.size() > 1 ? "," : "") + number(static_cast<double>(value));
  return out + "]";
}

std::string pose(const RigidTransform& X) {
  const Eigen::Vector4d quat = quat_wxyz_from_rotation(X.linear());
  const Eigen::Vector3d p = X.translation();
  return list(std::array<double, 7>{quat(0), quat(1), quat(2), quat(3), p.x(), p.y(), p.z()});
}

/// In single precision, which is what is drawn.
std::string rounded_list(const std::vector<double>& values) {
  std::string out = "[";
  for (const double value : values) out += fmt::format("{}{}", out.size() > 1 ? "," : "", static_cast<float>(value));
  return out + "]";
}

std::string triangles(const std::vector<double>& vertices, const std::vector<int>& indices,
                      const std::vector<double>& colours = {}) {
  const std::string painted = colours.empty() ? "" : R"(,"colors":)" + rounded_list(colours);
  return fmt::format(R"({{"type":"mesh","vertices":{},"triangles":{}{}}})", rounded_list(vertices), list(indices),
                     painted);
}

/// Bottom and top polygons as fans, two triangles per side.
std::string prism(const multibody::PrismSpec& spec) {
  std::vector<double> vertices;
  std::vector<int> indices;
  const int n = static_cast<int>(spec.vertices.size());
  for (const double z : {-0.5 * spec.height, 0.5 * spec.height}) {
    for (const Eigen::Vector2d& v : spec.vertices) vertices.insert(vertices.end(), {v.x(), v.y(), z});
  }
  for (int i = 1; i + 1 < n; ++i) {
    indices.insert(indices.end(), {0, i + 1, i});
    indices.insert(indices.end(), {n, n + i, n + i + 1});
  }
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    indices.insert(indices.end(), {i, j, n + j, i, n + j, n + i});
  }
  return triangles(vertices, indices);
}

struct ShapeJson {
  std::string operator()(const multibody::SphereSpec& s) const {
    return fmt::format(R"({{"type":"sphere","radius":{}}})", number(s.radius));
  }
  std::string operator()(const multibody::BoxSpec& s) const {
    return fmt::format(R"({{"type":"box","size":{}}})", list(s.size));
  }
  std::string operator()(const multibody::CapsuleSpec& s) const {
    return fmt::format(R"({{"type":"capsule","radius":{},"length":{}}})", number(s.radius), number(s.length));
  }
  std::string operator()(const multibody::CylinderSpec& s) const {
    return fmt::format(R"({{"type":"cylinder","radius":{},"length":{}}})", number(s.radius), number(s.length));
  }
  std::string operator()(const multibody::EllipsoidSpec& s) const {
    return fmt::format(R"({{"type":"ellipsoid","radii":{}}})", list(s.radii));
  }
  std::string operator()(const multibody::HalfSpaceSpec& s) const {
    return fmt::format(R"({{"type":"half_space","normal":{},"offset":{}}})", list(s.normal), number(s.offset));
  }
  std::string operator()(const multibody::PrismSpec& s) const { return prism(s); }
  std::string operator()(const multibody::MeshSpec& s) const {
    const collision::TriangleMesh mesh = collision::read_mesh(s);
    return triangles(mesh.vertices, mesh.triangles);
  }
};

/// A shape and its colour: the model's, else the file's.
struct Drawn {
  std::string shape;
  std::optional<std::array<double, 4>> rgba;
};

/// One, or of a mesh that is drawn one of each material.
std::vector<Drawn> drawn(const multibody::GeometrySpec& geometry) {
  const auto* const mesh = std::get_if<multibody::MeshSpec>(&geometry.shape);
  if (!mesh) return {{std::visit(ShapeJson{}, geometry.shape), geometry.rgba}};
  std::vector<Drawn> parts;
  for (const collision::PaintedMesh& part : collision::read_painted_mesh(*mesh)) {
    const bool has_own = !geometry.rgba;
    parts.push_back({triangles(part.mesh.vertices, part.mesh.triangles, has_own ? part.colours : std::vector<double>{}),
                     has_own ? part.rgba : geometry.rgba});
  }
  return parts;
}

std::string geometries(const std::vector<multibody::GeometrySpec>& specs) {
  std::string out = "[";
  for (const multibody::GeometrySpec& geometry : specs) {
    std::vector<Drawn> parts;
    try {
      parts = drawn(geometry);
    } catch (const InputError& error) {  // a picture without one mesh is better than none; collision meshes were read
                                         // when building
      log::warning(fmt::format("{} is not drawn: {}", geometry.name, error.what()));
    }
    for (const Drawn& part : parts) {
      if (out.size() > 1) out += ",";
      out += fmt::format(R"({{"X_BG":{},)", pose(geometry.X_LG));
      if (part.rgba) out += fmt::format(R"("rgba":{},)", list(*part.rgba));
      out += fmt::format(R"("shape":{}}})", part.shape);
    }
  }
  return out + "]";
}

std::string role(const Scene& scene, int index) {
  const multibody::BodyInfo& body = scene.model().bodies()[index];
  if (body.model < 0) return "world";
  if (body.weld_group == 0) return "fixed";
  const Object* const object = scene.object_of(index);
  return object != nullptr && !object->is_base ? "object" : "robot";
}

const multibody::LinkSpec* find_link(const WorldSpec& spec, const multibody::BodyInfo& body) {
  if (body.model < 0) return nullptr;
  for (const multibody::LinkSpec& link : spec.world.models[body.model].links) {
    if (link.name == body.link) return &link;
  }
  return nullptr;
}

/// Loads on the limit surface of a flat support, by the directions of the twists that they drive.
std::string loads(const UniformPressure& support, double gyration_m) {
  constexpr int kRows = 19, kColumns = 36;
  std::string out;
  for (int i = 0; i < kRows; ++i) {
    const double beta = std::numbers::pi * (static_cast<double>(i) / (kRows - 1) - 0.5);
    for (int j = 0; j < kColumns; ++j) {
      const double alpha = 2 * std::numbers::pi * j / kColumns, flat = i == 0 || i == kRows - 1 ? 0 : std::cos(beta);
      const Eigen::Vector3d F =
          support.load({flat * std::cos(alpha), flat * std::sin(alpha), std::sin(beta) / gyration_m});
      for (const double x : F) out += fmt::format("{}{:.6g}", out.empty() ? "" : ",", x);
    }
  }
  return fmt::format(R"("gyration":{},"columns":{},"loads":[{}])", number(gyration_m), kColumns, out);
}

/// `,"limit_surface":…` of a body that slides on a support, or nothing.
std::string limit_surface(const Scene& scene, const multibody::BodyInfo& body, const RigidTransform& X_WB) {
  if (scene.settings().step.model != ModelKind::kLimitSurface || body.model < 0) return "";
  for (const Object& object : scene.objects()) {
    if (object.model != body.model || object.frozen || !object.limit_surface) continue;
    std::string surface;
    if (object.limit_surface->support) {
      const UniformPressure support(object.limit_surface->support->polygon, support_friction_N(scene, object));
      surface = loads(support, support.radius_of_gyration());
    } else {
      const Eigen::Matrix3d& A = object.limit_surface->ellipsoid;
      surface = fmt::format(R"("ellipsoid":{})",
                            list(std::array<double, 6>{A(0, 0), A(0, 1), A(0, 2), A(1, 1), A(1, 2), A(2, 2)}));
    }
    return fmt::format(R"(,"limit_surface":{{"axes":{},{}}})", list(support_axes(scene.plane(), X_WB)), surface);
  }
  return "";
}

std::string bodies(const Scene& scene) {
  SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  std::string out = "[";
  for (std::size_t i = 0; i < scene.model().bodies().size(); ++i) {
    const multibody::BodyInfo& body = scene.model().bodies()[i];
    const multibody::LinkSpec* link = find_link(scene.spec(), body);
    out += fmt::format(R"({}{{"name":{},"role":"{}","visuals":{},"collisions":{}{}}})", out.size() > 1 ? "," : "",
                       quote(body.name), role(scene, static_cast<int>(i)), link ? geometries(link->visuals) : "[]",
                       link ? geometries(link->collisions) : "[]", limit_surface(scene, body, state.X_WB()[i]));
  }
  return out + "]";
}

/// Poses of the movable bodies that a goal places, at the goal.
std::string goals(const Scene& scene) {
  std::string out = "[";
  SceneState state = scene.make_state();
  for (const GoalSpec& goal : scene.spec().goals) {
    scene.update(scene.goal_configuration(goal), state);
    std::string placed;
    for (std::size_t i = 1; i < scene.model().bodies().size(); ++i) {
      const multibody::BodyInfo& body = scene.model().bodies()[i];
      const Object* const object = scene.object_of(static_cast<int>(i));
      const bool named = (body.model >= 0 && goal.target.models.contains(scene.model().models()[body.model].name)) ||
                         (object != nullptr && goal.target.models.contains(object->name));
      if (!named || body.weld_group == 0) continue;
      placed += fmt::format(R"({}{{"body":{},"X_WB":{}}})", placed.empty() ? "" : ",", i, pose(state.X_WB()[i]));
    }
    out += fmt::format(R"({}{{"name":{},"bodies":[{}]}})", out.size() > 1 ? "," : "", quote(goal.target.name), placed);
  }
  return out + "]";
}

std::string settings(const Scene& scene) {
  const StepSettings& step = scene.settings().step;
  const TrackSettings& track = scene.settings().track;
  return fmt::format(
      R"({{"h":{},"model":"{}","dynamics":"{}","cone":"{}","rays":{},"kappa":{},"contact_margin":{},"gravity":{},"replan":{},"tolerance":{}}})",
      step.h ? number(*step.h) : "null", to_string(step.model), to_string(step.dynamics), to_string(step.cone),
      scene.plane() == Plane::kSpace ? step.rays : 2, std::isinf(step.kappa) ? "null" : number(step.kappa),
      number(step.contact_margin), list(scene.spec().gravity_W),
      track.replan ? fmt::format("[{},{}]", number(track.replan_position), number(track.replan_rotation)) : "null",
      fmt::format("[{},{}]", number(track.tolerance_position), number(track.tolerance_rotation)));
}

}  // namespace

std::string visual_json(const Scene& scene) {
  const Plane plane = scene.plane();
  return fmt::format(R"({{"name":{},"plane":{},"settings":{},"bodies":{},"goals":{}}})", quote(scene.spec().name),
                     plane == Plane::kSpace ? "null" : quote(std::string(to_string(plane))), settings(scene),
                     bodies(scene), goals(scene));
}

}  // namespace deft::viewer
