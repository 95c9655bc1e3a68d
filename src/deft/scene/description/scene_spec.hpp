#pragma once
// What a scene file says, after dialects, directives and overlays have been resolved: plain data, filled by io, built
// by Scene.

#include <Eigen/Core>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"
#include "deft/scene/description/configuration_spec.hpp"
#include "deft/scene/description/scene_settings.hpp"

namespace deft::scene {

/// What a command of a robot is: the target of the joint's spring, or the joint's force or torque itself.
enum class Drive { kPosition, kForce };
std::string_view to_string(Drive drive);

/// An entry of `robots:`.
struct RobotSpec {
  std::string name;  // model name
  Drive drive = Drive::kPosition;
  JointValues stiffness;     // [N/m, N·m/rad] > 0
  JointValues effort_limit;  // [N, N·m] >= 0 or inf; empty: the model file's
  JointValues admittance;    // B of the limit-surface model [m/s/N, rad/s/(N·m)] > 0; empty: none
  bool self_collision = false;
  SourceLocation where;
};

/// An entry of `objects:`.
struct ObjectSpec {
  std::string name;
  bool frozen = false;  // δ_u = 0
  SourceLocation where;
};

/// A flat support with uniform pressure: its limit surface is exact.
struct SupportSpec {
  std::vector<Eigen::Vector2d> polygon;  // corners in order, body frame [m]
  double mu = 1;                         // of the support
  std::optional<double> force_N;         // normal force; none: the weight
};
/// `limit_surface:` of an object: the ellipsoid FᵀÃF = 1 of loads F (body frame: x, y, θ) that its support just
/// resists, or the support.
struct LimitSurfaceSpec {
  Eigen::Matrix3d ellipsoid = Eigen::Matrix3d::Identity();  // Ã ≻ 0; unused with a support
  std::optional<SupportSpec> support;
  SourceLocation where;
};

/// An entry of `goals:`: coordinates to reach, and how nearly.
struct GoalSpec {
  ConfigurationSpec target;  // what is not named is free
  double tolerance_position_m = 0.01, tolerance_rotation_rad = 0.1, tolerance_joint = 0.1;
  std::map<std::string, double> tolerance_joints;  // [rad or m] of single joints, by "joint" or "model/joint"
};

/// `commands:`. Linear: a step takes the command at its end; hold: the last knot at or before its start.
enum class Interpolation { kLinear, kHold };
/// Joint targets at one time [s].
struct KnotSpec {
  double t = 0;
  std::map<std::string, JointValues> robots;  // missing joints keep their last value
  SourceLocation where;
};
/// Commanded velocities of one robot as formulas of t [s], by joint; evaluated at the start of a step.
struct FormulaSpec {
  std::map<std::string, std::string> by_name;  // missing joints: 0
  std::vector<std::string> list;               // file order, instead
  SourceLocation where;
};
/// Where a robot should be in one phase of a servo, and how fast it goes there.
struct ServoTarget {
  std::vector<double> place;  // pose (x, y(, θ)) in the base, or joint values without a base
  JointValues gain;           // [1/s] ≥ 0, times the servo's; empty: 1
  SourceLocation where;
};
/// One phase of a servo: counts from the end of the last one until `until`, inclusive.
struct ServoPhase {
  double until = kInfinity;                   // [s]
  std::string base;                           // an object whose frame the targets are in; empty: `pose`, or joints
  std::optional<std::array<double, 3>> pose;  // (x, y, θ) of the frame that the targets are in
  std::map<std::string, ServoTarget> robots;  // of robots that are not named: zero velocity
  SourceLocation where;
};
/// `commands.servo`: u = gain · K (q_des − q), evaluated at the start of a step.
struct ServoSpec {
  double gain = 1;                 // [1/s]
  std::vector<ServoPhase> phases;  // ascending `until`
  SourceLocation where;
};
/// What the robots are told to do over time: joint targets, or velocities (model limit-surface).
struct CommandSpec {
  bool velocity = false;
  Interpolation interpolation = Interpolation::kLinear;
  std::vector<KnotSpec> knots;                  // ascending t
  std::map<std::string, FormulaSpec> formulas;  // by robot; velocities only
  std::optional<ServoSpec> servo;               // velocities only
  std::optional<double> until;  // [s], how long to simulate if not stated otherwise; none: the last knot or phase
  SourceLocation where;
};

/// Every collision geometry pair whose names match both patterns (either way round) gets these values.
struct FrictionPairSpec {
  std::array<std::string, 2> between;  // "model", "model::link", "hand::*"
  std::optional<double> mu;
  std::optional<std::array<double, 3>> ellipsoid;  // e_t, e_o [-], e_r [m] > 0: patch friction
  bool frictionless = false;                       // one row, whatever the coefficients
  SourceLocation where;
};
struct FrictionSpec {
  double fallback = 0.5;       // geometry without a coefficient (warned of by name); 1.0 for q_sys files
  bool prefer_static = false;  // q_sys files: static coefficient; otherwise dynamic
  bool warn_missing = true;
  std::optional<std::array<double, 3>> ellipsoid;  // of every pair that states none; none: no patch friction
  Eigen::Vector3d ellipsoid_axis{1, 0, 0};         // e_t acts along it, projected on the contact plane
  std::vector<FrictionPairSpec> pairs;
};

/// `when:` of a wrench: a condition (deft::Condition) on time and its body's state; kBodyVariables of wrench_table.hpp
/// names the variables.
struct WhenSpec {
  std::string text;
  SourceLocation where;
};
/// An entry of `wrenches:`: a force and torque at a body's origin while `from` ≤ t ≤ `to`, or an impulse at one time;
/// with a condition, in those steps at whose start it is true.
struct WrenchSpec {
  std::string body;
  Eigen::Vector3d force_W{0, 0, 0}, torque_W{0, 0, 0};  // [N, N·m]; impulses [N·s, N·m·s]
  double from = 0, to = kInfinity;                      // [s]
  bool impulse = false;  // acts in the step that starts at or before `from`; with `when`, from that step on
  std::optional<WhenSpec> when{};
  SourceLocation where;
};

/// add_collision_filter_group.
struct FilterGroupSpec {
  std::string name;
  std::vector<std::string> members;  // scoped body names, "model::link"; groups by `member_groups`
  std::vector<std::string> member_groups;
  std::vector<std::string> ignored;  // names of groups (may be the group itself)
  SourceLocation where;
};

/// The world of a scene: what there is, where it starts and what it is told to do; checked for form.
struct WorldSpec {
  std::string name;
  std::string file;                // of the scene, for messages and relative paths
  bool is_q_sys = false;           // published dialect: conventions of the published simulator apply
  multibody::MultibodySpec world;  // directives first, then inline bodies, then objects with `file:`
  std::vector<RobotSpec> robots;
  std::vector<ObjectSpec> objects;
  std::map<std::string, LimitSurfaceSpec> limit_surfaces;  // by model
  std::vector<FilterGroupSpec> filter_groups;
  Eigen::Vector3d gravity_W{0, 0, -9.81};  // [m/s²]
  FrictionSpec friction;
  std::vector<WrenchSpec> wrenches;
  std::optional<Plane> plane;  // none: inferred
  std::vector<ConfigurationSpec> configurations;
  ConfigurationSpec defaults;  // default_joint_positions / default_free_body_pose of the directives
  std::string initial;         // name of a configuration; empty = defaults
  CommandSpec commands;
  std::vector<GoalSpec> goals;  // file order; target.name is the goal's name
  std::string merged_yaml;      // the merged scene, re-runnable from anywhere (absolute file names)
};

/// A whole scene as its file states it: a world, and the settings of what is done with it. Scene::build checks the
/// rest.
struct SceneSpec : WorldSpec, SceneSettings {};

}  // namespace deft::scene
