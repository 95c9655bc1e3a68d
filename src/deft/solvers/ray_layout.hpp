#pragma once
// How a polyhedral contact becomes single rows: their number, directions and weights. Private to src/deft/solvers.

#include <vector>

#include "deft/solvers/program.hpp"

namespace deft::solvers {

/// Rows of one contact: slack k is φ + nδ + μ (c_k (t₁δ + o₁) + s_k (t₂δ + o₂)) + R λ_k.
struct RayLayout {
  int rows = 1;             // of J that count
  int slacks = 1;           // 1, 2 (one tangent: c = ±1) or rays
  double mu = 0.0;          // times e_t where there is one tangent
  double weight = 1.0;      // barrier weight of each slack
  double compliance = 0.0;  // R
  int shares = 1;           // rays of the contact that one slack stands for: without friction they coincide
};

/// Layout of contact i, or slacks = 0 where it is a second-order cone in space.
RayLayout ray_layout(const ContactProgram& program, int i);

/// cos and sin of 2πk/rays; quarter turns are exact, so that symmetric problems stay symmetric.
void ray_directions(int rays, std::vector<double>& cosines, std::vector<double>& sines);

}  // namespace deft::solvers
