#pragma once
// Springs that saturate. A robot joint with stiffness K, effort limit τ̄ and deflection e = u − q_a − δ_a of its spring
// pulls with clamp(K e, −τ̄, τ̄); its energy ½Ke² becomes the convex Huber energy
//
//   min_p ½K(e − p)² + τ̄|p|,   p the part of the deflection that adds no force.
//
// With y = δ_a + p, at which the elastic part of the spring ends, this is ½K(u − q_a − y)² + τ̄|y − δ_a|. One side of
// it, σ(y − δ_a) ≥ 0, costs one variable and one row: a spring on y, τ̄σ(y − δ_a), and the row.

#include <Eigen/Core>
#include <vector>

#include "deft/scene/scene.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::dynamics {

/// ½Ke², beyond |e| = τ̄/K the line that continues it, τ̄(|e| − τ̄/2K) [J].
/// @param stiffness  K [N/m, N·m/rad] > 0.  @param effort_limit  τ̄ [N, N·m].  @param deflection  e [m, rad].
double spring_energy(double stiffness, double effort_limit, double deflection);

/// Which springs of a program saturate, and the program with the variables and rows of those that do. Keeps the sides
/// that were needed last as the first guess of the next step. One object per thread.
class EffortLimits {
 public:
  /// Limits are infinite unless the scene's step.effort_limits is on.
  explicit EffortLimits(const scene::Scene& scene);

  bool none() const { return joints_.empty(); }                   // no joint has a finite limit
  int count() const { return static_cast<int>(joints_.size()); }  // joints with a finite limit
  /// Replaces the springs of the chosen joints (smoothed programs: of all that have a limit, both sides) by saturating
  /// ones; variables are added behind the program's own. @param u  joint targets, @param q  configuration.
  void extend(const Eigen::VectorXd& q, const Eigen::VectorXd& u, solvers::contact::ContactProgram& program) const;
  /// Chooses sides for the next `extend` from a solution of the last one: overloaded springs are added, sides that
  /// carry no slack are kept. @returns whether a spring was overloaded, so that the program must be solved again.
  bool add_overloaded(const Eigen::VectorXd& q, const Eigen::VectorXd& u, const Eigen::VectorXd& delta);
  /// Forgets sides that the solution did not need.
  void drop_unused(const Eigen::VectorXd& q, const Eigen::VectorXd& u, const Eigen::VectorXd& delta);
  void forget();  // all sides: plain springs are the next first guess

 private:
  struct Joint {
    int q = 0, v = 0, u = 0;
    double stiffness = 0, limit = 0;
    int side = 0;  // σ of the saturating side in exact programs: −1, +1, or 0 for a plain spring
  };
  std::vector<Joint> joints_;  // those with a finite limit
};

}  // namespace deft::dynamics
