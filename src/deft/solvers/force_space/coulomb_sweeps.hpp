#pragma once
// Nonsmooth Gauss–Seidel for Coulomb's law in force space. Private to src/deft/solvers.

#include "deft/solvers/force_space/force_space.hpp"

namespace deft::solvers::force_space {

/// Solves one contact after the other, the forces of the others fixed (J. J. Moreau, M. Jean; V. Acary, B. Brogliato,
/// "Numerical Methods for Nonsmooth Dynamical Systems" (2008), §13.7): slow near a solution, robust far from it.
class CoulombSweeps {
 public:
  /// Takes the blocks W_ii of a problem, the one that later calls are given.
  void start(const ForceSpace& space);
  /// One symmetric sweep over all contacts, forwards and backwards. @returns the largest change of a (scaled) force.
  double sweep(const ForceSpace& space, Eigen::VectorXd& r) const;
  /// Extrapolates, because sweeps may move along nearly straight lines for thousands of steps: by 10, 20, 40, … times
  /// r − `before`, the step of the last sweep, a sweep after each, as long as no force changes more than `change`, that
  /// of the last sweep. @returns the number of sweeps; `change` is then that of the last one kept.
  int extrapolate(const ForceSpace& space, const Eigen::VectorXd& before, double& change, Eigen::VectorXd& r) const;

 private:
  /// What the law of one contact needs: W_ii = [W_n wᵀ; w W_t], and the eigenvectors of W_t − wwᵀ/W_n.
  struct Local {
    double normal = 1;
    double coupling[2] = {0, 0};
    double eigenvalue[2] = {1, 1};
    double axis[2] = {1, 0};  // of the first one
  };
  static void solve_contact(int rows, const Local& local, const double* q, double* r);
  void visit(const ForceSpace& space, std::size_t i, Eigen::VectorXd& r, double& change) const;

  std::vector<Local> locals_;
};

}  // namespace deft::solvers::force_space
