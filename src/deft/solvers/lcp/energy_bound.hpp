#pragma once
// What every solution of a problem of contact obeys beside its linear inequalities: it gains no energy. Internal to
// solvers.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/solvers/lcp/scaled_complementarity.hpp"

namespace deft::solvers::lcp {

/// A linear inequality slopeᵀz + constant ≥ 0 that all solutions obey, scaled.
struct Cut {
  std::vector<double> slope;  // n, largest entry one, unless it is zero
  double constant = 0;        // in units of the slope
};

/// Complementarity makes zᵀ(Mz + q) = 0, summed with weights that give every pair one unit (energy, where M is that of
/// a contact problem). If the symmetric part of M is S + N with S ⪰ 0 and N ≥ 0 on pairs (friction: N holds slip times
/// normal force), then zᵀNz ≥ 0 and
///
///   E(z) = zᵀSz + qᵀz ≤ 0
///
/// is a convex inequality that every solution obeys: forces add no energy to what drives the problem.
/// Its tangents are cuts for a search over modes, which has linear programs only. And two solutions z, z' have
///
///   (z − z')ᵀS(z − z') = −zᵀw' − z'ᵀw − (z − z')ᵀN(z − z') ≤ 2 z'ᵀNz − z'ᵀNz' :
///
/// where nothing with friction carries load in one of them (Nz' = 0), Sz = Sz' in all.
class EnergyBound {
 public:
  /// Takes S, N and the weights from a problem. @returns whether it has this structure; nothing else may be called if
  /// not. Allocates.
  bool assign(const ScaledComplementarity& problem);
  /// E(z) of a scaled point [n]; so are all points below.
  double value(std::span<const double> z) const;
  /// The tangent at y, E(y) + ∇E(y)ᵀ(z − y) ≤ 0, a little relaxed against rounding.
  void tangent(std::span<const double> y, Cut& cut) const;
  /// The point between `inside` (E ≤ 0) and `outside` (E > 0) with E = 0.
  void border(std::span<const double> inside, std::span<const double> outside, std::vector<double>& y) const;
  /// Whether Nz = 0.
  bool is_frictionless(std::span<const double> z) const;
  /// zᵀNz.
  double dissipation(std::span<const double> z) const;
  /// Whether rows (one per motion, [m × n], scaled) vanish wherever Sz does: then Sz decides the motions.
  bool decides(const Eigen::MatrixXd& rows) const;

 private:
  Eigen::MatrixXd S_, N_;
  Eigen::VectorXd q_, weight_;
};

}  // namespace deft::solvers::lcp
