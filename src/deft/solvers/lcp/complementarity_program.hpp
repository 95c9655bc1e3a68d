#pragma once
// Linear complementarity problems, pure and mixed, in plain numbers: program, solution, certificate.

#include <Eigen/Core>
#include <limits>
#include <string_view>
#include <vector>

#include "deft/solvers/status.hpp"

namespace deft::solvers::lcp {

/// Find z ∈ Rⁿ with w = Mz + q such that w_i = 0 for i in `free`, and 0 ≤ z_i ⟂ w_i ≥ 0 for all others. Any units: rows
/// of w and entries of z may each have their own.
struct ComplementarityProgram {
  Eigen::MatrixXd M;      // [n × n], neither symmetric nor semidefinite in general
  Eigen::VectorXd q;      // [n]
  std::vector<int> free;  // increasing, no repetition; empty = a pure problem
  /// P [m × n]: two solutions are different motions if P z differs. Empty (0 × 0) = the identity.
  Eigen::MatrixXd motion;
};

/// What is known about other solutions with another motion P z.
enum class Uniqueness {
  kUnknown,    // not examined, or the search did not end
  kUnique,     // proven: no other solution has another motion
  kNotUnique,  // one was found
};

/// The word of problem files: "unknown", "unique", "not_unique".
std::string_view to_string(Uniqueness uniqueness);

/// One sentence for people about the outcome of a complementarity problem, which knows forces and motions but no
/// energy.
std::string_view sentence(Status status, Uniqueness uniqueness);

/// One part of a proof that no solution exists: the modes in which z_i = 0 for i in `z_zero` and w_i = 0 for i in
/// `w_zero` (all free rows too) are refuted by multipliers y ∈ Rⁿ of the rows of w (y_i ≥ 0 where w_i ≥ 0 is required,
/// free where w_i = 0 is): Mᵀy ≤ 0 on every z_i ≥ 0 that is not fixed at zero, = 0 on free ones, and qᵀy < 0. For then
/// yᵀw = (Mᵀy)ᵀz + qᵀy < 0 ≤ yᵀw.
struct RefutedModes {
  std::vector<int> z_zero, w_zero;  // indices of pairs
  Eigen::VectorXd y;                // [n], for rows in the program's own units
};

/// A point, what is known about others, and the proof if there is none.
struct ComplementaritySolution {
  Eigen::VectorXd z, w;  // [n], in the program's own units; w as computed, so that |w_i| of zeros shows the rounding
  Uniqueness uniqueness = Uniqueness::kUnknown;  // of the motion P z
  Eigen::VectorXd second_z, second_w;            // another motion, with kNotUnique; empty otherwise
  std::vector<RefutedModes> proof;               // with kInfeasible: parts that cover all modes; empty otherwise
};

/// Scaled residuals (README.md), recomputed from the program by code that shares nothing with the solver, and absolute
/// ones. Also the largest difference between `w` and Mz + q counts as `stationarity`.
struct ComplementarityCertificate {
  double stationarity = 0, primal = 0, complementarity = 0;              // scaled: |w_free|, min(0, z, w), min(z, w)
  double stationarity_abs = 0, primal_abs = 0, complementarity_abs = 0;  // in the program's own units
  double infeasible = std::numeric_limits<double>::infinity();           // error of the proof; infinite without one

  /// The largest scaled residual of the point. @returns infinity if there is no point or it is not finite.
  double max_scaled() const;
};

/// @throws std::invalid_argument naming the field, for sizes that do not fit, entries that are not finite, `free` that
/// does not increase or leaves 0 … n−1.
void check(const ComplementarityProgram& program);

/// The certifier: residuals of `solution` and the error of its proof (1/error: the scaled size that a solution would
/// have in spite of it; infinite if the parts do not cover all modes). @throws std::invalid_argument for wrong sizes,
/// and as check(program).
ComplementarityCertificate certify(const ComplementarityProgram& program, const ComplementaritySolution& solution);

}  // namespace deft::solvers::lcp
