#pragma once
// Why a planner has no plan that holds, in plain data, as it is shown; the viewer knows no planner.

#include <cstddef>
#include <string>
#include <vector>

namespace deft::viewer {

/// The causes, and a few tries that came to nothing.
struct Explanation {
  /// One cause.
  struct Reason {
    std::string reason;   // "no grasp", "stall", "impossible", …
    int count = 0;        // how often it was met
    double weight = 0;    // 0 to 1
    std::string detail;   // where and by how much
    std::string setting;  // what would change it
  };
  std::string status;              // of the run
  std::vector<Reason> reasons;     // heaviest first; none: there is nothing to explain
  std::vector<std::string> tries;  // what each ended with: the word of a reason
  std::vector<float> X_WB;         // poses of all bodies there, [tries × bodies × 7], `[qw qx qy qz x y z]`
};

/// Checks an explanation beside a run of so many bodies. @throws std::invalid_argument for sizes that do not fit.
void check_explanation(const Explanation& explanation, std::size_t bodies);

}  // namespace deft::viewer
