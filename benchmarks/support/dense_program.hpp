#pragma once
// Contact programs as the dense rows that general solvers take.

#include "deft/solvers/contact/program/contact_program.hpp"
#include "rivals/rival.hpp"

namespace deft::benchmarks {

/// The program with a row per ray of its pyramids, or with its cones. @throws std::invalid_argument where it has more
/// than contacts (bounds, linear rows, compliance, offsets, κ), which the recorded problems do not have.
DenseProgram dense_program(const solvers::contact::ContactProgram& program);

}  // namespace deft::benchmarks
