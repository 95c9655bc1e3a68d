#pragma once
// Which step model, and its numbers.

#include <optional>
#include <string_view>

#include "deft/core/infinity.hpp"
#include "deft/scene/description/configuration_spec.hpp"

namespace deft::scene {

/// Words of `step:` and `plane:`; what each means is in the README of the module that implements it.
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
enum class Dynamics { kQuasidynamic, kQuasistatic };
enum class Cone { kPyramid, kCone };
enum class Forces { kAny, kLeastNorm };
enum class FrictionLaw { kAssociated, kCoulomb };  // whether sliding bodies separate (the convex model) or not
enum class LimitSurfaceForm {
  kTimeStepping,
  kVelocity
};  // whether gaps at the end of a step count, or velocities of what touches
enum class Plane { kSpace, kXY, kXZ, kYZ };  // plane of motion: one tangent per contact unless kSpace

/// The words of scene files.
std::string_view to_string(ModelKind kind);
std::string_view to_string(Dynamics dynamics);
std::string_view to_string(Cone cone);
std::string_view to_string(Forces forces);
std::string_view to_string(FrictionLaw law);
std::string_view to_string(LimitSurfaceForm form);
std::string_view to_string(Plane plane);

/// `step:` of a scene file. Listed with units and ranges by io's settings table.
struct StepSettings {
  std::optional<double> h;  // [s] > 0; stepping without it is an error
  ModelKind model = ModelKind::kConvex;
  Dynamics dynamics = Dynamics::kQuasidynamic;
  Cone cone = Cone::kPyramid;
  int rays = 4;  // 2 in the plane
  FrictionLaw friction_law = FrictionLaw::kAssociated;
  double kappa = kInfinity;                     // [1/J]
  double contact_margin = 0.025;                // [m], infinity = every pair
  std::optional<double> unactuated_mass_scale;  // s; none = true mass; 0 = objects do not move
  bool joint_limits = true;
  bool effort_limits = false;
  bool robot_gravity = false;
  JointValues joint_damping;   // [N s/m, N·m·s/rad]; empty = 0
  JointValues object_damping;  // γ [1/s] of −γ M v on objects; empty: what the model has by itself
  double compliance = 0;       // R [m/N]
  bool uniqueness_check = false;
  Forces forces = Forces::kLeastNorm;  // which of several possible ones are reported
  bool midpoint_forces = false;  // force and reaction at the common midpoint instead of at each body's own witness
  double gain = 0;               // limit surface: c
  LimitSurfaceForm form = LimitSurfaceForm::kTimeStepping;
  bool relinearize = false;  // limit surface: gaps are linearised where the step ends
};

}  // namespace deft::scene
