#pragma once
// An iterate of the packed program and its residuals.

#include <vector>

#include "deft/solvers/contact/interior/newton_system.hpp"

namespace deft::solvers::contact {

/// A primal–dual point of a packed program, in its scaled units.
struct Iterate {
  std::vector<double> v;       // motion δ̂, packed order, size nv
  std::vector<double> lambda;  // multipliers λ̂, one per slack (of any sign for equalities), size num_slacks
};

/// Stationarity, slacks and the optimality error of an iterate of the exact program, in scaled units.
class KktState {
 public:
  /// gradient = Qv + b − Jᵀ Eᵀλ and slack = g + E J v + R λ (equalities: the residual).
  void evaluate(const PackedProgram& program, NewtonSystem& system, const Iterate& x);

  std::vector<double> gradient;  // size nv
  std::vector<double> slack;     // size num_slacks
  double stationarity = 0.0;     // |gradient| in the metric of Q̃⁻¹

  /// max of stationarity, violation of slack and multiplier cones, and |slackᵀλ| per row or cone, at the point that was
  /// evaluated last; NaN if any of them is.
  double exact_error(const PackedProgram& program, const Iterate& x) const;

 private:
  std::vector<double> z_, y_, scratch_;
};

}  // namespace deft::solvers::contact
