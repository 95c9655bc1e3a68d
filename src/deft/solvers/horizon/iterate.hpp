#pragma once
// What the two methods for horizon programs share: the program, its recursion, and the iterate.

#include <vector>

#include "deft/solvers/horizon/packed_horizon.hpp"
#include "deft/solvers/horizon/riccati.hpp"

namespace deft::solvers::horizon {

/// A program, its recursion, the point and the multipliers, and what they have cost.
struct HorizonIterate {
  PackedHorizon program;   // of the solve at hand
  HorizonRiccati riccati;  // as factored last
  std::vector<double> z;   // the point, a stage vector; fulfils the dynamics
  std::vector<double> l;   // multipliers of the inequalities, in the order of PackedHorizon
  int iterations = 0;      // steps of both methods in this solve
  int factorizations = 0;  // calls of HorizonRiccati::factor in this solve
};

}  // namespace deft::solvers::horizon
