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
  static constexpr int kMostRows = 8;  // of a system

  /// A system of the second kind.
  struct Basis {
    std::vector<int> columns, rows;  // numbers in U and in Vertices::rows
    std::vector<double> inverse;     // row after row
    double defect = 0;               // |1 − inverse·B|, largest sum of a row
  };
  /// What is known of the vertices of one U.
  struct Vertices {
    bool known = false;     // not if there are too many systems
    std::vector<int> rows;  // dynamics from 0, slacks from nx, that say something of γ_U
    std::vector<Basis> bases;
  };
  /// One thread's memory, and the values of its last question.
  struct Scratch {
    std::vector<int> pairs;                    // U, ascending
    std::vector<double> missing, low, high;    // see energy, vertices
    std::vector<double> bounds, trial;         // the answer: upper bounds of γ_U
    std::map<std::vector<int>, double> least;  // eigenvalues, by U
    std::map<std::vector<int>, Vertices> known;
  };

  explicit LcsForceBound(const LinearComplementaritySystem& system);

  /// The least eigenvalue for scratch.pairs, rounded down; 0 if it is not positive beyond rounding.
  double least_eigenvalue(Scratch& scratch) const;
  /// The systems for scratch.pairs. The reference holds as long as the scratch.
  const Vertices& vertices(Scratch& scratch) const;
  /// Bounds at the vertices. @pre scratch.low and scratch.high hold the ends of v for each row, finite, rounded
  /// outwards.
  void bound(const Vertices& vertices, Scratch& scratch) const;

 private:
  Vertices find(const std::vector<int>& pairs) const;
  bool add_bases(const Eigen::MatrixXd& B, int size, std::vector<Basis>& bases) const;

  int nx_;
  Eigen::MatrixXd M_;     // D C + E
  Eigen::MatrixXd rows_;  // C over E: (nx + nγ) × nγ
};

}  // namespace deft::solvers::lcs
