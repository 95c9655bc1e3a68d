#pragma once
// Coulomb's law in force space, K* ∋ u + ‖u_t‖ n ⟂ r ∈ K (scaled rows). Private to src/deft/solvers.

#include "deft/solvers/force_space/coulomb_fixed_point.hpp"
#include "deft/solvers/force_space/coulomb_sweeps.hpp"

namespace deft::solvers::force_space {

/// Several methods, one after the other, until one reaches the tolerance; each begins where another one ended.
class CoulombLaw {
 public:
  /// Leaves the best forces in r. @returns Solved, Infeasible (no u_n ≥ 0 within reach), or why the search ended.
  Status solve(const ForceSpace& space, double tolerance, AssociatedLaw::Budget& budget, Eigen::VectorXd& r);
  int associated_solves() const { return fixed_point_.associated_solves(); }

 private:
  bool take(const Eigen::VectorXd& r);
  bool fixed_point(const Eigen::VectorXd* from);
  bool proximal_points(Eigen::VectorXd centre);
  bool newton(const Eigen::VectorXd& from);
  bool sweeps(int count, Eigen::VectorXd& r);
  bool sweeps_and_newton(Eigen::VectorXd& r) { return sweeps(kSweepsAtOnce, r) || newton(r); }
  void search();
  bool no_room(const AssociatedLaw::Budget& budget) const;

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
