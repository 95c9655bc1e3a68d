#pragma once
// The Newton step of a horizon program: a quadratic form per stage, coupled by dynamics.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/horizon/packed_horizon.hpp"

namespace deft::solvers::horizon {

/// What is minimised: the program's cost, or another one in the inputs alone.
enum class HorizonCost { kProgram, kInputs };

/// Minimises Σ ½ζᵀH ζ + gᵀζ over ζ = (u, x, p) with x⁺ = M ζ, p⁺ = u and x_0 = 0, p_0 = 0, by the recursion
///   V_t(x, p) = min_u ½ζᵀH_t ζ + g_tᵀζ + V_{t+1}(M ζ, u),
/// H_t the cost and Σ weight · form formᵀ.  Each stage is H = [U₁₁ U₁₂]ᵀ[U₁₁ U₁₂] + V, the first nu steps of a Cholesky
/// factorisation.
class HorizonRiccati {
 public:
  /// The matrices of the recursion, which do not depend on g. `inputs` is the curvature of HorizonCost::kInputs.
  /// No allocation when sizes repeat.
  void factor(PackedHorizon& program, const std::vector<double>& form_weight, HorizonCost cost, double inputs);
  /// The minimiser for gradient `g`, a stage vector; with `affine` along x⁺ = M ζ + c from the given x_0 and u_{−1}.
  void solve(const PackedHorizon& program, const std::vector<double>& g, bool affine, std::vector<double>& z);
  /// u = … + K x of stage t: nu × nx.
  void feedback(const PackedHorizon& program, int t, Eigen::MatrixXd& K);

 private:
  std::vector<std::vector<double>> W_;  // n × ld per stage: U₁₁, U₁₂ and the value V, symmetric
  std::vector<double> T_, floor_, y_, h_, v_;
  std::vector<int> iota_;
};

}  // namespace deft::solvers::horizon
