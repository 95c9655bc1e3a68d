#pragma once
// Bodies, shapes and pairs of the equivalent-contact-point model in plain data.

#include <Eigen/Core>
#include <array>
#include <string>
#include <vector>

#include "deft/math/rotation.hpp"
#include "deft/scene/scene.hpp"

namespace deft::dynamics {

/// A free rigid body, with C its centre of mass.
struct PatchBody {
  int body = -1;                                      // index in Scene::names_bodies, for reports
  double mass = 0;                                    // [kg]
  Eigen::Matrix3d I_BCm_B = Eigen::Matrix3d::Zero();  // inertia about C, in the body's axes [kg m²]
  Eigen::Vector3d p_BC = Eigen::Vector3d::Zero();     // C in the body's frame [m]
};

/// Where a body of the scene is: on a free body, or fixed.
struct PatchLink {
  int moving = -1;                                // index of a PatchBody, −1: fixed
  RigidTransform X = RigidTransform::Identity();  // pose in that body's frame; fixed: in the world
};

/// A convex geometry on a free body, or fixed in the world.
struct PatchGeometry {
  int moving = -1;                                   // index of its PatchBody, −1: fixed
  int body = 0;                                      // in names_bodies
  RigidTransform X_BG = RigidTransform::Identity();  // in its body; fixed: in the world
  collision::ConvexSet set;                          // its inequalities f_i ≤ 0, in its own frame G
  std::string name;                                  // for messages of errors
};

/// Two geometries that may touch. A moves; B is a fixed half-space (`plane`), or any other set.
struct PatchPair {
  int a = -1, b = -1;                        // indices of PatchGeometry
  bool plane = false;                        // B is a fixed half-space
  double mu = 0;                             // friction coefficient, ≥ 0; 0: no friction
  std::array<double, 3> ellipsoid{1, 1, 1};  // e_t, e_o [-], e_r [m]
};

/// Everything about a system that does not change from step to step.
struct PatchWorld {
  std::vector<PatchBody> bodies;                         // that move
  std::vector<PatchLink> links;                          // per body of the scene, 0 = world
  std::vector<PatchGeometry> geometries;                 // in the order of `collision`
  const collision::CollisionWorld* collision = nullptr;  // for distances of pairs without a plane; must outlive this
  std::vector<PatchPair> pairs;                          // that may touch
  Eigen::Vector3d gravity_W{0, 0, -9.81};                // [m/s²]
  Eigen::Vector3d ellipsoid_axis{1, 0, 0};               // unit; e_t acts along its projection on the contact plane
  double h = 0.01;                                       // length of a step [s]
  double length = 1;  // largest radius of the moving sets that may touch [m], for scales
};

/// State of a body, at its centre of mass.
struct PatchState {
  Eigen::Vector4d quat_wxyz{1, 0, 0, 0};              // R_WB
  Eigen::Vector3d p_WC = Eigen::Vector3d::Zero();     // centre of mass [m]
  Eigen::Vector3d omega_W = Eigen::Vector3d::Zero();  // angular velocity [rad/s]
  Eigen::Vector3d v_WC = Eigen::Vector3d::Zero();     // velocity of the centre of mass [m/s]
};

/// Impulse on a body over one step, gravity not included.
struct PatchImpulse {
  Eigen::Vector3d angular_W = Eigen::Vector3d::Zero();  // about C [N m s]
  Eigen::Vector3d linear_W = Eigen::Vector3d::Zero();   // [N s]
};

}  // namespace deft::dynamics
