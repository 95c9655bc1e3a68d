#pragma once
// Newton's method on Coulomb's law in force space. Private to src/deft/solvers.

#include <Eigen/Dense>
#include <Eigen/SparseLU>

#include "deft/solvers/force_space/force_space.hpp"
#include "deft/solvers/linear/spectral_cone_operator.hpp"

namespace deft::solvers::force_space {

/// Semismooth Newton on Φ(r) = r − P(r − û) = 0, û = u + ‖u_t‖ e_n, u = Wr + q. Steps are shortened until ‖Φ‖ falls.
/// Open contacts leave the linear system; it is factored sparse, or dense where W is.
class CoulombNewton {
 public:
  struct Outcome {
    double error = 0;  // ‖Φ‖∞ of the best point
    int steps = 0;
  };
  /// From r to ‖Φ‖∞ ≤ aim; leaves the best point in r.
  Outcome solve(const ForceSpace& space, double aim, int max_steps, Eigen::VectorXd& r);

 private:
  double evaluate(const ForceSpace& space, const Eigen::VectorXd& r);
  bool direction(const ForceSpace& space);

  Eigen::VectorXd u_, opening_, phi_, dr_;
  std::vector<linear::SpectralConeOperator> derivative_;
  std::vector<linear::Pattern> pattern_;
  std::vector<int> place_;  // of a row among those of contacts that are not open, −1
  Eigen::SparseMatrix<double> jacobian_;
  Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> sparse_;
  Eigen::PartialPivLU<Eigen::MatrixXd> dense_;
};

}  // namespace deft::solvers::force_space
