#pragma once
// Newton's method on Coulomb's law in force space. Private to src/deft/solvers.

#include <Eigen/Dense>
#include <Eigen/SparseLU>
#include <vector>

#include "deft/solvers/force_space/force_space.hpp"
#include "deft/solvers/linear/spectral_cone_operator.hpp"

namespace deft::solvers::force_space {

/// Semismooth Newton on Φ(r) = r − P(r − û) = 0, û = u + ‖u_t‖ e_n, u = Wr + q. Steps are shortened until ‖Φ‖ falls.
/// Open contacts leave the linear system; it is factored sparse, or dense where W is.
class CoulombNewton {
 public:
  /// How a solve ended.
  struct Outcome {
    double error = 0;  // ‖Φ‖∞ of the best point
    int steps = 0;     // of Newton's method
  };
  /// Iterates from r to ‖Φ‖∞ ≤ aim, at most `max_steps` times, fewer where the steps stall; leaves the best point in r.
  /// Allocates.
  Outcome solve(const ForceSpace& space, double aim, int max_steps, Eigen::VectorXd& r);

 private:
  double evaluate(const ForceSpace& space, const Eigen::VectorXd& r);
  bool direction(const ForceSpace& space);
  int place_rows(const ForceSpace& space);
  void assemble(const ForceSpace& space, int size);
  void add_contact(const ForceSpace& space, std::size_t i);
  bool solve_reduced(int size);

  Eigen::VectorXd u_, opening_, phi_, dr_;  // u, û, Φ and the step
  std::vector<linear::SpectralConeOperator> derivative_;
  std::vector<linear::Pattern> pattern_;

  // The linear system of the contacts that are not open.
  std::vector<int> place_;                       // of a row, −1 for those of open contacts
  std::vector<Eigen::Triplet<double>> entries_;  // of its matrix
  Eigen::VectorXd pulled_, rhs_, solution_;      // W times the steps of open contacts
  Eigen::SparseMatrix<double> jacobian_;
  Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> sparse_;
  Eigen::PartialPivLU<Eigen::MatrixXd> dense_;
};

}  // namespace deft::solvers::force_space
