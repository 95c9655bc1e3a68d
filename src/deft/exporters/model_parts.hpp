#pragma once
// A model of a scene as SDFormat and URDF state it: links with poses, joints of one axis at most.

#include <string>
#include <vector>

#include "deft/exporters/link_tree.hpp"

namespace deft::exporters {

/// A link.
struct PartLink {
  std::string name;                                  // LinkTree::link_name, or of a link between two axes
  int body = -1;                                     // of the scene; −1: one between two axes, without a mass
  std::string carrier;                               // link of the model that it hangs on; empty: none
  RigidTransform X_CL = RigidTransform::Identity();  // in the carrier with joints at zero, else in the world at the
                                                     // start
  bool is_root = false;                              // no joint of the model carries it
};

/// How the parts of a joint move.
enum class PartKind { kFixed, kRevolute, kPrismatic, kBall };

/// A joint.
struct PartJoint {
  std::string name, parent, child;                   // links of the model, or "world"
  PartKind kind = PartKind::kFixed;                  // how the child moves
  RigidTransform X_PJ = RigidTransform::Identity();  // joint frame in the parent, in the world without one
  RigidTransform X_CJ = RigidTransform::Identity();  // joint frame in the child
  const multibody::JointAxisSpec* axis = nullptr;    // in the joint frame; of revolute and prismatic ones
  int v = -1;                                        // index of its velocity in the scene
};

/// A model in parts.
struct ModelParts {
  std::vector<PartLink> links;    // the model's in its order, links between axes before what they carry
  std::vector<PartJoint> joints;  // in the order of what they carry
};

/// Of the model of an index of KinematicTree::models. Objects that do not move are fixed to the world, which a note
/// says.
ModelParts parts_of(const LinkTree& links, int model, std::vector<std::string>& notes);

/// What drives an axis and holds it.
struct AxisDrive {
  double effort = kInfinity;                          // [N·m or N]; 0 where nothing drives it
  double stiffness = 0, damping = 0;                  // of a position drive; 0: none
  double spring_stiffness = 0, spring_reference = 0;  // of a passive spring
  std::string leader;                                 // coordinate that it follows; empty: none
  double ratio = 1, offset = 0;                       // q = ratio · q_leader + offset
};
/// Of a velocity of the scene.
AxisDrive drive_of(const LinkTree& links, int v);

/// Notes of what neither the models nor the scene around them hold. @param has_springs  the format has passive springs.
void note_losses(const LinkTree& links, bool has_springs, std::vector<std::string>& notes);

/// A link of one model that is welded to a link of another.
struct Weld {
  int parent = 0, child = 0;                         // bodies of the scene
  RigidTransform X_PC = RigidTransform::Identity();  // pose of the child's frame in the parent's
};
/// All of them.
std::vector<Weld> welds_of(const LinkTree& links);

}  // namespace deft::exporters
