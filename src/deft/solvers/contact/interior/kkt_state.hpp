#pragma once
// An iterate of the packed program and what is measured on it. Private to src/deft/solvers.

#include <vector>

#include "deft/solvers/contact/interior/newton_system.hpp"

namespace deft::solvers::contact {

/// Motion δ̂ and multipliers λ̂ (per slack; free for equalities).
struct Iterate { std::vector<double> v, lambda; };

/// Stationarity, slacks and the optimality error of an iterate of the exact program, in scaled units.
class KktState {
 public:
  /// gradient = Qv + b − Jᵀ Eᵀλ and slack = g + E J v + R λ (equalities: the residual).
  void evaluate(const PackedProgram& program, NewtonSystem& system, const Iterate& x);

  std::vector<double> gradient, slack;
  double stationarity = 0.0;  // |gradient| in the metric of Q̃⁻¹

  /// max of stationarity, violation of slack and multiplier cones, and |slackᵀλ| per row or cone.
  double exact_error(const PackedProgram& program, const Iterate& x) const;

 private:
  std::vector<double> z_, y_, scratch_;
};

}  // namespace deft::solvers::contact
