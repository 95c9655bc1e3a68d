#pragma once
// Problem files of kind `lcs_mpc`. Internal to io; writing and results are in problem_file.hpp.

#include <string>
#include <vector>

#include "deft/io/text/json_field.hpp"
#include "deft/solvers/lcs/lcs_program.hpp"

namespace deft::io {

/// The control problem of a file whose head is checked; weights that are symmetric to 1e-6 are averaged with a note.
/// Crossed bounds are no mistake of the file: the problem then has no point. @throws InputError naming the field, the
/// value and the valid choices.
solvers::lcs::LcsMpcProgram read_lcs_mpc(const JsonField& root, std::vector<std::string>& notes);

}  // namespace deft::io
