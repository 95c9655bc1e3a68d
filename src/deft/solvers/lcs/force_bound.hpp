#pragma once
// Bounds of multipliers of one stage that no single row bounds. Internal to solvers.

#include <Eigen/Core>
#include <map>
#include <vector>

#include "deft/solvers/lcs/lcs_program.hpp"

namespace deft::solvers::lcs {

/// Two arguments for some multipliers γ_U of a stage (README.md):
///
/// Energy. With s = Mγ + r, M = DC + E, and γᵀs = 0: |γ_U| ≤ |max(0, −r_U)|/λ, λ the least eigenvalue of the symmetric
/// part of M_UU, if positive.
///
/// Vertices. For given x, u, modes and other multipliers, the γ_U ≥ 0 that the dynamics and the slack rows allow are a
/// polyhedron with vertices, and the cost is the same at all of its points. At a vertex the positive entries γ_S solve
/// a square system B γ_S = v, its rows some of the dynamics and of the slacks that are zero. All B are inverted, each
/// once per U.
class LcsForceBound {
 public:
  static constexpr int kMostRows = 8;  // of a system B

  /// A system B γ_S = v of the second argument.
  struct Basis {
    std::vector<int> columns, rows;  // numbers in U and in Vertices::rows
    std::vector<double> inverse;     // row after row
    double defect = 0;               // |1 − inverse·B|, largest sum of a row
  };
  /// What is known of the vertices of one U.
  struct Vertices {
    bool known = false;        // not if there are too many systems
    std::vector<int> rows;     // dynamics from 0, slacks from nx, that say something of γ_U
    std::vector<Basis> bases;  // all regular ones
  };
  /// One thread's memory: arguments and results of the last call, and what was computed once per U.
  struct Scratch {
    std::vector<int> pairs;                      // U, ascending
    std::vector<double> low, high;               // ends of v, one per row of Vertices::rows
    std::vector<double> bounds, trial;           // result: upper bounds of γ_U; those of one basis
    std::map<std::vector<int>, double> least;    // eigenvalues, by U
    std::map<std::vector<int>, Vertices> known;  // by U
  };

  /// Keeps M and the rows of C and E. @pre the sizes of `system` fit (check of its program).
  explicit LcsForceBound(const LinearComplementaritySystem& system);

  /// The least eigenvalue for scratch.pairs, rounded down; 0 if it is not positive beyond rounding.
  double least_eigenvalue(Scratch& scratch) const;
  /// The systems for scratch.pairs; all B are inverted at the first call for a U. The reference is valid as long as the
  /// scratch.
  const Vertices& vertices(Scratch& scratch) const;
  /// Writes upper bounds of γ_U at the vertices into scratch.bounds. @pre vertices.known; scratch.low and scratch.high
  /// hold the ends of v for each row, finite, rounded outwards.
  void bound(const Vertices& vertices, Scratch& scratch) const;

 private:
  Vertices find(const std::vector<int>& pairs) const;
  bool add_bases(const Eigen::MatrixXd& B, int size, std::vector<Basis>& bases) const;

  int nx_;
  Eigen::MatrixXd M_;     // D C + E
  Eigen::MatrixXd rows_;  // C over E: (nx + nγ) × nγ
};

}  // namespace deft::solvers::lcs
