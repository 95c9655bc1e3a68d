#pragma once
// Coulomb's law in force space, K* ∋ u + ‖u_t‖ n ⟂ r ∈ K (scaled rows). Private to src/deft/solvers.

#include "deft/solvers/force_space/coulomb_fixed_point.hpp"
#include "deft/solvers/force_space/coulomb_sweeps.hpp"

namespace deft::solvers::force_space {

/// Several methods, one after the other, until one reaches the tolerance; each begins where another one ended.
class CoulombLaw {
 public:
  /// Solves to `tolerance` (ForceSpace::coulomb_residual) within the budget; leaves the best forces in r.
  /// @returns Solved, also where only kAcceptedResidual was reached; Infeasible if normal forces alone prove that no u
  /// has u_n ≥ 0; else IterationLimit or TimeLimit.
  Status solve(const ForceSpace& space, double tolerance, AssociatedLaw::Budget& budget, Eigen::VectorXd& r);
  /// Number of associated laws solved by the fixed point in the last solve, proximal points not counted.
  int associated_solves() const { return fixed_point_.associated_solves(); }

 private:
  bool take(const Eigen::VectorXd& r);
  bool fixed_point(const Eigen::VectorXd* from);
  bool proximal_points(Eigen::VectorXd centre);
  bool newton(const Eigen::VectorXd& from);
  bool sweeps(int count, Eigen::VectorXd& r);
  bool sweeps_and_newton(Eigen::VectorXd& r) { return sweeps(kSweepsAtOnce, r) || newton(r); }
  void search();
  bool proves_infeasible(const AssociatedLaw::Budget& budget) const;

  static constexpr int kSweepsAtOnce = 200;

  const ForceSpace* space_ = nullptr;
  AssociatedLaw::Budget* budget_ = nullptr;
  double tolerance_ = 0;
  BestForces best_;
  CoulombFixedPoint fixed_point_;
  CoulombNewton newton_;
  CoulombSweeps sweeps_;
};

}  // namespace deft::solvers::force_space
