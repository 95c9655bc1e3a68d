#pragma once
// A point (or a disc that does not turn) in the plane among flat surfaces, as a linear complementarity system: what
// mixed-integer contact control steers.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/lcs/lcs_program.hpp"

namespace deft::dynamics {

/// A fixed flat surface with friction: the point stays where gap = n·q + offset ≥ 0.
struct FlatSurface {
  Eigen::Vector2d normal;  // n, a unit vector into the free side
  double offset = 0;       // [m]; a disc of radius r: that of the surface less r
  double mu = 0;           // friction coefficient, ≥ 0
};

/// A point with inertia under forces u [N] along both axes.
struct SurfaceContactModel {
  Eigen::Matrix2d mass = Eigen::Matrix2d::Identity();  // M [kg], symmetric, positive definite
  double h = 0.1;                                      // step [s], > 0
  Eigen::Vector2d force = Eigen::Vector2d::Zero();     // constant, for example the weight [N]
  std::vector<FlatSurface> surfaces;                   // any number, in the order of their pairs
};

/// One semi-implicit step with inelastic contact and Coulomb friction, impulses [N·s]:
///   v⁺ = v + M⁻¹(h u + h f + Σ n_i c_i + t_i (β_i1 − β_i2)),  q⁺ = q + h v⁺,
///   0 ≤ c_i ⟂ n_i·q⁺ + offset_i ≥ 0,  0 ≤ β_i ⟂ ±t_i·v⁺ + λ_i ≥ 0,  0 ≤ λ_i ⟂ μ_i c_i − β_i1 − β_i2 ≥ 0.
/// State (q, v) [m, m/s], input u; pairs in the order c of all surfaces, β of all surfaces (two each, +t first), λ of
/// all surfaces [m/s]. t ⟂ n has its first coordinate that is not zero positive. The gap is exact, since the surfaces
/// are flat.
/// @throws std::invalid_argument naming the field and the value. Source: the time-stepping model of Stewart and Trinkle
/// with flat surfaces.
solvers::lcs::LinearComplementaritySystem surface_contact_lcs(const SurfaceContactModel& model);

}  // namespace deft::dynamics
