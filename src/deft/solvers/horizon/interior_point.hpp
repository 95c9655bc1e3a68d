#pragma once
// Mehrotra's predictor–corrector for horizon programs, without the predictor's products where they lead into a cycle.
// Source: C. Rao, S. Wright, J. Rawlings, J. Optim. Theory Appl. 99 (1998), the recursion; S. Mehrotra, SIAM J. Optim.
// 2 (1992); C. Cartis, Appl. Numer. Math. 59 (2009), the cycles.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/horizon/iterate.hpp"

namespace deft::solvers::horizon {

/// Its points fulfil the dynamics; slacks s of the rows, violations e of the soft ones and multipliers are positive:
///   G z + s = d + e + c λ,   λ s = τ,   (ρ − λ) e = τ,   ∇_u(cost + λᵀG z) = 0 along the dynamics,   τ → 0.
/// The compliance c is 0, except in the search for the least violation, where the cost is ½ε|u − u_ref|². No allocation
/// when sizes repeat.
class HorizonInteriorPoint {
 public:
  /// Begins at `at.z`, which fulfils the dynamics, with multipliers that all have one product λs with the slacks.
  void begin(HorizonIterate& at);
  /// The same for the least violation of hard rows:  min ½ Σ excess²/c + ½ε|u − u_at|²,  u_at the inputs of `at.z`;
  /// λ = excess/c is then a ray.
  void begin_violation(HorizonIterate& at);
  /// The largest relative residual of the iterate: reduced gradient, violation or complementarity; infinity if a number
  /// is not finite.
  double measure(HorizonIterate& at);
  /// One step: predictor and corrector, one factorisation. @returns its length, at most 1. @pre `measure` at this
  /// iterate.
  double step(HorizonIterate& at);
  /// The matrix of this iterate's Newton step, factored: gains are read from it.
  void factor(HorizonIterate& at);
  /// The largest residual of a row at the last `measure`, relative to the row's terms.
  double violation() const { return violation_; }
  /// The mean of λs and (ρ − λ)e at the last `measure`, relative to the scale of gradient and multipliers.
  double complementarity() const { return complementarity_; }
  /// s > 0 of the rows, in the order of PackedHorizon; of the hard ones only after `begin_violation`.
  const Eigen::ArrayXd& slack() const { return s_; }
  /// λ > 0 of the same rows.
  const Eigen::ArrayXd& multiplier() const { return l_; }
  /// Whether row i seems to be active: its multiplier exceeds its slack, in units of the row.
  bool is_active(int i) const { return l_(i) > stiffness_(i) * s_(i); }

 private:
  void place(HorizonIterate& at);
  void cost_gradient(HorizonIterate& at);
  void direction(HorizonIterate& at);
  /// Recovery from Mehrotra's cycles: whether the last steps have made no progress. @pre called once per step.
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
