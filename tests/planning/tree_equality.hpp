#pragma once
// Whether two searches did the same.

#include <gtest/gtest.h>

#include <vector>

#include "deft/planning/feasibility/plan.hpp"

namespace deft::test {

/// Everything of two trees but wall times.
inline void expect_equal(const std::vector<planning::Node>& a, const std::vector<planning::Node>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].parent, b[i].parent);
    EXPECT_EQ(a[i].kind, b[i].kind);
    EXPECT_EQ(a[i].q, b[i].q);
    EXPECT_EQ(a[i].u, b[i].u);
    EXPECT_EQ(a[i].q_worlds, b[i].q_worlds);
    EXPECT_EQ(a[i].v_worlds, b[i].v_worlds);
    EXPECT_EQ(a[i].commands, b[i].commands);
    EXPECT_EQ(a[i].distance, b[i].distance);
    EXPECT_EQ(a[i].cost_s, b[i].cost_s);
    EXPECT_EQ(a[i].regrasps, b[i].regrasps);
    EXPECT_EQ(a[i].released, b[i].released);
    EXPECT_EQ(a[i].tries, b[i].tries);
    EXPECT_EQ(a[i].holds_goal, b[i].holds_goal);
    EXPECT_EQ(a[i].rejected, b[i].rejected);
  }
}

}  // namespace deft::test
