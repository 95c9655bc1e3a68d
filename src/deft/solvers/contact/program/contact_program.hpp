#pragma once
// The contact program in plain data: what every solver of contact programs takes. It knows no robots.
//
//   minimise ½ δᵀQδ + bᵀδ  [J]   over δ ∈ R^nv, subject to, per contact i with rows J_i = (n; t₁; t₂; spin):
//     pyramid      φ + n δ + μ d_jᵀ(t δ + o) ≥ 0,  d_j = cos(2πj/rays) e₁ + sin(2πj/rays) e₂,  j = 0 … rays−1
//     cone         φ + n δ ≥ μ ‖diag(e)(t δ + o)‖
//     frictionless φ + n δ ≥ 0
//   and lower ≤ δ ≤ upper, Gδ ≥ g, Aδ = a.
//   κ < ∞ adds −(1/κ) Σ log(slack) per ray, −(1/κ) Σ log(s_n² − ‖s_t‖²) per cone, −(1/κ) log per bound and linear row
//   (unless `hard`). Forces f satisfy Qδ + b = Σ J_iᵀ f_i + bound, linear and equality multipliers; f_i = (f_n, f_t1,
//   f_t2, f_spin) [N, N·m].

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "deft/math/block_diagonal.hpp"
#include "deft/math/row_blocks.hpp"

namespace deft::solvers::contact {

/// Shape of the friction constraint: linear rays, or the second-order cone.
enum class FrictionModel { kPyramid, kCone };

/// The scalar data of one contact; its rows are the block of the same index in ContactProgram::J.
struct ContactLaw {
  double gap = 0.0;                          // φ [m]
  double mu = 0.0;                           // friction coefficient
  bool frictionless = false;                 // one row, barrier weight 1
  bool cone = false;                         // a cone in a program of pyramids too
  std::array<double, 3> ellipsoid{1, 1, 1};  // e_t, e_o [-], e_r [m]; scales the tangential rows (cones only)
  std::array<double, 3> offset{0, 0, 0};     // o: tangential rows are J_t δ + o [m, m, rad]
  double compliance = 0.0;                   // R ≥ 0 [m/N]: slack s = Jδ + φ + R y, y the scaled multiplier
  std::uint64_t id = 0;                      // identity across steps, for warm starts; 0 = none
};

/// Linear rows of the program: row i δ ≥ rhs[i], or = rhs[i] for equalities.
struct LinearRows {
  RowBlocks rows;           // a block of one row each
  std::vector<double> rhs;  // one per row, in the row's unit
};

/// The program of this file's head.
struct ContactProgram {
  int nv = 0;         // unknowns: δ ∈ R^nv [m, rad]
  BlockDiagonal Q;    // [nv × nv] symmetric positive semidefinite [N/m, N·m/rad]; columns without a block are zero
  Eigen::VectorXd b;  // [N, N·m], size nv
  RowBlocks J;        // one block per contact: 1 (frictionless), 2 (plane), 3 (space) or 4 (with spin) rows
  std::vector<ContactLaw> contacts;                        // one per block of J
  FrictionModel model = FrictionModel::kPyramid;           // of all contacts; ContactLaw::cone overrides it for one
  int rays = 4;                                            // pyramid only; 2 when a contact has one tangent
  double kappa = std::numeric_limits<double>::infinity();  // [1/J], infinity = exact
  bool hard = false;                                       // with κ: no barrier on bounds and linear rows
  Eigen::VectorXd lower, upper;                            // empty, or size nv with ±infinity for none
  LinearRows linear;                                       // G δ ≥ g
  LinearRows equality;                                     // A δ = a
  BlockDiagonal masses;  // optional M_u/h² of blocks where Q is zero: regularises the certificate's metric Q̃
};

/// Whether contact i is a second-order cone (its tangential rows need not be more than one); otherwise a pyramid, or
/// one row.
inline bool is_cone(const ContactProgram& program, int i) {
  return program.model == FrictionModel::kCone || program.contacts[i].cone;
}

/// What a solver returns, besides its status. Sizes follow the program; all forces act along the raw (unscaled) rows.
struct ContactSolution {
  Eigen::VectorXd delta;                     // δ, size nv
  std::vector<std::array<double, 4>> force;  // per contact (f_n, f_t1, f_t2, f_spin), unused entries 0
  std::vector<double> gap;                   // per contact φ + n δ
  Eigen::VectorXd bound_multipliers;   // size nv (empty without bounds): positive pushes up from `lower`, negative down
                                       // from `upper`
  Eigen::VectorXd linear_multipliers;  // ≥ 0, size of `linear`
  Eigen::VectorXd equality_multipliers;  // size of `equality`
  std::vector<double> ray_multipliers;   // pyramids: β_j per contact in order (1 for frictionless), slack·β = 1/κ when
                                         // smoothed; cones none
  std::vector<double> slack;  // the solver's slacks in the order of ray_multipliers (pyramid); cone: (s_n, s_t…) per
                              // contact, flat
  /// Why there is no solution; empty for every other status.
  /// Infeasible: multipliers y in the dual cone of the rows, with Jᵀy = 0 and gᵀy < 0 (a Farkas ray; smoothed also
  /// gᵀy = 0 with y ≠ 0 on rows with a barrier). Size: per contact those of ray_multipliers (pyramid) or the force rows
  /// (cone, 1 if frictionless), then linear rows, equalities and, if there are bounds, nv lower and nv upper ones.
  /// Unbounded: a direction d, size nv, with Qd = 0, no row against it and bᵀd < 0 (smoothed: ≤ 0).
  Eigen::VectorXd proof;
  bool motion_unique = true;  // false where another motion of an exact program with singular Q is as good
  bool forces_unique = true;  // false where other forces could balance the same motion of an exact program, or where
                              // that was not examined
};

/// Checks sizes, ranges and that numbers are finite; it does not test whether Q is positive semidefinite.
/// @throws std::invalid_argument naming the field, on inconsistent sizes, NaN or an impossible value.
void check(const ContactProgram& program);

}  // namespace deft::solvers::contact
