#pragma once

#include <limits>

namespace deft {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace deft
