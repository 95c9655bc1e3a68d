// Points in the place of a mesh file's name.

#include "deft/multibody/description/inline_points.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "deft/collision/collision_world.hpp"

namespace deft::collision {
namespace inline_points_test {

using namespace multibody;  // inline_points

using Eigen::Vector3d;

TEST(InlinePoints, ReadBackToTheSameDoubles) {
  const std::vector<Vector3d> points{{1.0 / 3, -std::sqrt(2.0), 1e-300}, {0, -0.1, 4e17}};
  const std::string text = inline_points(points);
  EXPECT_TRUE(has_inline_points(text));
  EXPECT_FALSE(has_inline_points("meshes/a.obj"));
  EXPECT_EQ(read_inline_points(text), points);
  for (const char* wrong : {"data:,1 2", "data:,1 2 x", "data:,1 2 inf", "data:,1 2 3 4"})
    EXPECT_THROW(read_inline_points(wrong), std::runtime_error) << wrong;
}

TEST(InlinePoints, MakeHulls) {
  std::vector<Vector3d> points;
  for (const double x : {-1.0, 1.0})
    for (const double y : {-1.0, 1.0})
      for (const double z : {-1.0, 1.0}) points.emplace_back(x, y, z);
  points.emplace_back(0.5, 0, 0);  // inside
  Diagnostics diagnostics;
  const CollisionWorld world = CollisionWorld::build(
      {{.name = "cube", .body = 0, .shape = multibody::MeshSpec{inline_points(points), {1, 2, 3}}, .where = {}}}, {0},
      diagnostics);
  const auto set = world.convex_set(0);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->planes.size(), 6u);
  EXPECT_EQ(set->vertices.size(), 8u);
  EXPECT_NEAR(set->radius, std::sqrt(14.0), 1e-14);
  for (Vector3d& p : points) p.z() = 0;
  EXPECT_THROW(CollisionWorld::build(
                   {{.name = "flat", .body = 0, .shape = multibody::MeshSpec{inline_points(points)}, .where = {}}}, {0},
                   diagnostics),
               InputError);
}

}  // namespace inline_points_test
}  // namespace deft::collision
