// The certifier of nonlinear complementarity problems: shares no code with the methods.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "deft/solvers/mcp/mcp_function.hpp"

namespace deft::solvers::mcp {

double mcp_residual(std::span<const char> is_free, std::span<const double> z, std::span<const double> F,
                    std::span<const double> variable_scale, std::span<const double> row_scale) {
  const std::size_t n = is_free.size();
  if (z.size() != n || F.size() != n || variable_scale.size() != n || row_scale.size() != n)
    throw std::invalid_argument(fmt::format("mcp_residual: sizes {}, {}, {}, {}, {} differ", n, z.size(), F.size(),
                                            variable_scale.size(), row_scale.size()));
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double f = F[i] / row_scale[i], y = z[i] / variable_scale[i];
    if (!std::isfinite(f) || !std::isfinite(y)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, std::abs(is_free[i] ? f : std::min(y, f)));
  }
  return worst;
}

}  // namespace deft::solvers::mcp
