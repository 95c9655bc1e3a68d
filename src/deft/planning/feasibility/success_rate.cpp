#include "deft/planning/feasibility/success_rate.hpp"

#include <cmath>

namespace deft::planning {

std::pair<double, double> wilson_interval(int successes, int count) {
  const double z = 1.959963984540054, n = count, p = successes / n, middle = p + z * z / (2 * n);
  const double spread = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)), scale = 1 + z * z / n;
  return {(middle - spread) / scale, (middle + spread) / scale};
}

}  // namespace deft::planning
