#include "deft/plant/disturbance.hpp"

#include <variant>
#include <vector>

#include "deft/math/random.hpp"
#include "deft/plant/plant.hpp"

namespace deft::plant {
namespace {

enum DrawnItem : std::uint64_t { kScales = 1, kOffset = 2, kTurn = 1ULL << 40 };

/// A shape s times as large about its own origin.
multibody::ShapeSpec scaled(multibody::ShapeSpec shape, double s) {
  struct Scale {
    double s;
    void operator()(multibody::SphereSpec& x) const { x.radius *= s; }
    void operator()(multibody::BoxSpec& x) const { x.size *= s; }
    void operator()(multibody::CapsuleSpec& x) const { x.radius *= s, x.length *= s; }
    void operator()(multibody::CylinderSpec& x) const { x.radius *= s, x.length *= s; }
    void operator()(multibody::EllipsoidSpec& x) const { x.radii *= s; }
    void operator()(multibody::HalfSpaceSpec& x) const { x.offset *= s; }
    void operator()(multibody::PrismSpec& x) const {
      for (Eigen::Vector2d& vertex : x.vertices) vertex *= s;
      x.height *= s;
    }
    void operator()(multibody::MeshSpec& x) const { x.scale *= s; }
  };
  std::visit(Scale{s}, shape);
  return shape;
}

void scale(multibody::GeometrySpec& geometry, double size) {
  geometry.shape = scaled(std::move(geometry.shape), size);
  geometry.X_LG.translation() *= size;
}

void scale_friction(scene::SceneSpec& spec, double s) {
  for (multibody::ModelSpec& model : spec.world.models)
    for (multibody::LinkSpec& link : model.links)
      for (multibody::GeometrySpec& geometry : link.collisions)
        for (std::optional<double>* mu : {&geometry.mu, &geometry.mu_static, &geometry.mu_dynamic})
          if (*mu) **mu *= s;
  spec.friction.fallback *= s;
  for (scene::FrictionPairSpec& pair : spec.friction.pairs)
    if (pair.mu) *pair.mu *= s;
}

bool is_moved(const scene::DisturbanceSpec& spec) { return spec.offset_m != 0 || spec.offset_rad != 0; }

bool translates(const scene::Scene& scene, const scene::Object& object, int i) {
  return scene.model().velocities()[object.first_v + i].unit == "m";
}

/// Unit direction of the object's translations, drawn; zero if it has none. `index` counts the numbers drawn.
Eigen::VectorXd drawn_shift(const scene::Scene& scene, const scene::Object& object, const Eigen::VectorXd& weight,
                            const Disturbance& disturbance, std::uint32_t& index) {
  Eigen::VectorXd direction = Eigen::VectorXd::Zero(object.nv), down = weight.segment(object.first_v, object.nv);
  for (int i = 0; i < object.nv; ++i) {
    if (translates(scene, object, i))
      direction(i) = random_normal(disturbance.seed, kOffset, index++);
    else
      down(i) = 0;
  }
  // Across gravity: what falls would else start inside its support, or above it.
  if (down.norm() > 1e-9 * object.mass) direction -= down * (down.dot(direction) / down.squaredNorm());
  const double length = direction.norm();
  return length < 1e-9 ? Eigen::VectorXd::Zero(object.nv) : Eigen::VectorXd(direction / length);
}

/// Unit rotation of an object that moves as a body (free, or in a plane), drawn; zero for joints of objects.
Eigen::VectorXd drawn_axis(const scene::Scene& scene, const scene::Object& object, const Eigen::VectorXd& weight,
                           const Disturbance& disturbance, std::uint32_t& index) {
  Eigen::VectorXd axis = Eigen::VectorXd::Zero(object.nv);
  const bool floating = object.floating;
  if (floating) {
    const Eigen::Vector3d down = weight.segment<3>(object.first_v + 3);
    const double sign = random_uniform(disturbance.seed, kTurn, index++) < 0.5 ? -1 : 1;
    Eigen::Vector3d drawn;
    for (double& entry : drawn) entry = random_normal(disturbance.seed, kTurn, index++);
    // About gravity where there is any: what lies on a face keeps lying on it.
    axis.head<3>() = down.norm() > 1e-9 * object.mass ? Eigen::Vector3d(sign * down.normalized()) : drawn.normalized();
    return axis;
  }
  int translations = 0;
  for (int i = 0; i < object.nv; ++i) translations += translates(scene, object, i);
  for (int i = 0; i < object.nv && translations >= 2; ++i) {
    if (translates(scene, object, i)) continue;
    axis(i) = random_uniform(disturbance.seed, kTurn, index++) < 0.5 ? -1 : 1;
    break;
  }
  return axis;
}

/// Joint values times a factor.
scene::JointValues scaled(scene::JointValues values, double s) {
  if (values.all) *values.all *= s;
  for (double& value : values.list) value *= s;
  for (auto& [name, value] : values.by_name) value *= s;
  return values;
}

/// Whether an object has a link of its model.
bool is_part(const scene::Scene& scene, const scene::Object& object, const std::string& link) {
  return std::any_of(object.bodies.begin(), object.bodies.end(),
                     [&](int body) { return scene.model().bodies()[body].link == link; });
}

}  // namespace

Disturbance draw_disturbance(const scene::DisturbanceSpec& spec, std::uint64_t seed) {
  const auto around_one = [seed](double share, std::uint32_t index) {
    return 1 + share * (2 * random_uniform(seed, kScales, index) - 1);
  };
  return {spec,
          around_one(spec.friction, 0),
          around_one(spec.mass, 1),
          around_one(spec.size, 2),
          around_one(spec.stiffness, 3),
          1,
          seed};
}

scene::SceneSpec disturbed(const scene::Scene& scene, const Disturbance& disturbance) {
  scene::SceneSpec spec = scene.description();
  scale_friction(spec, disturbance.friction_scale);
  for (const scene::Object& object : scene.objects()) {
    if (object.is_base) continue;
    for (multibody::LinkSpec& link : spec.world.models[object.model].links) {
      if (!is_part(scene, object, link.name)) continue;
      if (link.inertial) {
        link.inertial->mass *= disturbance.mass_scale;
        link.inertial->I_Com_L *= disturbance.mass_scale;
      }
      for (multibody::GeometrySpec& geometry : link.collisions) scale(geometry, disturbance.size_scale);
      for (multibody::GeometrySpec& geometry : link.visuals) scale(geometry, disturbance.size_scale);
    }
  }
  for (scene::RobotSpec& robot : spec.robots) robot.stiffness = scaled(robot.stiffness, disturbance.stiffness_scale);
  for (const scene::Robot& robot : scene.robots())
    for (multibody::JointSpec& joint : spec.world.models[robot.model].joints)
      for (multibody::JointAxisSpec& axis : joint.axes) axis.stiffness *= disturbance.stiffness_scale;
  return spec;
}

Eigen::VectorXd moved_start(const scene::Scene& scene, const Eigen::VectorXd& q, const Disturbance& disturbance) {
  Eigen::VectorXd moved = q;
  if (!is_moved(disturbance.spec)) return moved;
  scene::SceneState state = scene.make_state();
  scene.update(q, state);
  Eigen::VectorXd weight(scene.nv()), delta = Eigen::VectorXd::Zero(scene.nv());
  scene.model().gravity_force(state.kinematics, scene.spec().gravity_W, weight);
  std::uint32_t index = 0, turn_index = 0;
  for (const scene::Object& object : scene.objects()) {
    const Eigen::VectorXd direction = drawn_shift(scene, object, weight, disturbance, index),
                          axis = drawn_axis(scene, object, weight, disturbance, turn_index);
    if (object.frozen || object.is_base) continue;
    delta.segment(object.first_v, object.nv) =
        disturbance.offset_sign * (disturbance.spec.offset_m * direction + disturbance.spec.offset_rad * axis);
  }
  scene.model().integrate(q, delta, moved);
  return moved;
}

std::optional<Eigen::VectorXd> disturbed_start(const scene::Scene& scene, const Eigen::VectorXd& q,
                                               const Disturbance& disturbance) {
  if (!is_moved(disturbance.spec) && disturbance.size_scale == 1) return q;
  constexpr double kRest = 1e-7;  // [rad, m] per step
  Eigen::VectorXd u(scene.nu());
  for (int i = 0; i < scene.nu(); ++i) u(i) = q(scene.command_coordinates()[i]);
  const double h = *scene.settings().step.h;
  const auto plant = make_plant(PlantKind::kQuasidynamic, scene, {.step = h});
  plant->reset({.q = moved_start(scene, q, disturbance)}, u);
  Eigen::VectorXd before;
  for (int k = 0; k < kSettlingSteps; ++k) {
    before = plant->state().q;
    if (plant->advance(u, h) != PlantStatus::kOk) return std::nullopt;
    if ((plant->state().q - before).lpNorm<Eigen::Infinity>() < kRest) break;
  }
  return plant->state().q;
}

}  // namespace deft::plant
