#pragma once
// What every solution of a problem of contact obeys beside its linear inequalities: it gains no energy. Internal to
// solvers.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/solvers/lcp/scaled_complementarity.hpp"

namespace deft::solvers::lcp {

/// A linear inequality slopeᵀz + constant ≥ 0, in natural units.
struct Cut {
  std::vector<double> slope;
  double constant = 0;
};

/// Complementarity makes zᵀ(Mz + q) = 0, summed with weights that give every pair one unit (energy, where M is that of
/// a contact problem). If the symmetric part of M is S + N with S ⪰ 0 and N ≥ 0 on pairs (friction: N holds slip times
/// normal force), then zᵀNz ≥ 0 and
///
///   E(z) = zᵀSz + qᵀz ≤ 0
///
/// is a convex inequality that every solution obeys: forces do not drive bodies harder than what drives the problem.
/// Its tangents are cuts for a search over modes, which has linear programs only. And two solutions z, z' have
///
///   (z − z')ᵀS(z − z') = −zᵀw' − z'ᵀw − (z − z')ᵀN(z − z') ≤ 2 z'ᵀNz − z'ᵀNz' :
///
/// where nothing with friction carries load in one of them (Nz' = 0), Sz = Sz' in all.
class EnergyBound {
 public:
  /// @returns whether the problem has this structure. Allocates.
  bool assign(const ScaledComplementarity& problem);
  /// E(z).
  double value(std::span<const double> z) const;
  /// The tangent at y, E(y) + ∇E(y)ᵀ(z − y) ≤ 0, a little relaxed against rounding.
  void tangent(std::span<const double> y, Cut& cut) const;
  /// The point between `inside` (E ≤ 0) and `outside` (E > 0) with E = 0.
  void border(std::span<const double> inside, std::span<const double> outside, std::vector<double>& y) const;
  /// Whether Nz = 0.
  bool is_frictionless(std::span<const double> z) const;
  /// zᵀNz.
  double dissipation(std::span<const double> z) const;
  /// Whether rows (one per motion, natural units) vanish wherever Sz does.
  bool decides(const Eigen::MatrixXd& rows) const;

 private:
  Eigen::MatrixXd S_, N_;
  Eigen::VectorXd q_, weight_;
};

}  // namespace deft::solvers::lcp
