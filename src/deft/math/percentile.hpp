#pragma once
// Order statistics of samples.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace deft {

/// The value below or at which a share p of (0, 1] of the sample lies (nearest rank); not-a-number of an empty sample.
inline double percentile(std::vector<double> values, double p) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, values.size()) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace deft
