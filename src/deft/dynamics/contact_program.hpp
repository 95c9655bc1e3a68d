#pragma once
// The contact program of a step from its ContactProblem and the scene's settings.

#include "deft/contact/contact_problem.hpp"
#include "deft/scene/scene.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::dynamics {

/// Copies Q, b, J, masses and the contacts' laws; κ = ∞, no linear rows; bounds stay as they are. Pyramids have
/// `step.rays` rays, 2 in a plane of motion. No allocation once `program` has grown.
void make_contact_program(const scene::Scene& scene, const contact::ContactProblem& problem,
                          solvers::contact::ContactProgram& program);

/// Bounds lower − q ≤ δ ≤ upper − q of the one-axis joints that may move; none at all where `step.joint_limits` is off.
/// Sets both `lower` and `upper` or neither.
/// @param q  configuration at the start of the step.
void set_joint_limits(const scene::Scene& scene, const Eigen::VectorXd& q, solvers::contact::ContactProgram& program);

}  // namespace deft::dynamics
