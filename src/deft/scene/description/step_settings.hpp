#pragma once
// Which step model, and its numbers.

#include <optional>
#include <string_view>

#include "deft/core/infinity.hpp"
#include "deft/scene/description/configuration_spec.hpp"

namespace deft::scene {

/// `step.model`: what a step solves; the module that implements it explains it (README.md lists them).
enum class ModelKind {
  kConvex,
  kPerfectTracking,
  kImpedance,
  kLimitSurface,
  kStewartTrinkle,
  kConvexSecondOrder,
  kEquivalentContactPoint
};
/// Models of exact Coulomb friction, whose steps are complementarity problems.
bool is_complementarity_model(ModelKind kind);
/// `step.dynamics` of the convex model: inertia of the objects within a step, or none.
enum class Dynamics { kQuasidynamic, kQuasistatic };
/// `step.cone`: friction by a pyramid of `rays` edges, or by the cone itself.
enum class Cone { kPyramid, kCone };
/// `step.forces`: which of several possible contact forces are reported.
enum class Forces { kAny, kLeastNorm };
enum class FrictionLaw { kAssociated, kCoulomb };  // whether sliding bodies separate (the convex model) or not
/// `step.form` of the limit-surface model: gaps at the end of a step count, or velocities of what touches.
enum class LimitSurfaceForm { kTimeStepping, kVelocity };
enum class Plane { kSpace, kXY, kXZ, kYZ };  // plane of motion: one tangent per contact unless kSpace

/// The words of scene files.
std::string_view to_string(ModelKind kind);
std::string_view to_string(Dynamics dynamics);      // likewise
std::string_view to_string(Cone cone);              // likewise
std::string_view to_string(Forces forces);          // likewise
std::string_view to_string(FrictionLaw law);        // likewise
std::string_view to_string(LimitSurfaceForm form);  // likewise
std::string_view to_string(Plane plane);            // likewise

/// `step:` of a scene file. Listed with units and ranges by io's settings table.
struct StepSettings {
  std::optional<double> h;                              // [s] > 0; stepping without it is an error
  ModelKind model = ModelKind::kConvex;                 // what a step solves
  Dynamics dynamics = Dynamics::kQuasidynamic;          // model convex: inertia of the objects, or none
  Cone cone = Cone::kPyramid;                           // of friction
  int rays = 4;                                         // edges of the pyramid, even, ≥ 2; 2 in the plane
  FrictionLaw friction_law = FrictionLaw::kAssociated;  // of sliding contacts
  double kappa = kInfinity;                             // [1/J] > 0, weight of the log barrier; infinity: exact contact
  double contact_margin = 0.025;                // [m] ≥ 0, gap below which a pair is a candidate; infinity: every pair
  std::optional<double> unactuated_mass_scale;  // s > 0 [-] of the rule of convex_step; none = true mass
  /// Model convex; false: steps are solved with the objects' true mass, but the objects stay where they are. Files say
  /// it by unactuated_mass_scale: 0.
  bool objects_move = true;
  bool joint_limits = true;            // joint limits are constraints
  bool effort_limits = false;          // springs of the robots saturate at the joints' effort limits
  bool robot_gravity = false;          // gravity acts on robots too; otherwise they compensate their own weight
  JointValues joint_damping;           // [N·s/m, N·m·s/rad] ≥ 0; empty = 0
  JointValues object_damping;          // γ ≥ 0 [1/s] of −γ M v on objects; empty: what the model has by itself
  double compliance = 0;               // R ≥ 0 [m/N] of every contact; 0: rigid
  double recovery_speed = kInfinity;   // [m/s] > 0, second order: what penetrates is not parted faster than that
  bool uniqueness_check = false;       // whether an alternative motion is searched for in every step
  Forces forces = Forces::kLeastNorm;  // which of several possible ones are reported
  bool midpoint_forces = false;  // force and reaction at the common midpoint instead of at each body's own witness
  double friction_arm = 1;       // in (0, 1]: friction of a face acts at this share of its points' distance from their
                                 // middle; 1: at the points, as if pressure were all in the corners; equivalent
                                 // contact points need 1; without effect in a plane of motion
  double gain = 0;               // limit surface: c ≥ 0 of v = u + c B F; 0: perfect velocity control
  LimitSurfaceForm form = LimitSurfaceForm::kTimeStepping;  // limit surface: gaps or velocities
  /// Convex models: how often contacts are linearised again about the motion found; limit surface: gaps, until the step
  /// ends where they are linearised, unless 0 (kUntilSettled is for it alone).
  int relinearize = 0;
  static constexpr int kUntilSettled = -1;  // `relinearize: true` of files
};

}  // namespace deft::scene
