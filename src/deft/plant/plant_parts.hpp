#pragma once
// What every plant needs: the inner loop's damping, the objects' damping, how a period is cut into inner steps.

#include <Eigen/Core>

#include "deft/plant/plant.hpp"

namespace deft::plant {

inline constexpr double kPointRadius_m = 1e-6;  // of what stands for a point in simulators that have none
inline constexpr double kSlip_m = 1e-7;         // over an inner step: above, a loaded contact slides

/// @throws std::invalid_argument naming the option that is out of its range, or has not one value per object.
void check_options(const scene::Scene& scene, const PlantOptions& options);

/// D per command [N s/m, N·m·s/rad] on plants of second order: step.joint_damping if the scene states one, else
/// max(2ζ √(K_i M_ii), K_i · joint_lag) with M_ii at the scene's initial configuration. Joints driven by forces: 0.
Eigen::VectorXd inner_loop_damping(const scene::Scene& scene, const PlantOptions& options);

/// γ per object on plants of second order [1/s]: the options', else what the scene's step.object_damping states, else
/// 0.
Eigen::VectorXd damping_of_objects(const scene::Scene& scene, const PlantOptions& options);

/// The least number of equal steps of a period that are no longer than `step` (but for rounding).
/// @throws std::invalid_argument unless 0 < period_s < ∞.
int inner_steps(double period_s, double step);

/// out = u_last + (u − u_last)·k/n, exactly u for k = n. No allocation when `out` has the size.
void interpolate_targets(const Eigen::VectorXd& u_last, const Eigen::VectorXd& u, int k, int n, Eigen::VectorXd& out);

/// @throws std::invalid_argument for a wrong size or an entry that is not finite. `v` may be empty.
void check_state(const scene::Scene& scene, const dynamics::State& start);
void check_targets(const scene::Scene& scene, const Eigen::VectorXd& u);  // size nu, finite

/// The state in which a simulator of second order begins: `start` at time 0, at rest if it has no velocity, frozen
/// objects at rest. Keeps the memory of `state`. @throws std::invalid_argument as check_state.
void begin_at(const scene::Scene& scene, const dynamics::State& start, dynamics::State& state);

}  // namespace deft::plant
