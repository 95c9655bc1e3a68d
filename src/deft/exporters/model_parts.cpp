#include "deft/exporters/model_parts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "deft/core/index.hpp"

namespace deft::exporters {
namespace {

using multibody::JointKind;
using multibody::TreeJoint;

/// A joint of several axes is a chain, with links in the joint frame between them.
void add_chain(const LinkTree& links, int j, std::set<std::string>& used, ModelParts& parts) {
  const multibody::KinematicTree& tree = links.tree();
  const TreeJoint& joint = tree.joints[to_size(j)];
  const int main = links.main_body(joint.child_group), carrier = links.body_in(joint.parent_group, joint.model);
  const RigidTransform X_PJ = carrier < 0 ? joint.X_GJ : tree.X_GB[to_size(carrier)].inverse() * joint.X_GJ;
  const RigidTransform X_CJ = tree.X_GB[to_size(main)].inverse();
  std::string parent = carrier < 0 ? "world" : links.link_name(carrier);
  if (joint.kind == JointKind::kBall) {
    parts.joints.push_back({.name = joint.name.substr(joint.name.find('/') + 1),
                            .parent = parent,
                            .child = links.link_name(main),
                            .kind = PartKind::kBall,
                            .X_PJ = X_PJ,
                            .X_CJ = X_CJ});
    return;
  }
  for (std::size_t i = 0; i < joint.axes.size(); ++i) {
    const multibody::JointAxisSpec& axis = joint.axes[i];
    const bool is_first = i == 0, is_last = i + 1 == joint.axes.size();
    const RigidTransform X_first = is_first ? X_PJ : RigidTransform::Identity();
    const std::string child = is_last ? links.link_name(main) : unused(axis.coordinate + "_link", used);
    if (!is_last) parts.links.push_back({.name = child, .carrier = parent == "world" ? "" : parent, .X_CL = X_first});
    parts.joints.push_back({.name = axis.coordinate,
                            .parent = parent,
                            .child = child,
                            .kind = axis.rotational ? PartKind::kRevolute : PartKind::kPrismatic,
                            .X_PJ = X_first,
                            .X_CJ = is_last ? X_CJ : RigidTransform::Identity(),
                            .axis = &axis,
                            .v = links.first_v(j) + static_cast<int>(i)});
    parent = child;
  }
}

/// Of links and coordinates of a model.
std::set<std::string> names_of(const LinkTree& links, int model) {
  std::set<std::string> used{"world"};
  for (const int body : links.tree().models[to_size(model)].bodies) used.insert(links.link_name(body));
  for (const TreeJoint& joint : links.tree().joints)
    if (joint.model == model)
      for (const multibody::JointAxisSpec& axis : joint.axes) used.insert(axis.coordinate);
  return used;
}

}  // namespace

ModelParts parts_of(const LinkTree& links, int model, std::vector<std::string>& notes) {
  const multibody::KinematicTree& tree = links.tree();
  ModelParts parts;
  std::set<std::string> used = names_of(links, model);
  for (const int body : tree.models[to_size(model)].bodies) {
    const int g = links.group(body), holder = links.body_in(g, model);
    const std::string name = links.link_name(body);
    const auto fix = [&](const std::string& parent, const RigidTransform& X_PL) {
      parts.joints.push_back({.name = unused(name + "_fixed", used), .parent = parent, .child = name, .X_PJ = X_PL});
    };
    if (holder != body) {
      const RigidTransform X_HB = tree.X_GB[to_size(holder)].inverse() * tree.X_GB[to_size(body)];
      parts.links.push_back({.name = name, .body = body, .carrier = links.link_name(holder), .X_CL = X_HB});
      fix(links.link_name(holder), X_HB);
      continue;
    }
    const TreeJoint* const joint = g == 0 ? nullptr : &tree.joints[to_size(tree.groups[to_size(g)].joint)];
    const bool is_own = joint && joint->model == model, is_frozen = joint && links.is_frozen(*joint);
    const bool is_free = is_own && joint->kind == JointKind::kFree && !is_frozen;
    const RigidTransform& X_WB = links.start().X_WB()[body];
    if (is_own && !is_free && !is_frozen) {
      const int carrier = links.body_in(joint->parent_group, model);
      const RigidTransform X_CG = carrier < 0 ? joint->X_GJ : tree.X_GB[to_size(carrier)].inverse() * joint->X_GJ;
      parts.links.push_back({.name = name,
                             .body = body,
                             .carrier = carrier < 0 ? "" : links.link_name(carrier),
                             .X_CL = X_CG * tree.X_GB[to_size(body)]});
      add_chain(links, tree.groups[to_size(g)].joint, used, parts);
      continue;
    }
    const bool stands = g == 0 || (is_own && is_frozen);
    parts.links.push_back({.name = name, .body = body, .X_CL = X_WB, .is_root = !stands});
    if (stands) fix("world", X_WB);
    if (is_own && is_frozen)
      notes.push_back(fmt::format("link '{}' does not move: it stands where the scene starts", name));
  }
  return parts;
}

AxisDrive drive_of(const LinkTree& links, int v) {
  const scene::Scene& scene = links.scene();
  AxisDrive drive{.effort = 0};
  for (const scene::Robot& robot : scene.robots()) {
    const int command = v >= robot.first_v && v < robot.first_v + robot.nv ? robot.command_of(v) : -1;
    if (command < 0) continue;
    drive.effort = robot.effort_limit(command);
    if (robot.drive == scene::Drive::kForce) continue;
    drive.stiffness = robot.stiffness(command);
    drive.damping = links.damping(robot.first_u + command);
  }
  for (const scene::JointSpring& spring : scene.springs()) {
    if (spring.v != v) continue;
    if (!spring.couples) {
      drive.spring_stiffness = spring.stiffness;
      drive.spring_reference = spring.offset;
    } else if (spring.leader_v >= 0) {
      const std::string leader = scene.names_v()[to_size(spring.leader_v)];
      drive.leader = leader.substr(leader.find('/') + 1);
      drive.ratio = spring.ratio;
      drive.offset = spring.offset;
    }
  }
  return drive;
}

void note_losses(const LinkTree& links, bool has_springs, std::vector<std::string>& notes) {
  int springs = 0, stuck = 0, armatures = 0, balls = 0;
  for (const scene::JointSpring& spring : links.scene().springs()) {
    springs += !spring.couples;
    stuck += spring.couples && spring.leader_v < 0;
  }
  for (const TreeJoint& joint : links.tree().joints) {
    armatures += joint.armature > 0;
    balls += joint.kind == JointKind::kBall;
    for (const multibody::JointAxisSpec& axis : joint.axes) armatures += axis.armature > 0;
  }
  const auto note = [&](int count, const char* what) {
    if (count > 0) notes.push_back(fmt::format("{} {}", count, what));
  };
  if (!has_springs) note(springs, "passive springs of joints are not exported");
  note(stuck, "joints that stay where their model says are free here");
  note(armatures, "armatures of joints are not exported");
  note(balls, "ball joints start at 0 in other programs");
  note(static_cast<int>(links.scene().spec().limit_surfaces.size()),
       "limit surfaces are not exported: supports are contacts with friction");
}

std::vector<Weld> welds_of(const LinkTree& links) {
  const multibody::KinematicTree& tree = links.tree();
  std::vector<Weld> welds;
  for (std::size_t g = 1; g < tree.groups.size(); ++g) {
    const int group = static_cast<int>(g), main = links.main_body(group);
    for (std::size_t m = 0; m < tree.models.size(); ++m) {
      const int body = links.body_in(group, static_cast<int>(m));
      if (body < 0 || body == main) continue;
      welds.push_back({main, body, tree.X_GB[to_size(main)].inverse() * tree.X_GB[to_size(body)]});
    }
  }
  return welds;
}

}  // namespace deft::exporters
