#include "deft/plant/drake_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "deft/collision/shapes/shape.hpp"
#include "deft/core/index.hpp"
#include "deft/math/small_dense.hpp"
#include "deft/multibody/kinematic_tree.hpp"
#include "deft/plant/mujoco_inertia.hpp"
#include "deft/plant/plant_parts.hpp"

namespace deft::plant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using multibody::JointKind;
using multibody::KinematicTree;
using multibody::TreeJoint;

/// Numbers that lose nothing: hexadecimal.
template <typename Values>
std::string hex(const Values& values) {
  std::string text;
  for (const double value : values) text += fmt::format(" {:a}", value);
  return text;
}
std::string hex(double value) { return fmt::format(" {:a}", value); }
std::string hex(const RigidTransform& X) {
  return hex(quat_wxyz_from_rotation(X.linear())) + hex(Vector3d(X.translation()));
}

/// A shape by its word and numbers, in a frame that may differ from the geometry's.
struct ShapeWriter {
  const collision::GeometryDescription& geometry;
  RigidTransform X;  // in the body
  bool on_world;
  std::string word, values;

  void operator()(const multibody::SphereSpec& s) { set("sphere", hex(std::max(s.radius, kPointRadius_m))); }
  void operator()(const multibody::BoxSpec& s) { set("box", hex(s.size)); }
  void operator()(const multibody::CapsuleSpec& s) {
    if (s.length > 0)
      set("capsule", hex(s.radius) + hex(s.length));
    else
      (*this)(multibody::SphereSpec{s.radius});
  }
  void operator()(const multibody::CylinderSpec& s) { set("cylinder", hex(s.radius) + hex(s.length)); }
  void operator()(const multibody::EllipsoidSpec& s) { set("ellipsoid", hex(s.radii)); }
  void operator()(const multibody::HalfSpaceSpec& s) {
    if (!on_world)
      throw InputError(geometry.where, fmt::format("plant drake: geometry '{}' is a half-space on a body that is not "
                                                   "welded to the world; Drake's half-spaces have to be",
                                                   geometry.name));
    const double length = s.normal.norm();
    const Vector3d n = s.normal / length;
    X = X * make_transform(rotation_between(Vector3d::UnitZ(), n), s.offset / length * n);
    set("half_space", "");
  }
  void operator()(const multibody::PrismSpec&) { set_hull(); }
  void operator()(const multibody::MeshSpec&) { set_hull(); }

  void set(const char* name, std::string numbers) {
    word = name;
    values = std::move(numbers);
  }
  void set_hull() {
    collision::GeometryInfo info;
    Diagnostics repeated;  // what it warns of was said when the scene was built
    const collision::Shape shape = collision::build_shape(geometry, info, repeated);
    std::string numbers;
    for (const Vector3d& p : shape.core.vertices) numbers += hex(p);
    set("convex", std::move(numbers));
  }
};

class Writer {
 public:
  Writer(const scene::Scene& scene, const PlantOptions& options)
      : scene_(scene), options_(options), tree_(multibody::build_tree(scene.spec().world, repeated_)) {}

  DrakeModel write() {
    scene_.update(scene_.initial_configuration(), start_);
    out_.joint_damping = inner_loop_damping(scene_, options_);
    group_of_.assign(tree_.bodies.size(), 0);
    for (std::size_t g = 0; g < tree_.groups.size(); ++g)
      for (const int body : tree_.groups[g].bodies) group_of_[to_size(body)] = static_cast<int>(g);
    line("step" + hex(options_.step));
    line("approximation kLagged");
    line("gravity" + hex(scene_.spec().gravity_W));
    for (std::size_t g = 1; g < tree_.groups.size(); ++g) add_body(static_cast<int>(g));
    for (const TreeJoint& joint : tree_.joints) add_joint(joint);
    add_actuators();
    add_springs();
    add_geometries();
    add_pairs();
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_.text += text + '\n'; }
  void add_body(int group) {
    const PrincipalInertia inertia = principal_inertia(scene_, start_, tree_, group, group_inertial(tree_, group));
    const Matrix3d R = inertia.X_GI.linear(), I = R * inertia.moments.asDiagonal() * R.transpose();
    line(fmt::format("body {}{}{}{}", group, hex(inertia.mass), hex(Vector3d(inertia.X_GI.translation())),
                     hex(std::array{I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)})));
    if (!inertia.note.empty())
      out_.notes.push_back(fmt::format(
          "body '{}': {}", tree_.bodies[to_size(tree_.groups[to_size(group)].bodies.front())].name, inertia.note));
  }
  void add_springs();
  void add_joint(const TreeJoint& joint);
  static void refuse_armature(const TreeJoint& joint, bool has_actuators);
  void add_actuators();
  void add_geometries();
  void add_pairs();
  bool stays(int geometry) const;

  const scene::Scene& scene_;
  const PlantOptions& options_;
  Diagnostics repeated_;  // what it warns of was said when the scene was built
  KinematicTree tree_;
  DrakeModel out_;
  scene::SceneState start_ = scene_.make_state();
  std::vector<int> group_of_;  // per body
  std::vector<std::string> names_;
  int next_v_ = 0;
};

