#pragma once
// Newton's method on the natural map λ = P_K(λ − s(v)), Qv + b = Jᵀ Eᵀλ of the exact program: an active-set method that
// also knows cones. It converges quadratically near a solution, without a guarantee far from one: it polishes interior
// points and solves programs of a sequence.

#include "deft/solvers/contact/interior/kkt_state.hpp"

namespace deft::solvers::contact {

/// The iteration with its scratch; one per thread.
class SemismoothNewton {
 public:
  /// Improves `x` until the error of KktState::exact_error is below `tolerance`, or it stops improving, in at most
  /// `max_factors` factorisations. `trust_forces`: the first active set is that of the rows with λ > 0, and an error
  /// that grows tenfold ends the attempt at once, as a warm start needs.
  /// @returns the error of the best iterate, which is left in `x`.
  double improve(const PackedProgram& program, NewtonSystem& system, double tolerance, int max_factors,
                 bool trust_forces, Iterate& x);
  /// The same close to a solution whose rows are many more than its motions (a pile at rest): a large proximal weight
  /// keeps rows that disagree by rounding from driving their multipliers apart, at the price of more steps; at most six
  /// factorisations.
  double correct(const PackedProgram& program, NewtonSystem& system, double tolerance, Iterate& x);
  /// Newton steps of the last call.
  int iterations() const { return iterations_; }

 private:
  bool linearise(const PackedProgram& program, const Iterate& x, bool settled);
  double run(const PackedProgram& program, NewtonSystem& system, double tolerance, int max_factors, bool impatient,
             Iterate& x);
  void step(const PackedProgram& program, NewtonSystem& system, Iterate& x);

  KktState state_;
  Iterate current_;
  std::vector<BlockCurvature> curvature_;
  std::vector<linear::SpectralConeOperator> projection_, inverse_;  // per cone block: eigenvalues of C, and of 1/(1 − p
                                                                    // + p(ρ + R))
  std::vector<double> D_, q_, y_, z_, rhs_, slacks_;
  std::vector<char> active_;  // pattern of the factor: per slack (rays), per block kind (cones)
  int iterations_ = 0;
  bool first_ = false;
  double weight_ = 1;  // a row counts as closed when weight · λ > s
  double rho_ = 0;     // proximal weight on the multipliers
};

}  // namespace deft::solvers::contact
