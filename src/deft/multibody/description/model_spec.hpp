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

/// <inertial>: mass, centre of mass and inertia of a link.
struct InertialSpec {
  double mass = 0;                                    // [kg]
  Eigen::Vector3d p_LCom = Eigen::Vector3d::Zero();   // [m], link frame
  Eigen::Matrix3d I_Com_L = Eigen::Matrix3d::Zero();  // about the centre of mass, link axes [kg m²]
};

/// A collision or visual geometry of a link, at X_LG in the link frame.
struct GeometrySpec {
  std::string name;
  RigidTransform X_LG = RigidTransform::Identity();
  ShapeSpec shape;
  std::optional<double> mu_static, mu_dynamic;  // drake:mu_static / drake:mu_dynamic
  std::optional<double> mu;                     // one coefficient: deft `mu`, SDF surface/friction/ode/mu
  std::optional<std::array<double, 4>> rgba;    // visuals
  SourceLocation where;
};

/// A link (a body) of a model.
struct LinkSpec {
  std::string name;
  std::optional<InertialSpec> inertial;
  std::vector<GeometrySpec> collisions, visuals;
  RigidTransform X_ML = RigidTransform::Identity();  // in the model frame with joints at zero; read for free and static
                                                     // links
  SourceLocation where;
};

/// One degree of freedom of a joint.
struct JointAxisSpec {
  std::string coordinate;                             // name after the model's: "joint_1", "x", "theta"
  bool rotational = true;                             // else translational
  Eigen::Vector3d axis_J = Eigen::Vector3d::UnitZ();  // any length > 0, in the joint frame on the parent's side
  double lower = -kInfinity, upper = kInfinity;       // [rad or m]
  double effort_limit = kInfinity;                    // [N·m or N]
  double damping = 0;
};

/// How a joint moves. kAxes: about and along its axes, one after the other (revolute, prismatic, planar, …).
enum class JointKind { kFixed, kAxes, kBall, kFree };

/// A joint between two links:  X_PC = X_PJ · motion · X_CJ⁻¹.
struct JointSpec {
  std::string name;
  JointKind kind = JointKind::kFixed;
  std::string parent = "world", child;               // link names of the same model, or "world"
  RigidTransform X_PJ = RigidTransform::Identity();  // joint frame in the parent link; in the model frame if parent =
                                                     // "world"
  RigidTransform X_CJ = RigidTransform::Identity();  // joint frame in the child link
  std::vector<JointAxisSpec> axes;
  SourceLocation where;
};

/// A named frame at a fixed pose X_AF in what it is attached to.
struct FrameSpec {
  std::string name;
  std::string attached_to;  // link or frame of the same model (in MultibodySpec: scoped name or "world")
  RigidTransform X_AF = RigidTransform::Identity();
  SourceLocation where;
};

/// One URDF, one SDFormat <model>, or one inline body. A root link that no joint or weld holds is free.
struct ModelSpec {
  std::string name;
  std::vector<LinkSpec> links;    // file order; links[0] is the base unless `base` names another
  std::vector<JointSpec> joints;  // file order
  std::vector<FrameSpec> frames;
  std::string base;                                      // canonical link; empty = the first
  RigidTransform X_WModel = RigidTransform::Identity();  // <model><pose>: model frame in the world (joints to the
                                                         // world, free and static links)
  bool is_static = false;
  bool inline_body = false;  // its body is printed "ball" rather than "ball/link"
  SourceLocation where;
};

/// Welds `child` (model::link or model::frame) to `parent` ("world", model::link, or a frame) at X_PC.
struct WeldSpec {
  std::string parent, child;
  RigidTransform X_PC = RigidTransform::Identity();
  SourceLocation where;
};

/// The world as directives assemble it.
struct MultibodySpec {
  std::vector<ModelSpec> models;  // declaration order
  std::vector<WeldSpec> welds;
  std::vector<FrameSpec> frames;  // add_frame
};

}  // namespace deft::multibody
