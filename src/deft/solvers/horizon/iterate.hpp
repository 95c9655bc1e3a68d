#pragma once
// What the two methods for horizon programs share: the program, its recursion, and the iterate.

#include <vector>

#include "deft/solvers/horizon/packed_horizon.hpp"
#include "deft/solvers/horizon/riccati.hpp"

namespace deft::solvers::horizon {

/// A program, its recursion, the point and the multipliers, and what they have cost.
struct HorizonIterate {
  PackedHorizon program;
  HorizonRiccati riccati;
  std::vector<double> z;  // fulfils the dynamics
  std::vector<double> l;  // multipliers of the inequalities
  int iterations = 0, factorizations = 0;
};

}  // namespace deft::solvers::horizon
