#pragma once
// Derivatives of a step of the equivalent-contact-point model, by the implicit function theorem on its complementarity
// problem.

#include <Eigen/Core>

#include "deft/dynamics/patch/patch_step.hpp"

namespace deft::dynamics {

/// Tangents per body: pose (θ, c) with R ← Exp(θ)R, then velocity (ω, v) of the centre of mass; impulses (angular about
/// C, linear).
struct PatchDerivative {
  Eigen::MatrixXd A;                     // ∂(end)/∂(start), 12 n × 12 n
  Eigen::MatrixXd B;                     // ∂(end)/∂(impulses), 12 n × 6 n
  Eigen::MatrixXd dp_start, dp_impulse;  // of (p_n, p_t, p_o, p_r) of each contact of the step, 4 per contact [N s, N m
                                         // s]; NaN where contacts share a load in many ways
  bool nonsmooth = false;                // one-sided: a pair has neither force nor gap, or is about to slide
  bool exists = false;                   // false: the motion has no derivative
};

/// The derivative of the last step of `stepper`, which must have been usable.
PatchDerivative differentiate(PatchStepper& stepper);

}  // namespace deft::dynamics
