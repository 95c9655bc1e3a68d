#pragma once
// A scene as a MuJoCo model, and where its coordinates are there. Internal to the module.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "deft/plant/mujoco_library.hpp"
#include "deft/plant/mujoco_settings.hpp"
#include "deft/plant/plant.hpp"

namespace deft::plant {

/// Where the coordinates of one joint are. A free body's MuJoCo frame M stands in its centre of mass along its
/// principal axes, so that its mass matrix is constant and diagonal there.
struct MujocoJoint {
  multibody::JointKind kind = multibody::JointKind::kFree;  // how it moves
  int q = 0, v = 0, n = 0;                           // first indices in the scene's q and v; number of axes (kAxes)
  int mj_q = -1, mj_v = -1;                          // of MuJoCo; −1: the joint of a frozen object, which has none
  RigidTransform X_GM = RigidTransform::Identity();  // kFree: M in the body frame G that q is the pose of
};

/// A body of the scene on a body of the model: X_WB = X_W(mj body) · X_MB.
struct MujocoBody {
  int mj_body = 0;                                   // of MuJoCo; 0: the world
  RigidTransform X_MB = RigidTransform::Identity();  // the scene's body in MuJoCo's
};

/// A group of links of a frozen object, which stays where the start puts it.
struct MujocoFrozen {
  int mocap = -1;                                    // index into mocap_pos
  int body = 0;                                      // of the scene
  RigidTransform X_BM = RigidTransform::Identity();  // MuJoCo's body in the scene's
};

/// The compiled model with the way back to the scene.
struct MujocoModel {
  ModelPointer model;                   // compiled
  std::vector<MujocoJoint> joints;      // order of the scene's coordinates
  std::vector<MujocoBody> bodies;       // per body of the scene
  std::vector<MujocoFrozen> frozen;     // mocap bodies
  std::vector<int> geometry_of;         // per geom of MuJoCo: the scene's geometry
  std::vector<int> scene_body_of;       // per geometry of the scene: its body
  std::vector<int> actuators;           // per command: MuJoCo's actuator
  Eigen::VectorXd joint_damping;        // per command [N·s/m, N·m·s/rad]
  std::vector<double> applied_damping;  // γ [1/s] of each MuJoCo velocity whose −γMv has to be applied in every step;
                                        // empty: none
  bool weight_is_applied = false;       // robots carry objects: their joints' weight is taken off by applied forces
  std::vector<std::string> notes;       // what differs from the scene, a line each
};

/// Writes the scene through mjSpec and compiles it (README.md: what becomes of each part).
/// @throws InputError for what MuJoCo cannot simulate, with its name, and if MuJoCo is not there.
MujocoModel build_mujoco_model(const scene::Scene& scene, const PlantOptions& options);

/// Adds the collision geometry to a body, at X_MG in its frame, under the name "g<index>". @param on_static  bodies
/// that MuJoCo cannot move.
/// @throws InputError for a half-space on a body that moves.
void add_mujoco_geometry(mjSpec* spec, mjsBody* body, bool on_static, int index,
                         const collision::GeometryDescription& geometry, const RigidTransform& X_MG,
                         std::vector<std::string>& notes);

}  // namespace deft::plant
