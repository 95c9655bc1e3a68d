#pragma once
// The shortest multipliers with a given resultant:  min ½|λ|²  subject to  Aᵀλ = g,  λ ∈ K. Private to
// src/deft/solvers.

#include <Eigen/Core>
#include <vector>

namespace deft::solvers {

/// The cone of a generator's multipliers: a line, a half-line, a second-order cone.
enum class GeneratorKind { kLine, kRay, kCone };

/// One multiplier (line, ray) or the multipliers of one cone, and their rows of A in the columns `cols` (ascending).
struct Generator {
  GeneratorKind kind = GeneratorKind::kRay;
  std::vector<int> cols;
  Eigen::MatrixXd rows;
  Eigen::VectorXd given;     // λ that say what g is: Aᵀ given
  Eigen::VectorXd shortest;  // the result
};

/// Fills `shortest` of generators that together use the columns `cols` (ascending), each in units of its `scale`.
/// @returns whether the multipliers balance to 1e-9 of their forces. Allocates.
bool find_shortest(std::vector<Generator*> generators, std::vector<int> cols, const std::vector<double>& scale);

}  // namespace deft::solvers
