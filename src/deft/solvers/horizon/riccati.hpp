#pragma once
// The Newton step of a horizon program: a quadratic form per stage, coupled by dynamics.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/horizon/packed_horizon.hpp"

namespace deft::solvers::horizon {

/// What is minimised.
enum class HorizonCost {
  kProgram,  // the program's cost
  kInputs,   // ½ε|u|² with one curvature ε, for the search for the least violation
};

/// Minimises Σ ½ζᵀH ζ + gᵀζ over ζ = (u, x, p) with x⁺ = M ζ, p⁺ = u and x_0 = 0, p_0 = 0, by the recursion
///   V_t(x, p) = min_u ½ζᵀH_t ζ + g_tᵀζ + V_{t+1}(M ζ, u),
/// H_t the cost and Σ weight · form formᵀ. Each stage is H = [U₁₁ U₁₂]ᵀ[U₁₁ U₁₂] + V, the first nu steps of a Cholesky
/// factorisation.
class HorizonRiccati {
 public:
  /// The matrices of the recursion, which do not depend on g. `form_weight` has program.forms() entries ≥ 0; `inputs`
  /// is the curvature ε of HorizonCost::kInputs. No allocation when sizes repeat.
  void factor(PackedHorizon& program, const std::vector<double>& form_weight, HorizonCost cost, double inputs);
  /// z ← the minimiser for gradient `g`, both stage vectors; with `affine` along x⁺ = M ζ + c from the given x_0 and
  /// u_{−1}. @pre `factor` for the same program.
  void solve(const PackedHorizon& program, const std::vector<double>& g, bool affine, std::vector<double>& z);
  /// The gains of stage t < T as factored last: u_t answers a change of x_t by K times it. K becomes nu × nx.
  void feedback(const PackedHorizon& program, int t, Eigen::MatrixXd& K);

 private:
  void add_next_value(const PackedHorizon& program, int t, double* H);
  void sweep_backward(const PackedHorizon& program, const std::vector<double>& g, bool affine);
  void sweep_forward(const PackedHorizon& program, bool affine, std::vector<double>& z);

  std::vector<std::vector<double>> W_;  // n × ld per stage: U₁₁, U₁₂ and the value V, symmetric
  std::vector<double> T_, floor_, y_, h_, v_;
  std::vector<int> iota_;
};

}  // namespace deft::solvers::horizon
