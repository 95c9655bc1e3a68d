#include "deft/solvers/mcp/scaled_mcp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/core/index.hpp"

namespace deft::solvers::mcp {
namespace {

double power_of_two(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, exponent - 1);
}

void check_scale(std::span<const double> scale, int n, const char* name) {
  if (static_cast<int>(scale.size()) != n)
    throw std::invalid_argument(fmt::format("{}: has {} entries, expected {}", name, scale.size(), n));
  for (std::size_t i = 0; i < scale.size(); ++i) {
    if (!(scale[i] > 0) || !std::isnormal(scale[i]))
      throw std::invalid_argument(fmt::format("{}[{}] = {}: must be positive and finite", name, i, scale[i]));
  }
}

}  // namespace

void McpPoint::resize(int n) {
  const auto size = to_size(kernels::padded(n));
  for (auto* list : {&y, &f, &phi, &weight_y, &weight_f}) list->assign(size, 0.0);
  J.resize(n);
}

void ScaledMcp::bind(McpFunction& function) {
  function_ = &function;
  evaluations_ = 0;
  n_ = function.size();
  if (n_ < 0) throw std::invalid_argument(fmt::format("size = {}: must not be negative", n_));
  free_ = function.is_free();
  if (static_cast<int>(free_.size()) != n_)
    throw std::invalid_argument(fmt::format("is_free: has {} entries, expected {}", free_.size(), n_));
  const std::span<const double> variables = function.variable_scale(), rows = function.row_scale();
  check_scale(variables, n_, "variable_scale");
  check_scale(rows, n_, "row_scale");
  const auto n = to_size(n_);
  z_.resize(n);
  F_.resize(n);
  variable_unit_.assign(kernels::padded(n_), 1.0);
  row_unit_.resize(n);
  row_factor_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    variable_unit_[i] = power_of_two(variables[i]);
    row_unit_[i] = power_of_two(rows[i]);
    row_factor_[i] = 1 / row_unit_[i];
  }
}

bool ScaledMcp::evaluate(McpPoint& point, bool with_jacobian) {
  const auto n = to_size(n_);
  ++evaluations_;
  for (std::size_t i = 0; i < n; ++i) z_[i] = point.y[i] * variable_unit_[i];
  bool defined = false;
  if (with_jacobian) {
    McpJacobian jacobian = point.J.start();
    defined = function_->evaluate(z_, F_, &jacobian);
    if (defined) point.J.scale(row_factor_.data(), variable_unit_.data());
  } else {
    defined = function_->evaluate(z_, F_, nullptr);
  }
  point.merit = point.residual = std::numeric_limits<double>::infinity();
  if (!defined) return false;
  double merit = 0, residual = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double y = point.y[i], f = F_[i] * row_factor_[i];
    point.f[i] = f;
    if (free_[i]) {
      point.phi[i] = f;
      point.weight_y[i] = 0;
      point.weight_f[i] = 1;
      residual = std::max(residual, std::abs(f));
    } else {
      const double norm = std::sqrt(y * y + f * f), sum = y + f;
      // y + f − √(y² + f²) = 2yf/(y + f + √…): no cancellation where y + f > 0.
      point.phi[i] = sum > 0 ? 2 * y * (f / (sum + norm)) : sum - norm;
      const double inverse = norm > 0 ? 1 / norm : 0;
      point.weight_y[i] = norm > 0 ? 1 - y * inverse : 1 - std::sqrt(0.5);
      point.weight_f[i] = norm > 0 ? 1 - f * inverse : 1 - std::sqrt(0.5);
      residual = std::max(residual, std::abs(std::min(y, f)));
    }
    merit += 0.5 * point.phi[i] * point.phi[i];
  }
  if (!std::isfinite(merit)) return false;
  point.merit = merit;
  point.residual = residual;
  return true;
}

bool ScaledMcp::evaluate_plain(std::span<const double> z, std::span<double> F) {
  ++evaluations_;
  if (!function_->evaluate(z, F, nullptr)) return false;
  return std::all_of(F.begin(), F.end(), [](double value) { return std::isfinite(value); });
}

double ScaledMcp::residual(std::span<const double> z, std::span<const double> F) const {
  return mcp_residual(free_, z, F, function_->variable_scale(), function_->row_scale());
}

void ScaledMcp::to_scaled(std::span<const double> z, double* y) const {
  for (std::size_t i = 0; i < to_size(n_); ++i) y[i] = z[i] / variable_unit_[i];
}

}  // namespace deft::solvers::mcp
