// Normal cones of intersections of inequalities: where the direction is in the cone, and where the nearest of it is not
// it.

#include "deft/collision/shapes/convex_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace deft::collision {
namespace convex_set_test {

using Eigen::Vector3d;

constexpr double kFar = 1e-9;

/// A cube of half size 1.
ConvexSet cube() {
  ConvexSet set;
  for (int axis = 0; axis < 3; ++axis)
    for (const double sign : {1.0, -1.0}) set.planes.push_back({sign * Vector3d::Unit(axis), 1.0});
  return set;
}

double cone(const ConvexSet& set, const Vector3d& x, const Vector3d& direction, std::vector<double>& multipliers) {
  multipliers.assign(static_cast<std::size_t>(set.count()), -1.0);
  return set.normal_cone(x, direction, kFar, multipliers.data());
}

TEST(NormalCone, OfACornerHoldsWhatItsFacesAddUpTo) {
  std::vector<double> multipliers;
  EXPECT_NEAR(cone(cube(), {1, 1, 1}, {1, 2, 3}, multipliers), 0, 1e-14);
  const std::vector<double> expected{1, 0, 2, 0, 3, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(multipliers[i], expected[i], 1e-14) << i;
}

TEST(NormalCone, OfADirectionOutsideOfItGivesTheNearestOfIt) {
  std::vector<double> multipliers;
  // Of (1, −2, 3) at an edge of +x and +y: x alone; the distance left is that of (0, −2, 3).
  EXPECT_NEAR(cone(cube(), {1, 1, 0}, {1, -2, 3}, multipliers), std::sqrt(13.0), 1e-14);
  EXPECT_NEAR(multipliers[0], 1, 1e-14);
  for (std::size_t i = 1; i < 6; ++i) EXPECT_EQ(multipliers[i], 0) << i;
  // Inside, no face acts.
  EXPECT_NEAR(cone(cube(), {0.5, 0, 0}, {1, -2, 3}, multipliers), std::sqrt(14.0), 1e-14);
  for (const double multiplier : multipliers) EXPECT_EQ(multiplier, 0);
}

TEST(NormalCone, DropsAFaceThatAnotherMakesSuperfluous) {
  // A third plane between two others at an edge: the direction of the first two is not theirs alone once it takes part.
  ConvexSet set = cube();
  set.planes.push_back({Vector3d(1, 1, 0).normalized(), std::sqrt(2.0)});
  std::vector<double> multipliers;
  const Vector3d x(1, 1, 0), direction(3, 1, 0);
  EXPECT_NEAR(cone(set, x, direction, multipliers), 0, 1e-14);
  Vector3d sum = Vector3d::Zero();
  for (int i = 0; i < set.count(); ++i) {
    EXPECT_GE(multipliers[static_cast<std::size_t>(i)], 0);
    sum += multipliers[static_cast<std::size_t>(i)] * set.gradient(i, x);
  }
  EXPECT_LT((sum - direction).norm(), 1e-14);
}

TEST(NormalCone, OfARimIsBetweenItsCapAndItsSide) {
  // A cylinder of radius 0.5 and half height 1.
  ConvexSet set;
  set.planes = {{Vector3d::UnitZ(), 1.0}, {-Vector3d::UnitZ(), 1.0}};
  set.curved = true;
  set.curvature = Vector3d(4, 4, 0);
  set.size = 0.5;
  std::vector<double> multipliers;
  EXPECT_NEAR(cone(set, {0.3, 0.4, 1}, {0.6, 0.8, 2}, multipliers), 0, 1e-14);
  EXPECT_NEAR(multipliers[0], 2, 1e-14);
  EXPECT_EQ(multipliers[1], 0);
  EXPECT_NEAR(multipliers[2], 1, 1e-14);
}

}  // namespace convex_set_test
}  // namespace deft::collision
