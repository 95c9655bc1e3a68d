// Hulls of points that a library of hulls may refuse.

#include "deft/collision/shapes/convex_hull.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace deft::collision {
namespace convex_hull_test {

/// A cone: its tip has as many neighbours as its base has corners.
TEST(ConvexHull, AVertexMayHaveManyNeighbours) {
  constexpr int kCorners = 400;
  std::vector<Vector3d> points{{0, 0, 1}};
  for (int k = 0; k < kCorners; ++k) {
    const double angle = 2 * std::numbers::pi * k / kCorners;
    points.emplace_back(std::cos(angle), std::sin(angle), 0);
  }
  const Polytope hull = make_convex_hull(points);
  EXPECT_EQ(hull.vertices.size(), points.size());
  EXPECT_EQ(hull.faces.size(), kCorners + 1u);
  const double base = 0.5 * kCorners * std::sin(2 * std::numbers::pi / kCorners);
  EXPECT_NEAR(volume(hull), base / 3, 1e-12);
}

TEST(ConvexHull, PointsWithoutVolumeAreRefusedByName) {
  const auto complaint = [](const std::vector<Vector3d>& points) -> std::string {
    try {
      make_convex_hull(points);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}), "all points coincide");
  EXPECT_EQ(complaint({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.3, 0.4, 0}}),
            "it is flat: its points have no convex hull of positive volume");
}

}  // namespace convex_hull_test
}  // namespace deft::collision
