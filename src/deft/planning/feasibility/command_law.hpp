#pragma once
// The command that brings an object nearest to where it should go, by the linearised step.

#include <Eigen/Core>

namespace deft::planning {

/// Bounds of a command.
struct CommandBounds {
  Eigen::VectorXd lower, upper;  // of δu, size nu, lower ≤ 0 ≤ upper [rad, m]
  double norm = 0.3;             // ε > 0, of ‖δu‖ [rad, m]
};

/// δu = argmin ‖e − B δu‖² + λ‖δu‖²  s.t.  ‖δu‖ ≤ ε, lower ≤ δu ≤ upper.
///
/// The ball is exact (the secular equation of B Bᵀ, which is small). The box is met by fixing entries that leave it at
/// their bound and solving again for the rest, with what remains of ε: feasible, and exact unless a fixed entry would
/// come back. @param B  [k × nu] with k small. @param e  size k [m]. @param lambda  λ ≥ 0 [m²]. @param du  size nu.
void nearest_command(const Eigen::MatrixXd& B, const Eigen::VectorXd& e, double lambda, const CommandBounds& bounds,
                     Eigen::VectorXd& du);

/// The rule of the baseline (Pang, Suh, Yang and Tedrake, IEEE T-RO 2023): the shortest of the δu that minimise
/// ‖e − B δu‖², scaled down to ‖δu‖ ≤ ε, clamped to the bounds.
void clipped_command(const Eigen::MatrixXd& B, const Eigen::VectorXd& e, const CommandBounds& bounds,
                     Eigen::VectorXd& du);

}  // namespace deft::planning
