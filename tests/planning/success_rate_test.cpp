// The interval of a success rate.
#include "deft/planning/feasibility/success_rate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace deft::planning {
namespace success_rate_test {

TEST(SuccessRate, EndsOfTheIntervalAreSharesFromWhichTheMeasuredOneIsJustPlausible) {
  for (const auto& [successes, count] : {std::pair{0, 10}, {3, 10}, {50, 50}, {199, 200}}) {
    const auto [low, high] = wilson_interval(successes, count);
    const double share = double(successes) / count;
    EXPECT_LE(-1e-15, low);
    EXPECT_LE(low, share + 1e-15);
    EXPECT_LE(share, high + 1e-15);
    EXPECT_LE(high, 1 + 1e-15);
    // |share − p| = z √(p (1 − p) / n) at both ends p, unless the end is the share.
    for (const double p : {low, high}) {
      if (std::abs(p - share) < 1e-12) continue;
      EXPECT_NEAR(std::abs(share - p), 1.959963984540054 * std::sqrt(p * (1 - p) / count), 1e-12);
    }
  }
}

}  // namespace success_rate_test
}  // namespace deft::planning
