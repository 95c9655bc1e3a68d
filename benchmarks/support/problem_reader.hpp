#pragma once
// The real problems of benchmarks/data/problems and their reference motions.

#include <string>
#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::benchmarks {

struct RealProblem {
  std::string name;
  solvers::contact::ContactProgram program;  // contacts carry ids that follow them along the sequence
  Eigen::VectorXd reference;                 // δ of the reference solution
};

/// The sequence in `folder` of benchmarks/data/problems, in time order. @throws std::runtime_error naming the file that
/// cannot be read.
std::vector<RealProblem> read_sequence(const std::string& data, const std::string& folder);

/// ‖δ − δ*‖_Q / √E0 with E0 = bᵀQ⁻¹b or the worst initial violation (README of the solvers, "Scales"); Q must be
/// regular.
double energy_error(const RealProblem& problem, const Eigen::VectorXd& delta, double E0);

}  // namespace deft::benchmarks
