#pragma once

#include <Eigen/Core>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/scene/scene.hpp"

namespace deft::scene {

/// What a condition on a body may name: time, its origin, its quaternion (w ≥ 0), its velocities in the world, in this
/// order.
inline constexpr std::array<std::string_view, 14> kBodyVariables{
    "t", "x", "y", "z", "qw", "qx", "qy", "qz", "omega_x", "omega_y", "omega_z", "v_x", "v_y", "v_z"};
inline constexpr std::size_t kFirstRate = 8;  // index of the first velocity in kBodyVariables

/// A body's pose and velocity: ω = Σ S_ω v, and v of the body's origin, both in the world. No allocation.
/// @param kinematics  updated at q.  @param v  size nv [rad/s, m/s], or empty: at rest.
BodyState body_state(const multibody::Model& model, const multibody::Kinematics& kinematics, const Eigen::VectorXd& v,
                     int body);

/// Wrench::share in the step [t, t + h] from a state, whether there is a condition or not. No allocation.
/// @param kinematics  updated at q.  @param v  size nv, or empty: at rest.
double wrench_share(const Wrench& wrench, double t, double h, const multibody::Model& model,
                    const multibody::Kinematics& kinematics, const Eigen::VectorXd& v);

/// The external wrenches of a scene on bodies of its model. Errors, which go to `diagnostics`: unknown bodies, bodies
/// that cannot move, bodies of frozen objects, times in the wrong order, conditions that cannot be read, and conditions
/// on velocities in models of first order.
std::vector<Wrench> resolve_wrenches(std::span<const WrenchSpec> specs, const multibody::Model& model,
                                     std::span<const Object> objects, ModelKind kind, Diagnostics& diagnostics);

}  // namespace deft::scene
