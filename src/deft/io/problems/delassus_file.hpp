#pragma once
// Problem files of kind `delassus`. Internal to io.

#include <string>
#include <vector>

#include "deft/io/text/json_field.hpp"
#include "deft/solvers/force_space/delassus_program.hpp"

namespace deft::io {

/// dim, W, q, mu and law of a file whose head is checked. Asymmetry of W up to 1e-9 of its largest entry is rounding,
/// up to 1e-2 it is averaged with a note, as published collections need. @throws InputError naming the field, the value
/// and the valid choices.
solvers::force_space::DelassusProgram read_delassus(const JsonField& root, std::vector<std::string>& notes);

}  // namespace deft::io
