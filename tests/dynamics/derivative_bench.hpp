#pragma once
// What the tests of step derivatives expect of them.

#include <gtest/gtest.h>

#include "step_differences.hpp"

namespace deft::dynamics {

/// Relative, of the largest entry; differences carry 1e-9 … 1e-8 themselves.
inline constexpr double kTolerance = 1e-7;

/// A step, its derivative, and its differences, with expectations.
class Bench : public StepDifferences {
 public:
  using StepDifferences::StepDifferences;

  /// The step and its derivative.
  void differentiate(const DerivativeOptions& options = {}) { ASSERT_TRUE(take_derivative(options)); }

  /// Expects the derivative to exist and to agree.
  void check(const std::string& what, double tolerance = kTolerance) {
    differentiate();
    if (::testing::Test::HasFatalFailure()) return;
    const auto nonsmooth_points = differentiator.nonsmooth_points();
    EXPECT_FALSE(differentiator.is_nonsmooth())
        << what << ": " << (nonsmooth_points.empty() ? "" : nonsmooth_points[0]);
    for (const By by : {By::kQ, By::kV, By::kU}) {
      if (by == By::kV && v.size() == 0) continue;
      const auto e = errors(by);
      const char* name = by == By::kQ ? "q" : by == By::kV ? "v" : "u";
      ASSERT_TRUE(e) << what << ": contacts come and go within the stencil";
      EXPECT_LT(e->largest(), tolerance) << what
                                         << fmt::format(": by {}: motion {:.1e}, force {:.1e}", name, e->motion,
                                                        e->force);
    }
  }
};

}  // namespace deft::dynamics
