#pragma once
// The gap that sliding opens in the convex models, which is also the De Saxcé correction that makes Coulomb's law of
// the convex one, and the fixed-point iteration for these corrections.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::dynamics {

/// Sliding of a contact by s = J_tδ + o (a patch: times its ellipsoid, with its spin).
struct Slide {
  double distance = 0;                             // ‖s‖ [m]
  Eigen::Vector4d rate = Eigen::Vector4d::Zero();  // of `gap` by the rows n, t₁, t₂, spin of J_iδ; 0 without sliding
  double gap = 0;  // that the convex model opens for it [m]: μ‖s‖ (cones), μ max_j d_jᵀs (pyramids), 0 without friction
};
/// Sliding of contact i of `program` by the motion `delta` (size nv).
Slide slide_of(const solvers::contact::ContactProgram& program, int i, const Eigen::VectorXd& delta);

/// The De Saxcé correction x of contact i, whose gap in `program` holds the correction `x` that it was solved with.
/// Exact programs: slide_of. With a barrier the correction that takes the power of friction from the gap,
///
///   f_n x = −f_tᵀs,  which is the same as  g = H(g + x, s),  f_n = m/(κ g),
///
/// g = φ + J_nδ > 0 the true gap, H the harmonic mean of the slacks g + x + μ d_jᵀs of the m rays (cones: m = 2,
/// H = g + x − μ²‖s‖²/(g + x)): the normal force is that of the true gap, as without friction. x → μ‖s‖ as κ → ∞, and
/// it has no kinks.
/// @returns `gap`: x where the correction and `x` agree, and to first order otherwise; `rate`: ∂x/∂(rows) where they
/// do.
/// @pre the slacks of a program with a barrier are positive.
Slide correction_of(const solvers::contact::ContactProgram& program, int i, const Eigen::VectorXd& delta, double x);

/// Fixed-point iteration for x = g(x) ≥ 0 by Anderson's extrapolation over the last few iterates (D. Anderson, J. ACM
/// 12 (1965)); starts afresh with a damped step where the error has grown.
class AndersonIteration {
 public:
  /// Forgets all iterates: a new problem.
  void start();
  /// The next x after g(x) was found at x; both of one size throughout.
  Eigen::VectorXd next(const Eigen::VectorXd& x, const Eigen::VectorXd& g);

 private:
  std::vector<Eigen::VectorXd> changes_f_, changes_g_;
  Eigen::VectorXd f_, g_;
  double least_ = 0;
};

}  // namespace deft::dynamics
