#pragma once
// A robot or object as its file states it, and the world that directives assemble from several. Plain data; no
// Pinocchio.

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/core/infinity.hpp"
#include "deft/math/rotation.hpp"
#include "deft/multibody/description/shape_spec.hpp"

namespace deft::multibody {

/// `<inertial>`: mass, centre of mass and inertia of a link.
struct InertialSpec {
  double mass = 0;                                    // [kg]
  Eigen::Vector3d p_LCom = Eigen::Vector3d::Zero();   // [m], link frame
  Eigen::Matrix3d I_Com_L = Eigen::Matrix3d::Zero();  // about the centre of mass, link axes [kg m²]
};

/// A collision or visual geometry of a link, at X_LG in the link frame.
struct GeometrySpec {
  std::string name;                                  // of the file, or collision_0, visual_1, …
  RigidTransform X_LG = RigidTransform::Identity();  // pose in the link frame
  ShapeSpec shape;                                   // in the geometry's frame
  std::optional<double> mu_static, mu_dynamic;       // drake:mu_static / drake:mu_dynamic
  std::optional<double> mu;                          // one coefficient: deft `mu`, SDF surface/friction/ode/mu
  std::optional<double> torsion;                     // friction of turning over that of sliding [m] > 0: MJCF condim 4
  unsigned contact_type = 1, contact_affinity = 1;  // two collide if a type of one is among the affinities of the other
  std::optional<std::array<double, 4>> rgba;        // of visuals: red, green, blue, opacity, each 0 … 1
  SourceLocation where;                             // of its element
};

/// What of a mesh is filled: what its triangles enclose, that with the volume of every cone from the middle counted as
/// positive (MuJoCo's old way, right for what is star-shaped about its middle), or the hull.
enum class MeshFilling { kEnclosed, kCones, kHull };

/// A piece of uniform density that a link without a stated inertial weighs.
struct SolidSpec {
  ShapeSpec shape;                                   // in the frame at X_LG
  RigidTransform X_LG = RigidTransform::Identity();  // pose in the link frame
  std::optional<double> mass;                        // [kg]
  double density = 1000;                             // [kg/m³], of a shell [kg/m²]; where there is no mass
  bool shell = false;                                // all of it in the surface
  MeshFilling filling = MeshFilling::kEnclosed;      // of a mesh that is no shell
  std::vector<std::array<int, 3>> triangles;         // of a mesh of inline points; none: its hull
  SourceLocation where;                              // of its element
};

/// How inertias are changed once all are known, as MuJoCo's compiler does.
struct InertiaRules {
  bool balance = false;     // moments that no body has become their mean
  double least_mass = 0;    // [kg] of a link that moves
  double least_moment = 0;  // [kg m²], principal, likewise
  double total_mass = -1;   // [kg]; all masses and moments are scaled to it if > 0
};

/// A link (a body) of a model.
struct LinkSpec {
  std::string name;                                  // unique in its model
  std::optional<InertialSpec> inertial;              // none: that of its solids
  std::vector<SolidSpec> solids;                     // counted where there is no inertial; none of either: massless
  std::vector<GeometrySpec> collisions, visuals;     // file order
  RigidTransform X_ML = RigidTransform::Identity();  // in the model frame with joints at zero; read for free and static
                                                     // links
  SourceLocation where;                              // of its element
};

/// One degree of freedom of a joint.
struct JointAxisSpec {
  std::string coordinate;                             // name after the model's: "joint_1", "x", "theta"
  bool rotational = true;                             // else translational
  Eigen::Vector3d axis_J = Eigen::Vector3d::UnitZ();  // any length > 0, in the joint frame on the parent's side
  double lower = -kInfinity, upper = kInfinity;       // [rad or m]
  double effort_limit = kInfinity;                    // [N·m or N]
  double velocity_limit = kInfinity;                  // [rad/s or m/s]
  double damping = 0;                                 // viscous [N·m s/rad or N s/m]
  double armature = 0;                                // inertia of the drive, as the axis feels it [kg m² or kg]
  double stiffness = 0;                               // of the file's position drive [N·m/rad or N/m]; 0: none
  double spring_stiffness = 0, spring_reference = 0;  // of a passive spring [N·m/rad or N/m]; at rest there [rad or m]
};

/// How a joint moves. kAxes: about and along its axes, one after the other (revolute, prismatic, planar, …).
enum class JointKind { kFixed, kAxes, kBall, kFree };

/// A joint between two links:  X_PC = X_PJ · motion · X_CJ⁻¹.
struct JointSpec {
  std::string name;                                  // unique in its model
  JointKind kind = JointKind::kFixed;                // how the child moves against the parent
  std::string parent = "world", child;               // link names of the same model, or "world"
  RigidTransform X_PJ = RigidTransform::Identity();  // joint frame in the parent link; in the model frame if parent =
                                                     // "world"
  RigidTransform X_CJ = RigidTransform::Identity();  // joint frame in the child link
  std::vector<JointAxisSpec> axes;                   // of kAxes, from the parent outwards
  bool gives_way = false;  // of kFixed: a weld of the child takes its place, as of kFree always
  double armature = 0;     // of kBall and kFree: inertia of each of its velocities [kg m², and
                           // kg of those along axes]
  SourceLocation where;    // of its element
};

/// A coordinate that follows another one:  q_follower = ratio · q_leader + offset  (`<mimic>`, MJCF's `<equality>` of
/// joints).
struct CouplingSpec {
  std::string follower;  // coordinate of an axis of the same model
  std::string leader;    // another one, which may follow a third; empty: the follower stays at `offset`
  double ratio = 1;      // units of the follower per unit of the leader
  double offset = 0;     // [rad or m] of the follower
  SourceLocation where;  // of its element
};

/// A named frame at a fixed pose X_AF in what it is attached to.
struct FrameSpec {
  std::string name;         // unique in its model, or in the world
  std::string attached_to;  // link or frame of the same model (in MultibodySpec: scoped name or "world")
  RigidTransform X_AF = RigidTransform::Identity();  // pose in that link or frame
  SourceLocation where;                              // of its element or directive
};

/// Two geometries that collide whatever their bits say, with a friction of their own.
struct GeometryPairSpec {
  std::array<std::string, 2> geometries;  // names in the model
  std::optional<double> mu;               // none: as their own coefficients say
  std::optional<double> torsion;          // likewise
  SourceLocation where;                   // of its element
};

/// Two links of which no geometries collide.
struct ExcludedPairSpec {
  std::array<std::string, 2> links;  // names in the model, or "world"
  SourceLocation where;              // of its element
};

/// A configuration that a file names.
struct KeyframeSpec {
  /// Where a link without a holder is.
  struct FreeLink {
    std::string link;                                  // of the model
    RigidTransform X_ML = RigidTransform::Identity();  // in the model frame
  };
  std::string name;                                    // unique in its model
  std::vector<std::pair<std::string, double>> joints;  // value by coordinate: axes, and qw qx qy qz of ball joints
  std::vector<FreeLink> free;                          // in the order of the links
  SourceLocation where;                                // of its element
};

/// One URDF, one SDFormat `<model>`, one MJCF file, or one inline body. A root link that no joint or weld holds is
/// free.
struct ModelSpec {
  std::string name;                                      // unique in the world
  std::vector<LinkSpec> links;                           // file order; links[0] is the base unless `base` names another
  std::vector<JointSpec> joints;                         // file order
  std::vector<CouplingSpec> couplings;                   // file order
  std::vector<FrameSpec> frames;                         // attached to its links or to each other
  std::string base;                                      // canonical link; empty = the first
  RigidTransform X_WModel = RigidTransform::Identity();  // `<model><pose>`: model frame in the world (joints to the
                                                         // world, free and static links)
  bool is_static = false;                                // all of it is welded to the world
  std::vector<GeometryPairSpec> pairs;                   // beyond what the bits of contact let collide
  std::vector<ExcludedPairSpec> excluded;                // whatever the bits say
  bool collides_with_base = false;      // a link may touch the one that is fixed to the world and carries
                                        // it, as in MuJoCo
  std::vector<KeyframeSpec> keyframes;  // file order
  InertiaRules inertia_rules;           // of collision::weigh
  bool inline_body = false;             // its body is printed "ball" rather than "ball/link"
  SourceLocation where;                 // of its element or directive
};

/// Welds `child` (model::link or model::frame) to `parent` ("world", model::link, or a frame) at X_PC.
struct WeldSpec {
  std::string parent, child;                         // scoped names
  RigidTransform X_PC = RigidTransform::Identity();  // pose of the child's frame in the parent's
  SourceLocation where;                              // of the directive
};

/// The world as directives assemble it.
struct MultibodySpec {
  std::vector<ModelSpec> models;  // declaration order
  std::vector<WeldSpec> welds;    // declaration order
  std::vector<FrameSpec> frames;  // of the world, not of a model: add_frame
};

}  // namespace deft::multibody
