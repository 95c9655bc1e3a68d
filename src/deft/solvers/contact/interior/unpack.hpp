#pragma once
// From a packed iterate back to forces along the rows of the program.

#include "deft/solvers/contact/interior/kkt_state.hpp"

namespace deft::solvers::contact {

/// Fills every field of `solution` but `proof` and the uniqueness flags. `slack` are the solver's slacks ŝ, size
/// num_slacks (those of equalities are ignored).
void unpack(const ContactProgram& program, const PackedProgram& packed, const Iterate& x,
            const std::vector<double>& slack, ContactSolution& solution);

}  // namespace deft::solvers::contact