void Writer::add_joint(const TreeJoint& joint) {
  if (joint.kind == JointKind::kBall)
    throw InputError(joint.where, fmt::format("plant drake: '{}' is a ball joint; not available with Drake, whose ball "
                                              "joints have three angles",
                                              joint.name));
  const bool frozen = std::any_of(scene_.objects().begin(), scene_.objects().end(), [&](const scene::Object& object) {
    return object.frozen && next_v_ >= object.first_v && next_v_ < object.first_v + object.nv;
  });
  line(fmt::format("joint {} {} {} {}{}", joint.child_group, joint.parent_group,
                   joint.kind == JointKind::kFree ? "free" : "axes", frozen ? 1 : 0, hex(joint.X_GJ)));
  const auto robot = std::find_if(scene_.robots().begin(), scene_.robots().end(),
                                  [&](const auto& candidate) { return candidate.model == joint.model; });
  bool is_driven =
      robot != scene_.robots().end() && robot->drive == scene::Drive::kPosition && joint.kind == JointKind::kAxes;
  for (int i = 0; is_driven && i < static_cast<int>(joint.axes.size()); ++i)
    is_driven = robot->command_of(next_v_ + i) >= 0;
  refuse_armature(joint, is_driven);
  const bool limits = scene_.settings().step.joint_limits;
  for (std::size_t i = 0; i < joint.axes.size(); ++i) {
    const multibody::JointAxisSpec& axis = joint.axes[i];
    const int v = next_v_ + static_cast<int>(i);
    const int command = robot != scene_.robots().end() ? robot->command_of(v) : -1;
    const double damping = command >= 0 ? out_.joint_damping(robot->first_u + command) : 0.0;
    line(fmt::format("axis {} {}{}{}", joint.child_group, axis.rotational ? 1 : 0, hex(axis.axis_J),
                     hex(std::array{limits ? axis.lower : -kInfinity, limits ? axis.upper : kInfinity, damping})));
  }
  next_v_ += joint.kind == JointKind::kFree ? 6 : static_cast<int>(joint.axes.size());
}

/// In Drake the inertia of a drive is that of an actuator, and only robots that hold positions have actuators here.
void Writer::refuse_armature(const TreeJoint& joint, bool has_actuators) {
  const bool has_armature = joint.armature != 0 || std::any_of(joint.axes.begin(), joint.axes.end(),
                                                               [](const auto& axis) { return axis.armature != 0; });
  if (!has_armature || has_actuators) return;
  throw InputError(
      joint.where,
      fmt::format("plant drake: '{}' has an armature but no actuator; not available with Drake", joint.name));
}

void Writer::add_actuators() {
  for (const scene::Robot& robot : scene_.robots()) {
    if (robot.drive == scene::Drive::kForce) continue;
    for (int i = 0; i < robot.nu; ++i) {
      out_.springs.push_back(robot.first_u + i);
      const double limit = scene_.settings().step.effort_limits ? robot.effort_limit(i) : kInfinity;
      const double armature = scene_.model().velocities()[to_size(robot.v(i))].armature;
      line(fmt::format("actuator {}{}{}{}", robot.v(i), hex(robot.stiffness(i)), hex(limit), hex(armature)));
    }
  }
}

/// Springs of joints; joints that follow others, by the constraints that Drake's solver of the lagged approximation
/// has.
void Writer::add_springs() {
  for (const scene::JointSpring& coupling : scene_.springs()) {
    if (!coupling.couples) {
      line(fmt::format("spring {}{}{}", coupling.v, hex(coupling.stiffness), hex(coupling.offset)));
      continue;
    }
    if (coupling.leader_v < 0)
      throw InputError(
          {scene_.spec().file, 0, 0},
          fmt::format("plant drake: '{}' is held by its file and follows nothing; not available with Drake",
                      scene_.model().velocities()[to_size(coupling.v)].name));
    line(fmt::format("coupling {} {}{}{}", coupling.v, coupling.leader_v, hex(coupling.ratio), hex(coupling.offset)));
  }
}

void Writer::add_geometries() {
  for (const multibody::ModelSpec& model : scene_.spec().world.models) {
    for (const multibody::LinkSpec& link : model.links) {
      const std::string name = model.inline_body ? model.name : model.name + "/" + link.name;
      const int body = scene_.model().find_body(name), group = group_of_[to_size(body)];
      for (const multibody::GeometrySpec& geometry : link.collisions) {
        const collision::GeometryDescription description{name + "#" + geometry.name, body, geometry.X_LG,
                                                         geometry.shape, geometry.where};
        ShapeWriter writer{description, tree_.X_GB[to_size(body)] * geometry.X_LG, group == 0, {}, {}};
        std::visit(writer, geometry.shape);
        line(fmt::format("geometry {} {} {}{}{}", out_.body_of.size(), group, writer.word, hex(writer.X),
                         writer.values));
        out_.body_of.push_back(body);
        names_.push_back(description.name);
      }
    }
  }
}

bool Writer::stays(int geometry) const {
  const int body = out_.body_of[to_size(geometry)];
  return group_of_[to_size(body)] == 0 || scene_.stays(body);
}

void Writer::add_pairs() {
  const int n = static_cast<int>(out_.body_of.size());
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      if (!scene_.collision_world().may_touch(a, b) || (stays(a) && stays(b))) continue;
      const scene::PairFriction friction = scene_.friction(a, b);
      if (friction.patch)
        throw InputError({scene_.spec().file, 0, 0},
                         fmt::format("plant drake: friction of '{}' and '{}' has an ellipsoid; Drake has Coulomb's "
                                     "coefficients only",
                                     names_[to_size(a)], names_[to_size(b)]));
      line(fmt::format("pair {} {}{}", a, b, hex(friction.frictionless ? 0.0 : friction.mu)));
    }
  }
}

}  // namespace

DrakeModel describe_for_drake(const scene::Scene& scene, const PlantOptions& options) {
  return Writer(scene, options).write();
}

}  // namespace deft::plant
