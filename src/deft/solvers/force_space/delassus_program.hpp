#pragma once
// Frictional contact in the space of forces: u = W r + q with W = J M⁻¹ Jᵀ, the form in which collections of contact
// problems are published.
//
//   associated:  K* ∋ u ⟂ r ∈ K            (the convex step's law; minimises ½ rᵀWr + qᵀr over K)
//   Coulomb:     K* ∋ u + μ‖u_t‖ n ⟂ r ∈ K (no separation while sliding; De Saxcé and Feng, Math. Comput. Modelling 28
//   (1998))
//
// K is the product of the friction cones ‖r_t‖ ≤ μ r_n, K* that of ‖u_t‖ ≤ u_n/μ.

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <vector>

namespace deft::solvers::force_space {

/// Whether sliding contacts separate (the convex model) or not.
enum class SlidingLaw { kAssociated, kCoulomb };

/// One problem. Local order of each contact: n, t (, o).
struct DelassusProgram {
  int dim = 3;                               // 2 or 3 rows per contact
  Eigen::SparseMatrix<double> W;             // symmetric positive semidefinite, size dim × contacts [1/kg, or m/N]
  Eigen::VectorXd q;                         // free relative velocities [m/s], or gaps and displacements [m]
  std::vector<double> mu;                    // per contact, ≥ 0
  SlidingLaw law = SlidingLaw::kAssociated;  // that is to be solved and certified
};

/// Forces and relative velocities, size dim × contacts in local order.
struct DelassusSolution { Eigen::VectorXd r, u; };  // [N, or what W and q make of it], [m/s, or m]

/// Residuals recomputed from the raw program: u − (Wr + q) in its own units; how far û = u (+ μ‖u_t‖n) and r are
/// outside their cones and from complementarity, scaled by w_i = √(tr W_ii/dim) and E0 = max_i |q_i|²/w_i² (at least
/// 1e-12): |·|/(w√E0), |·|w/√E0, |û·r|/max(E0, w|r|√E0), the last one the product over what the force does at the
/// natural velocity, since rounding of û grows with the forces of heavy bodies on light contacts.
struct DelassusCertificate {
  double stationarity = 0, primal = 0, dual = 0, complementarity = 0;    // scaled: of u, of û, of r, of û·r
  double stationarity_abs = 0, primal_abs = 0, complementarity_abs = 0;  // [m/s], [m/s] and [W], or as W and q say
  /// The largest of the scaled residuals.
  double max_scaled() const;
};

/// @throws std::invalid_argument naming the field, on inconsistent sizes, NaN or an impossible value.
void check(const DelassusProgram& program);

/// The residuals of `solution`; shares no code with the solver. @throws std::invalid_argument on wrong sizes.
DelassusCertificate certify(const DelassusProgram& program, const DelassusSolution& solution);

}  // namespace deft::solvers::force_space
