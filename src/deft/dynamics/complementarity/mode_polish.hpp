#pragma once
// The motion that belongs to the modes of its contacts (open, stick, slide), to all digits.

#include <vector>

#include "deft/contact/contact_problem.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::dynamics {

/// Corrects motion and forces of a solution in the plane so that, with the modes that its forces show (put right where
/// the result contradicts them),
///   Qδ + b = Jᵀf + limits,   φ + nδ = 0 of loaded contacts,   tδ = 0 of those that stick,   f_t = ±μ f_n of those that
///   slide,
/// by Newton steps in δ and f together, of least norm where forces are not unique. A solver that eliminates δ finds it
/// to the accuracy of Q⁻¹Jᵀf only, which is poor where large forces cancel.
/// @param problem  the gaps φ.  @param program  its Q, b, J and bounds; its gaps become φ plus the new
/// `corrections`.  @param corrections  the De Saxcé corrections [m] (StepResult::de_saxce).
/// @returns whether the result obeys the law: no force pulls or leaves its cone, no open contact closes, sliding is
/// against its friction. Otherwise `solution` is of no use. Allocates.
bool polish_modes(const contact::ContactProblem& problem, solvers::contact::ContactProgram& program,
                  solvers::contact::ContactSolution& solution, std::vector<double>& corrections);

}  // namespace deft::dynamics
