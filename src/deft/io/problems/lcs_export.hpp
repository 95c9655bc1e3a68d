#pragma once
// A control problem as a mixed-integer quadratic program in the files that other solvers read.

#include <Eigen/Core>
#include <string>

#include "deft/solvers/lcs/lcs_program.hpp"

namespace deft::io {

/// What an exported file holds.
struct LcsExport {
  int columns = 0, rows = 0;  // variables; constraints, indicators among them
  int binaries = 0;           // pairs that are not decided by their bounds
  int indicators = 0;         // sides of pairs without a finite bound, LP only
  double largest_m = 0;       // the largest finite Γ or S used
};

/// Upper bounds of γ and of s, column k those of γ_{k+1} and s_{k+1}; infinity where none is known.
struct LcsPairBounds { Eigen::MatrixXd gamma, slack; };  // Γ and S, each [nγ × N]

/// Writes the program with one binary b per open pair, b = 0: γ = 0, b = 1: s = 0, as
///   γ ≤ Γ b,  s ≤ S (1 − b),
/// Γ and S from `bounds`, one for each row; a pair with Γ = 0 or S = 0 needs no binary. A side without a finite bound
/// becomes an indicator constraint. Columns x_K_I, u_K_I, gamma_K_I, s_K_I, b_K_I: entry I, from 0, of x_K, u_K, γ_K,
/// s_K; soft_K_I, the violation of a soft bound of x_K; `constant` is 1 and carries the constant of the cost. x_0
/// stands in the right-hand sides.
/// @param path  ends in `.lp` (CPLEX-LP) or `.mps` (free MPS with QUADOBJ), or that and `.gz`.
/// @param bounds  that exclude no optimum of this program, as solvers::lcs::find_lcs_bounds finds them.
/// @throws std::invalid_argument as check(program) and for bounds of another size; InputError for another ending, where
/// the file cannot be written, and for `.mps` naming the pair and the field to give where an indicator would be needed.
LcsExport export_lcs_problem(const std::string& path, const std::string& name,
                             const solvers::lcs::LcsMpcProgram& program, const LcsPairBounds& bounds);

}  // namespace deft::io
