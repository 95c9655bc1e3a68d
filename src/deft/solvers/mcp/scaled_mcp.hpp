#pragma once
// A nonlinear complementarity problem in scaled units. Internal to solvers.

#include <span>
#include <vector>

#include "deft/solvers/kernels/dense_kernels.hpp"
#include "deft/solvers/mcp/matrix.hpp"
#include "deft/solvers/mcp/mcp_function.hpp"

namespace deft::solvers::mcp {

inline constexpr double kArmijo = 1e-4;  // of the predicted descent: what a step of every method must reach

/// A point y with f(y), Fischer and Burmeister's residual and, on request, ∂f/∂y. Vectors are padded with zeros.
struct McpPoint {
  std::vector<double> y, f;                     // the point and f(y), scaled
  std::vector<double> phi, weight_y, weight_f;  // Φ and its derivative diag(weight_y) + diag(weight_f) ∂f/∂y
  McpMatrix J;                                  // ∂f/∂y, of the last evaluation with a Jacobian
  double merit = 0;                             // ½|Φ|², infinite where f is not defined
  double residual = 0;                          // max |f_i| of free rows, |min(y_i, f_i)| of the others
  /// All vectors zero, for n unknowns. Allocates when n grows.
  void resize(int n);
};

/// f(y) = F(z)/ρ with z = ζ y, ρ and ζ the problem's scales rounded to powers of two, so that scaling does not round.
class ScaledMcp {
 public:
  /// Takes a problem, which must outlive the use. Allocates when the size grows. @throws std::invalid_argument naming
  /// what does not fit: sizes, scales that are not positive and finite.
  void bind(McpFunction& function);
  int size() const { return n_; }                      // number of unknowns
  bool is_free(int i) const { return free_[i] != 0; }  // whether row i is an equation
  /// f, Φ, merit and residual at point.y, and J on request. @returns whether f is defined and finite there; otherwise
  /// merit and residual are infinite.
  bool evaluate(McpPoint& point, bool with_jacobian);
  /// F at z, not scaled, n entries each. @returns whether it is defined and finite.
  bool evaluate_plain(std::span<const double> z, std::span<double> F);
  /// mcp_residual of a point that is not scaled, with the problem's scales as given.
  double residual(std::span<const double> z, std::span<const double> F) const;

  /// y = z/ζ, n entries.
  void to_scaled(std::span<const double> z, double* y) const;
  double to_plain(int i, double y) const { return y * variable_unit_[i]; }  // z_i = ζ_i y_i
  double variable_unit(int i) const { return variable_unit_[i]; }           // ζ_i
  double row_unit(int i) const { return row_unit_[i]; }                     // ρ_i
  int evaluations() const { return evaluations_; }                          // of F since `bind`

 private:
  McpFunction* function_ = nullptr;
  int n_ = 0, evaluations_ = 0;
  std::span<const char> free_;
  std::vector<double> z_, F_;
  std::vector<double> variable_unit_, row_unit_, row_factor_;  // ζ, ρ, 1/ρ
};

}  // namespace deft::solvers::mcp
