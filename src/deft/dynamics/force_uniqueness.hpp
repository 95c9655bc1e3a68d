#pragma once
// Whether the contact forces of a motion are the only ones.

#include "deft/solvers/certificate.hpp"
#include "deft/solvers/program.hpp"

namespace deft::dynamics {

/// True if the rows that may carry force at the motion of `solution` are linearly independent on the velocities that are
/// not held (bounds with lower = upper): n, t₁, t₂ of closed contacts that stick, n + μ d_j of those that slide (the
/// rays d_j that the sliding is against most), bounds that are reached. Pyramids only. False means that the test does
/// not show it. Allocates.
bool forces_are_unique(const solvers::ContactProgram& program, const solvers::ContactSolution& solution,
                       solvers::Certifier& certifier);

}  // namespace deft::dynamics
