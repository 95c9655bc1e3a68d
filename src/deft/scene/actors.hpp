#pragma once
// Who acts in a scene: robots, whose joints are commanded, and objects, which contact moves.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/model.hpp"
#include "deft/scene/description/scene_spec.hpp"
#include "deft/scene/scene.hpp"

namespace deft::scene {

/// Splits the movable models into robots (named by the scene) and objects (all others), with their springs, limits,
/// admittances, limit surfaces and damping. Errors: unknown names, joints that cannot be actuated, values out of range
/// or of the wrong number, and what step.model does not have.
void sort_models(const WorldSpec& spec, const StepSettings& step, const multibody::Model& model,
                 Diagnostics& diagnostics, std::vector<Robot>& robots, std::vector<Object>& objects);

/// Springs in place of couplings, 1e6 times as stiff as what else resists their joints in a step (drives K of robots,
/// and M/h² where the step model has it; stiffer ones would leave no digits for the rest), and those that joints have
/// by their files. What is frozen has none. Where step.model has no place for them on objects: an error for couplings,
/// a warning for springs.
std::vector<JointSpring> joint_springs(const WorldSpec& spec, const StepSettings& step, const multibody::Model& model,
                                       std::span<const Robot> robots, std::span<const Object> objects,
                                       Diagnostics& diagnostics);

/// Objects, and robots driven by forces, resist motion by their inertia alone: an error for each whose mass matrix is
/// not positive definite at q (size nq), and for objects that carry each other.
void check_inertia(const WorldSpec& spec, const multibody::Model& model, const Eigen::VectorXd& q,
                   std::span<const Robot> robots, std::span<const Object> objects, Diagnostics& diagnostics);

/// Warns of effort limits that are asked for but stated nowhere.
void check_effort_limits(const WorldSpec& spec, const StepSettings& step, std::span<const Robot> robots,
                         Diagnostics& diagnostics);

}  // namespace deft::scene
