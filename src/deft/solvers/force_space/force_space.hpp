#pragma once
// A problem in force space in scaled rows, in which all friction cones are the standard one. Private to
// src/deft/solvers.

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <limits>
#include <vector>

#include "deft/solvers/force_space/delassus_program.hpp"

namespace deft::solvers::force_space {

/// r = √E0/w · S r̂, u = w √E0 S⁻¹ û with S = diag(1, μ, μ), so that the blocks of Ŵ have diagonals near one and E0 = 1.
/// A contact without friction keeps its normal row only. All vectors of the members below are scaled.
struct ForceSpace {
  /// Where the rows of a contact are, and its scale.
  struct Contact {
    int first = 0, rows = 0;  // in the scaled vectors: n, t (, o), or n alone
    int raw = 0;              // first row in the program
    double w = 1, mu = 0;     // √(tr W_ii/dim), friction coefficient
  };
  std::vector<Contact> contacts;  // one per contact of the program
  Eigen::SparseMatrix<double> W;  // Ŵ, symmetric, both triangles
  Eigen::VectorXd q;              // q̂ = S q/(w √E0)
  double root_E0 = 1;             // √E0, E0 = max_i |q_i|²/w_i², at least 1e-12

  /// Scales a checked program: takes the symmetric part of W, without entries that are rounding. Allocates.
  void scale(const DelassusProgram& program);
  /// Fills `solution` with the forces r of the program and u = ½(W + Wᵀ)r + q, from the scaled forces.
  void unpack(const DelassusProgram& program, const Eigen::VectorXd& r, DelassusSolution& solution) const;
  /// How far scaled forces r are from the associated law with q + `de_saxce`, which has entries at the normals only:
  /// the largest distance of r and u = Wr + q + `de_saxce` from their cones, and |r·u| over max(1, |r|), of a contact.
  double residual(const Eigen::VectorXd& r, const Eigen::VectorXd& de_saxce) const;
  /// The same for Coulomb's law, whose De Saxcé correction is ‖u_t‖ e_n.
  double coulomb_residual(const Eigen::VectorXd& r) const;
};

/// The best forces that a search for Coulomb's law has seen.
struct BestForces {
  Eigen::VectorXd r;                                       // scaled
  double error = std::numeric_limits<double>::infinity();  // their ForceSpace::coulomb_residual
  bool solved = false;  // some forces came as close to the law as they can (`reachable`)

  /// Starts again; `from` stands in until forces are offered.
  void start(const Eigen::VectorXd& from);
  /// Keeps `candidate` if it is better. @returns `solved`.
  bool offer(const ForceSpace& space, double tolerance, const Eigen::VectorXd& candidate);
};

/// Residual that counts as solved where no method reaches the tolerance.
inline constexpr double kAcceptedResidual = 9e-7;
/// The residual that forces r can reach: `tolerance`, or 1e-15 of the largest force (at most 1e-6), in proportion to
/// which velocities are rounded.
double reachable(double tolerance, const Eigen::VectorXd& r);

}  // namespace deft::solvers::force_space
