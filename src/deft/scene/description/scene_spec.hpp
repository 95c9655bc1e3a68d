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
std::string_view to_string(Drive drive);  // the word of scene files

/// An entry of `robots:`.
struct RobotSpec {
  std::string name;                // model name
  Drive drive = Drive::kPosition;  // what its commands are
  JointValues stiffness;           // K [N/m, N·m/rad] > 0; empty: that of the model file's position drives
  JointValues effort_limit;        // [N, N·m] >= 0 or inf; empty: the model file's
  JointValues velocity_limit;      // [m/s, rad/s] > 0 or inf; empty: the model file's
  JointValues admittance;          // B of the limit-surface model [m/s/N, rad/s/(N·m)] > 0; empty: none
  bool self_collision = false;     // whether its links may touch each other
  SourceLocation where;            // in the file, for messages
};

/// An entry of `objects:`.
struct ObjectSpec {
  std::string name;      // model name
  bool frozen = false;   // δ_u = 0
  SourceLocation where;  // in the file, for messages
};

/// A flat support with uniform pressure: its limit surface is exact.
struct SupportSpec {
  std::vector<Eigen::Vector2d> polygon;  // corners in order, body frame [m]
  double mu = 1;                         // friction coefficient of the support
  std::optional<double> force_N;         // normal force [N]; none: the weight
};
/// `limit_surface:` of an object: the ellipsoid FᵀÃF = 1 of loads F = (f_x [N], f_y [N], m [N·m]) in the body frame
/// that its support just resists, or the support.
struct LimitSurfaceSpec {
  Eigen::Matrix3d ellipsoid = Eigen::Matrix3d::Identity();  // Ã ≻ 0; unused with a support
  std::optional<SupportSpec> support;                       // instead of the ellipsoid
  SourceLocation where;                                     // in the file, for messages
};

/// An entry of `goals:`: coordinates to reach, and how nearly.
struct GoalSpec {
  ConfigurationSpec target;                                                                 // what is not named is free
  double tolerance_position_m = 0.01, tolerance_rotation_rad = 0.1, tolerance_joint = 0.1;  // ≥ 0, per joint [rad, m]
  std::map<std::string, double> tolerance_joints;  // [rad or m] of single joints, by "joint" or "model/joint"
};

/// `commands:`. Linear: a step takes the command at its end; hold: the last knot at or before its start.
enum class Interpolation { kLinear, kHold };
/// Joint targets at one time [s].
struct KnotSpec {
  double t = 0;                               // [s]
  std::map<std::string, JointValues> robots;  // by robot; missing joints keep their last value
  SourceLocation where;                       // in the file, for messages
};
/// Commanded velocities of one robot as formulas of t [s], by joint; evaluated at the start of a step.
struct FormulaSpec {
  std::map<std::string, std::string> by_name;  // missing joints: 0
  std::vector<std::string> list;               // file order, instead
  SourceLocation where;                        // in the file, for messages
};
/// Where a robot should be in one phase of a servo, and how fast it goes there.
struct ServoTarget {
  std::vector<double> place;  // pose (x, y(, θ)) in the base, or joint values without a base
  JointValues gain;           // K [-] ≥ 0, times the servo's gain; empty: 1
  SourceLocation where;       // in the file, for messages
};
/// One phase of a servo: counts from the end of the last one until `until`, inclusive.
struct ServoPhase {
  double until = kInfinity;                   // [s]
  std::string base;                           // an object whose frame the targets are in; empty: `pose`, or joints
  std::optional<std::array<double, 3>> pose;  // (x [m], y [m], θ [rad]) of the frame that the targets are in
  std::map<std::string, ServoTarget> robots;  // by robot; robots that are not named have zero velocity
  SourceLocation where;                       // in the file, for messages
};
/// `commands.servo`: u = gain · K (q_des − q), evaluated at the start of a step.
struct ServoSpec {
  double gain = 1;                 // [1/s]
  std::vector<ServoPhase> phases;  // ascending `until`
  SourceLocation where;            // in the file, for messages
};
/// Commands of the robots over time: joint targets, forces, or velocities (model limit-surface).
struct CommandSpec {
  bool velocity = false;                                 // whether numbers are velocities [rad/s, m/s]
  Interpolation interpolation = Interpolation::kLinear;  // between knots
  std::vector<KnotSpec> knots;                           // ascending t
  std::map<std::string, FormulaSpec> formulas;           // by robot; velocities only
  std::optional<ServoSpec> servo;                        // velocities only
  std::optional<double> until;  // [s], how long to simulate if not stated otherwise; none: the last knot or phase
  SourceLocation where;         // in the file, for messages
};

