#pragma once

#include <limits>

namespace deft {

/// +∞: no bound, no limit.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace deft
