#pragma once
// Small dense linear programs whose only use is a bound that rounding cannot make wrong.

#include <Eigen/Core>
#include <vector>

namespace deft::solvers::lcs {

/// The set {(z, w): w = R z, lower ≤ (z, w) ≤ upper}, z ∈ Rⁿ, w ∈ Rᵐ; bounds may be infinite.
///
/// A primal simplex method finds multipliers y of w = Rz. Any y bounds any c = (c_z, c_w) on the set, since
///   c·(z, w) = (c_z − Rᵀy)·z + (c_w + y)·w ≤ Σ max over the box of each term,
/// so that the result is this sum, computed from R itself and rounded up: rounding in the simplex method can only make
/// it looser. A coefficient on an entry without bound that is rounding (1e-12 of what it is the difference of) counts
/// as zero.
class BoxLinearProgram {
 public:
  /// @param R m × n.   @param lower, upper size n + m, lower ≤ upper.   @throws std::invalid_argument on wrong sizes.
  BoxLinearProgram(Eigen::MatrixXd R, Eigen::VectorXd lower, Eigen::VectorXd upper);

  /// A number that no point's c·(z, w) exceeds; infinity if none was found, −infinity if there is proof that the set is
  /// empty.
  /// @param c size n + m. The basis of one call is the start of the next.
  double upper_bound(const Eigen::VectorXd& c);
  /// The same on the part of the set where entry `index` of (z, w) is at most `cap`; that this part is empty
  /// proves nothing about the set.
  double upper_bound_below(const Eigen::VectorXd& c, Eigen::Index index, double cap);
  /// Whether a call found a proof that the set is empty (by more than 1e-7 of the terms that prove it).
  bool empty() const { return empty_; }

 private:
  enum class Outcome { kOptimal, kUnbounded, kInfeasible, kStopped };
  Outcome iterate(const Eigen::VectorXd& c);
  bool step(const Eigen::VectorXd& slope, bool bland, bool repairing, Outcome& outcome);
  void pivot(Eigen::Index row, Eigen::Index col);
  double certified(const Eigen::VectorXd& c, const Eigen::VectorXd& reduced_w, double& terms) const;
  Eigen::VectorXd reduced_rows(const Eigen::VectorXd& reduced) const;

  Eigen::MatrixXd R_;
  Eigen::VectorXd lower_, upper_;
  Eigen::MatrixXd table_;                      // x_B = table x_N
  std::vector<Eigen::Index> basic_, outside_;  // their variables
  Eigen::VectorXd value_;  // of all variables; of those outside the basis a bound, or 0 if there is none
  Eigen::VectorXd slope_;  // of what the last step improved
  bool empty_ = false;
};

}  // namespace deft::solvers::lcs
