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
  struct Contact {
    int first = 0, rows = 0;  // in the scaled vectors
    int raw = 0;              // in the program
    double w = 1, mu = 0;
  };
  std::vector<Contact> contacts;
  Eigen::SparseMatrix<double> W;  // symmetric
  Eigen::VectorXd q;
  double root_E0 = 1;

  void scale(const DelassusProgram& program);
  /// r and u = Wr + q of the program for the scaled forces.
  void unpack(const DelassusProgram& program, const Eigen::VectorXd& r, DelassusSolution& solution) const;
  /// How far forces r and u = Wr + q + `shift` e_n are from the law: both outside their cones, and their product.
  double residual(const Eigen::VectorXd& r, const Eigen::VectorXd& shift) const;
  /// The same for Coulomb's law, with u + ‖u_t‖ e_n.
  double coulomb_residual(const Eigen::VectorXd& r) const;
};

/// The best forces that a search for Coulomb's law has seen.
struct BestForces {
  Eigen::VectorXd r;
  double error = std::numeric_limits<double>::infinity();  // their ForceSpace::coulomb_residual
  bool solved = false;  // some forces came as close to the law as can be asked of them (`reachable`)

  /// Starts again; `from` stands in until forces are offered.
  void start(const Eigen::VectorXd& from);
  /// Keeps `candidate` if it is better. @returns `solved`.
  bool offer(const ForceSpace& space, double tolerance, const Eigen::VectorXd& candidate);
};

/// Residual that counts as solved where no method reaches the tolerance.
inline constexpr double kAcceptedResidual = 9e-7;
/// The residual that can be asked of forces r, in proportion to which velocities are rounded.
double reachable(double tolerance, const Eigen::VectorXd& r);

}  // namespace deft::solvers::force_space
