#pragma once
// The tree behind a world of models: links that never move against each other form a group; every group but the world's
// hangs on one joint. Built and checked from the specification alone, without Pinocchio.

#include <string>
#include <unordered_map>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"
#include "deft/multibody/model.hpp"

namespace deft::multibody {

/// Links welded into one rigid body. Its frame G is the frame of the joint that carries it, on the child's side;
/// of a free group the frame of its base link; of group 0 the world.
struct RigidGroup {
  std::vector<int> bodies;  // indices into KinematicTree::bodies, ascending
  int joint = -1;           // index into KinematicTree::joints, −1 for group 0
};

/// A movable joint, or the freedom of a base that nothing holds.
struct TreeJoint {
  JointKind kind = JointKind::kFree;                         // kAxes, kBall or kFree
  std::string name;                                          // "hand/joint_1"; of a free base "ball" or "hand/link"
  int model = -1;                                            // index into KinematicTree::models
  int parent_group = 0, child_group = 0;                     // indices into KinematicTree::groups
  RigidTransform X_GJ = RigidTransform::Identity();          // joint frame in the parent group's frame
  std::vector<JointAxisSpec> axes;                           // kAxes
  double armature = 0;                                       // kBall and kFree: JointSpec::armature
  RigidTransform X_WB_default = RigidTransform::Identity();  // kFree: pose in the default configuration
  SourceLocation where;                                      // of the joint, or of the free base's link
};

/// What a Model is built from, in deft's order.
struct KinematicTree {
  std::vector<BodyInfo> bodies;      // [0] is the world; then models as declared, links in file order
  std::vector<RigidTransform> X_GB;  // pose of each body in its group's frame
  std::vector<RigidGroup> groups;    // [0] is welded to the world
  std::vector<TreeJoint> joints;     // order of the coordinates
  std::vector<ModelInfo> models;     // without first_q … nv
  std::unordered_map<std::string, Model::FrameOnBody> places;  // links and frames by "model::name", "model/name", world
                                                               // frames, "world"
  std::vector<InertialSpec> inertials;                         // of each body; zero where the file has none
};

/// Checks names and values (spec_checks), assembles the tree and checks it (tree_checks). Everything wrong goes to
/// `diagnostics`; after an error the tree is incomplete.
KinematicTree build_tree(const MultibodySpec& spec, Diagnostics& diagnostics);

}  // namespace deft::multibody
