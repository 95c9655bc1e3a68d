#pragma once
// Problem files of kinds `lcp` and `mcp`. Internal to io; writing and results are in problem_file.hpp.

#include "deft/io/text/json_field.hpp"
#include "deft/solvers/lcp/complementarity_program.hpp"

namespace deft::io {

/// M, q, optional motion and, where `mixed`, free of a file whose head is checked. Free indices may come in any order.
/// @throws InputError naming the field, the value and the valid choices.
solvers::lcp::ComplementarityProgram read_complementarity(const JsonField& root, bool mixed);

}  // namespace deft::io
