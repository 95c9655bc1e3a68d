#pragma once
// De Saxcé's fixed point for Coulomb's law in force space. Private to src/deft/solvers.

#include "deft/solvers/force_space/associated_law.hpp"
#include "deft/solvers/force_space/coulomb_newton.hpp"

namespace deft::solvers::force_space {

/// Coulomb's law is the associated law with q_n + s where s = g(s) = ‖u_t‖ (G. De Saxcé, Z.-Q. Feng (1998)). The fixed
/// point is found by Newton's method on f = g(s) − s: ∂g/∂s acts through the factor of the associated law, (1 − ∂g/∂s)
/// ds = f is solved by GMRES, and every trial point is a whole associated solve, so that only the sliding velocities
/// are unknown. Near the end CoulombNewton takes over.
class CoulombFixedPoint {
 public:
  /// Takes a problem, which must outlive the use.
  void start(const ForceSpace& space);
  /// From the forces in r if `warm`, from frictional separation otherwise; at most `most` steps, fewer where they
  /// stall. Leaves the best forces in r. @returns their residual, ForceSpace::coulomb_residual.
  double solve(bool warm, double tolerance, int most, AssociatedLaw::Budget& budget, Eigen::VectorXd& r);
  /// Number of associated laws solved since `start`.
  int associated_solves() const { return solves_; }

 private:
  bool evaluate(const Eigen::VectorXd& s, bool warm, Eigen::VectorXd& f);
  double search_along(const Eigen::VectorXd& step, Eigen::VectorXd& s, Eigen::VectorXd& f);
  Eigen::VectorXd newton_step(const Eigen::VectorXd& f);
  Eigen::VectorXd sliding(const Eigen::VectorXd& r) const;

  const ForceSpace* space_ = nullptr;
  AssociatedLaw::Budget* budget_ = nullptr;
  AssociatedLaw associated_;
  CoulombNewton newton_;
  BestForces best_;
  double tolerance_ = 0;
  int solves_ = 0;
};

}  // namespace deft::solvers::force_space
