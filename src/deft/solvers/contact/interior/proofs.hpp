#pragma once
// Certificates of infeasibility from multipliers of the program of least violation, or of a row that nothing moves, in
// the order of ContactSolution::proof.

#include "deft/solvers/contact/interior/packed_program.hpp"

namespace deft::solvers::contact {

/// Contradictions that need no search: a lower bound above the upper one, a violated row that nothing moves (smoothed:
/// closed). `packed` must keep all contacts. @returns whether there is one; `proof` is then the Farkas ray. Allocates.
bool find_rigid_contradiction(const ContactProgram& program, const PackedProgram& packed, Eigen::VectorXd& proof);

/// The multipliers of `solution`, without those of compliant contacts, as a Farkas ray whose largest entry is 1.
/// Allocates.
Eigen::VectorXd farkas_ray(const ContactProgram& program, const ContactSolution& solution);

}  // namespace deft::solvers::contact
