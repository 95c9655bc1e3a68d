#pragma once
// What many runs of the planner say of it.

#include <utility>

namespace deft::planning {

/// Wilson's 95 % interval of the share that `successes` of `count` > 0 runs estimate: of the normal approximation, but
/// with the variance of the share in question. (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927.)
std::pair<double, double> wilson_interval(int successes, int count);

}  // namespace deft::planning
