#pragma once
// What every solution of the limit-surface model satisfies, evaluated from forces and motions alone.

#include <Eigen/Core>
#include <span>

#include "deft/dynamics/complementarity/support_friction.hpp"
#include "deft/dynamics/step_model.hpp"

namespace deft::dynamics {

/// The two invariants of Halm and Posa's theorems 1 and 2, for one step with impulses Λ, F = JᵀΛ.
struct LimitSurfaceBalance {
  /// |F_oᵀAF_o + cF_mᵀBF_m + Σ μΛ_N|J_tδ| + hF_mᵀu + φᵀΛ_N| over the sum of the terms' sizes (at least 1e-6 of what
  /// moves an object as commanded, so that forces of rounding do not count): what supports, robots and contacts
  /// dissipate is what the robots' commands put in. 0 where nothing touches.
  double balance = 0;
  /// c λ_min(B)‖F_m‖² over h‖F_m‖‖u‖ + Σ max(0, −φ)Λ_N, at most 1: robots deviate from their commands by no more than
  /// the commanded motion, unless they start inside bodies and are pushed out. 0 where nothing touches, or c = 0.
  double bound = 0;
};

/// @param result  a solved step, its forces still impulses Λ; `problem` holds the gaps φ of its rows, `program` bounds
/// of joint limits.
/// @param drift  h u, size nu.  @param admittance  c B, size nu; zero for perfect control.
LimitSurfaceBalance balance_of(const scene::Scene& scene, const StepResult& result,
                               std::span<const SupportFriction> supports, const Eigen::VectorXd& drift,
                               const Eigen::VectorXd& admittance);

}  // namespace deft::dynamics