/// Every collision geometry pair whose names match both patterns (either way round) gets these values.
struct FrictionPairSpec {
  std::array<std::string, 2> between;              // "model", "model::link", "hand::*"
  std::optional<double> mu;                        // ≥ 0; none: by the rule for pairs
  std::optional<std::array<double, 3>> ellipsoid;  // e_t, e_o [-], e_r [m] > 0: patch friction
  bool frictionless = false;                       // the normal row alone, whatever the coefficients
  std::optional<double> rolling;                   // μ_r [m] ≥ 0; none: that of all pairs
  SourceLocation where;                            // in the file, for messages
};
/// `friction:`: what geometries without a coefficient have, patch friction, and overrides for pairs.
struct FrictionSpec {
  double fallback = 0.5;       // ≥ 0, of a geometry without a coefficient (warned of by name); 1.0 for q_sys files
  bool prefer_static = false;  // q_sys files: static coefficient; otherwise dynamic
  bool warn_missing = true;    // whether geometries without a coefficient, and with two different ones, are warned of
  std::optional<std::array<double, 3>> ellipsoid;  // of every pair that states none; none: no patch friction
  Eigen::Vector3d ellipsoid_axis{1, 0, 0};         // e_t acts along it, projected on the contact plane
  double rolling = 0;  // μ_r [m] ≥ 0, resistance to rolling of all pairs of which one geometry is round
  std::vector<FrictionPairSpec> pairs;  // a later entry overrides what it states of an earlier one
};

/// `when:` of a wrench: a condition (deft::Condition) on time and its body's state; kBodyVariables of wrench_table.hpp
/// names the variables.
struct WhenSpec {
  std::string text;      // as written
  SourceLocation where;  // in the file, for messages
};
/// An entry of `wrenches:`: a force and torque at a body's origin while `from` ≤ t ≤ `to`, or an impulse at one time;
/// with a condition, in those steps at whose start it is true.
struct WrenchSpec {
  std::string body;                                     // "model", "model::link" or "model/link"
  Eigen::Vector3d force_W{0, 0, 0}, torque_W{0, 0, 0};  // [N, N·m]; impulses [N·s, N·m·s]
  double from = 0, to = kInfinity;                      // [s]
  bool impulse = false;            // acts in the step that starts at or before `from`; with `when`, from that step on
  std::optional<WhenSpec> when{};  // none: time alone decides
  SourceLocation where;            // in the file, for messages
};

/// `add_collision_filter_group`: bodies of the group do not touch those of the groups that it ignores.
struct FilterGroupSpec {
  std::string name;                        // of the group
  std::vector<std::string> members;        // scoped body names, "model::link"
  std::vector<std::string> member_groups;  // names of groups whose bodies belong to this one too
  std::vector<std::string> ignored;        // names of groups (may be the group itself)
  SourceLocation where;                    // in the file, for messages
};

/// The world of a scene: what there is, where it starts and what it is commanded to do; checked for form.
struct WorldSpec {
  std::string name;                 // of the scene
  std::string file;                 // of the scene, for messages and relative paths
  bool is_q_sys = false;            // published dialect: conventions of the published simulator apply
  multibody::MultibodySpec world;   // directives first, then inline bodies, then objects with `file:`
  std::vector<RobotSpec> robots;    // models whose joints are actuated; all others that move are objects
  std::vector<ObjectSpec> objects;  // what is said of objects; those without an entry have the defaults
  std::map<std::string, LimitSurfaceSpec> limit_surfaces;  // by model
  std::vector<FilterGroupSpec> filter_groups;              // pairs that never touch
  Eigen::Vector3d gravity_W{0, 0, -9.81};                  // [m/s²]
  FrictionSpec friction;                                   // of geometries and pairs
  std::vector<WrenchSpec> wrenches;                        // external forces and torques
  std::optional<Plane> plane;                              // of motion; none: inferred
  std::vector<ConfigurationSpec> configurations;           // by name, file order
  ConfigurationSpec defaults;   // default_joint_positions / default_free_body_pose of the directives
  std::string initial;          // name of a configuration; empty = defaults
  CommandSpec commands;         // `commands:`; without knots, formulas and servo the robots stay where they start
  std::vector<GoalSpec> goals;  // file order; target.name is the goal's name
  std::string merged_yaml;      // the merged scene, re-runnable from anywhere (absolute file names)
};

/// A whole scene as its file states it: a world, and the settings of what is done with it. Scene::build checks the
/// rest.
struct SceneSpec : WorldSpec, SceneSettings {};

}  // namespace deft::scene
