#pragma once

#include "deft/dynamics/patch/patch_world.hpp"

namespace deft::dynamics {

/// The bodies, shapes and pairs of a scene for the equivalent-contact-point model, at its initial configuration.
/// @throws InputError that names what the model does not have: robots, joints other than free ones, frozen objects,
/// capsules and points, half-spaces that move, smoothing (κ), compliance, a plane of motion; or that the scene has no
/// step length.
PatchWorld make_patch_world(const scene::Scene& scene);

/// States of a scene's free bodies at their centres of mass, from its configuration and velocity (empty v: at rest).
void read_states(const scene::Scene& scene, const PatchWorld& world, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                 std::vector<PatchState>& states);
/// The way back: configuration (size nq) and velocity (size nv) of the scene from the states of its bodies.
void write_states(const scene::Scene& scene, const PatchWorld& world, std::span<const PatchState> states,
                  Eigen::VectorXd& q, Eigen::VectorXd& v);

/// Sets `impulses` (one per PatchBody) to those of the scene's wrenches over [t, t + h], about the centres of mass.
void add_wrench_impulses(const scene::Scene& scene, const PatchWorld& world, double t,
                         std::span<const PatchState> states, std::vector<PatchImpulse>& impulses);

/// ∂(angular impulse about C of those wrenches)/∂θ of PatchBody `body` [N m s]: the arms of forces turn with it.
Eigen::Matrix3d wrench_torque_derivative(const scene::Scene& scene, const PatchWorld& world, double t,
                                         std::span<const PatchState> states, int body);

}  // namespace deft::dynamics
