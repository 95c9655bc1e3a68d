#pragma once
// The gap that sliding opens in the convex models, and the fixed point that takes it away (Coulomb's law).

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::dynamics {

/// How far the motion δ slides contact i, s = J_tδ (a patch: times its ellipsoid, with its spin) [m], and the gap that
/// the convex model opens for it: μ‖s‖ (cones), μ max_j d_jᵀs (pyramids), 0 without friction.
struct Slide { double distance = 0, gap = 0; };
Slide slide_of(const solvers::contact::ContactProgram& program, int i, const Eigen::VectorXd& delta);

/// Iterates of shifts x = g(x) ≥ 0 by Anderson's extrapolation over the last few (D. Anderson, J. ACM 12 (1965)).
class AndersonIteration {
 public:
  void start();
  /// The next x after g(x) was found at x; both of one size throughout.
  Eigen::VectorXd next(const Eigen::VectorXd& x, const Eigen::VectorXd& g);

 private:
  std::vector<Eigen::VectorXd> changes_f_, changes_g_;
  Eigen::VectorXd f_, g_;
  double least_ = 0;
};

}  // namespace deft::dynamics
