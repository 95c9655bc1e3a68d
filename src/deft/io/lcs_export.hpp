#pragma once
// A control problem as a mixed-integer quadratic program in the files that other solvers read.

#include <string>

#include "deft/solvers/lcs_bounds.hpp"
#include "deft/solvers/lcs_program.hpp"

namespace deft::io {

/// What an exported file holds.
struct LcsExport {
  int columns = 0, rows = 0;
  int binaries = 0;    // pairs that are not decided by their bounds
  int indicators = 0;  // sides of pairs without a finite bound, LP only
  double largest_m = 0;
};

/// Writes the program with one binary b per open pair, b = 0: γ = 0, b = 1: s = 0, as
///   γ ≤ Γ b,  s ≤ S (1 − b),
/// Γ and S the upper bounds of `bounds`, one for each row. A side without a finite bound becomes an indicator constraint.
/// Columns x_K_I, u_K_I, gamma_K_I, s_K_I, b_K_I: entry I, from 0, of x_K, u_K, γ_K, s_K; soft_K_I, the violation of a soft bound of x_K;
/// `constant` is 1 and carries the constant of the cost. x_0 stands in the right-hand sides.
/// @param path  ends in `.lp` (CPLEX-LP) or `.mps` (free MPS with QUADOBJ), or that and `.gz`.
/// @param bounds  of this program (find_lcs_bounds); proof of infeasibility in it is not used, all open pairs then become indicators.
/// @throws InputError for another ending, where the file cannot be written, and for `.mps` naming the pair and the field to give where an indicator would be needed.
LcsExport export_lcs_problem(const std::string& path, const std::string& name, const solvers::LcsMpcProgram& program,
                             const solvers::LcsBounds& bounds);

}  // namespace deft::io
