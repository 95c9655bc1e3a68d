#pragma once
// Mehrotra's predictor–corrector for horizon programs, without his products where they lead round in a cycle.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/horizon/iterate.hpp"

namespace deft::solvers::horizon {

/// Its points fulfil the dynamics; slacks s of the rows, violations e of the soft ones and multipliers are positive:
///   G z + s = d + e + c λ,   λ s = τ,   (ρ − λ) e = τ,   ∇_u(cost + λᵀG z) = 0 along the dynamics,   τ → 0.
/// The compliance c is 0, but in search of the least violation, where the cost is ½ε|u − u_ref|².
class HorizonInteriorPoint {
 public:
  /// Begins at `at.z` with multipliers of one product with the slacks.
  void begin(HorizonIterate& at);
  /// The same for the least violation of hard rows:  min ½ Σ excess²/c + ½ε|u − u_at|²;  λ = excess/c is then a ray.
  void begin_violation(HorizonIterate& at);
  /// Residuals of the iterate, relative: the largest one; infinity if a number is not finite.
  double measure(HorizonIterate& at);
  /// One step. @returns the length of it.
  double step(HorizonIterate& at);
  double violation() const { return violation_; }
  /// Complementarity alone, relative.
  double complementarity() const { return complementarity_; }
  const Eigen::ArrayXd& slack() const { return s_; }
  const Eigen::ArrayXd& multiplier() const { return l_; }
  /// Whether the row binds rather than not, as far as the iterate tells.
  bool binds(int i) const { return l_(i) > stiffness_(i) * s_(i); }

 private:
  void place(HorizonIterate& at);
  void cost_gradient(HorizonIterate& at);
  void factor(HorizonIterate& at);
  void direction(HorizonIterate& at);
  bool notice_cycle();
  double mean_product() const;
  double longest_step() const;
  double product_after(double step) const;

  int hard_ = 0, count_ = 0;
  bool least_violation_ = false;
  double inputs_ = 0, scale_ = 1, violation_ = 0, gradient_ = 0, complementarity_ = 0, least_ = 0;
  int without_progress_ = 0;
  Eigen::ArrayXd s_, l_, e_, ds_, dl_, de_;
  Eigen::ArrayXd d_, rho_, nu_, c_, stiffness_, residual_, w_, r_, m1_, m2_;
  std::vector<double> Gz_, g_, dz_, y_, form_weight_, weight_, reference_;
};

}  // namespace deft::solvers::horizon
